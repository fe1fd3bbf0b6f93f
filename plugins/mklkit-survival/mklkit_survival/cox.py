"""Cox regression with a ridge penalty, on a Gram matrix or on features."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from attrs.validators import in_
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklkit import DataError
from mklkit.plugin import (
    Array,
    Learner,
    LearnerTraits,
    LinearDecision,
    Target,
    TrainingView,
    register,
)
from mklkit_survival.penalized import Coordinates, Objective, cross_validated
from mklkit_survival.risk_sets import TIES, RiskSets
from mklkit_survival.times import TIMES

FOLDS = 5
MOST_TRIED = 4000
"""The most samples on which a penalty is chosen; on features there may be more."""
GRID = 10.0 ** np.arange(1, -6.5, -0.5)
"""The penalties that are tried, times the largest curvature: from almost no effect to almost no
penalty."""
FLOOR = 1e-15
"""Directions of a smaller curvature, relative to N times the largest, are rounding."""


AUTO = "auto"


def as_number(value: Any) -> Any:
    """Return numbers as floats, and all else as it is."""
    return float(value) if isinstance(value, Real) else value


def is_auto_or_above_zero(instance: object, attribute: Any, value: Any) -> None:
    """Raise a ValueError unless a value is "auto" or a finite number above 0."""
    if value != AUTO and not (isinstance(value, float) and 0 < value < np.inf):
        raise ValueError(
            f"{attribute.name!r} must be {AUTO!r} or a finite number > 0; got {value!r}"
        )


@register
@attrs.frozen(eq=False)
class CoxDecision(LinearDecision):
    """The log-hazard of a Cox regression, with its penalty."""

    alpha: float = attrs.field(kw_only=True)


@attrs.frozen(eq=False)
class Problem:
    """A view in the coordinates of :mod:`mklkit_survival.penalized`.

    ``decision`` returns the coefficients of the view's columns and the constant of coordinates
    (r,), and ``features`` the coordinates of some samples, (n, r).
    """

    coordinates: Coordinates
    features: Callable[[NDArray[np.intp]], Array]
    decision: Callable[[Array], tuple[Array, float]]


@register
@attrs.frozen
class Cox(Learner):
    """Cox regression with a ridge penalty: the log-hazard of a sample, relative to an average one.

    Minimises −ℓ(f) + α‖w‖²/2 over f = ⟨w, φ(x)⟩, where ℓ is the logarithm of the partial likelihood
    [1]_ of times and events. It is the objective of scikit-survival's ``CoxPHSurvivalAnalysis``, of
    the same α, in the space of the kernel. The constant makes the mean of f 0, over samples that
    are weighted by their expected events.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The penalty α, above 0. ``"auto"``: the one with the largest cross-validated partial
        likelihood [2]_ in five folds, of 15 penalties in steps of √10 from 10 times the largest
        curvature of ℓ down; on features, of at most 4,000 samples. The fitted decision stores the
        choice.
    ties : {"efron", "breslow"}, default="efron"
        The approximation for events at the same time [3]_. Samples can have weights only with
        ``"breslow"``, with which a sample of weight 2 is the same sample twice.

    See Also
    --------
    MKLSurvival : The estimator.

    Notes
    -----
    Cost: O(9N³) once on a Gram matrix, O(Np² + 9p³) on p features.

    On a Gram matrix, or with at least as many features as samples, one eigendecomposition, O(9N³),
    gives coordinates in which the Hessian is nearly diagonal for every α and every fold; each
    Newton step then takes some products, O(N²). With p < N features it is O(Np² + 9p³), and O(Np)
    in passes over blocks of samples. Samples whose time ends before the first event don't count.

    References
    ----------
    .. [1] D. R. Cox, "Regression models and life-tables", Journal of the Royal Statistical Society,
       Series B 34 (1972), 187–220.
    .. [2] P. J. M. Verweij and H. C. van Houwelingen, "Cross-validation in survival analysis",
       Statistics in Medicine 12 (1993), 2305–2314.
    .. [3] B. Efron, "The efficiency of Cox's likelihood function for censored data", Journal of the
       American Statistical Association 72 (1977), 557–565.

    Examples
    --------
    >>> from mklkit.plugin import GramSide
    >>> rows = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> target = Target(TIMES, np.array([[1.0, 1], [2, 1], [3, 0], [4, 1]]))
    >>> fitted = Cox(alpha=1.0).fit(GramSide(rows @ rows.T), target)
    >>> bool((fitted.decide(rows[:1] @ rows.T) > fitted.decide(rows[1:2] @ rows.T)).all())
    True
    """

    name: ClassVar[str] = "cox"

    alpha: float | str = attrs.field(
        default=AUTO, converter=as_number, validator=is_auto_or_above_zero
    )
    ties: str = attrs.field(default="efron", validator=in_(TIES))

    @property
    def traits(self) -> LearnerTraits:
        """It learns times; sample weights only with Breslow's ties."""
        return LearnerTraits(
            on_features=True,
            on_gram=True,
            learns=(TIMES.name,),
            takes_row_weights=self.ties == "breslow",
            search_space={"alpha": tuple(10.0**k for k in range(3, -4, -1))},
        )

    def fit(self, side: TrainingView, target: Target) -> CoxDecision:
        """Return the log-hazard learned from times and events (N, 2)."""
        risk_sets = self._risk_sets(target)
        problem = problem_of(side, risk_sets)
        alpha = self.alpha
        if isinstance(alpha, str):
            alpha = self._best_alpha(problem, side, target)
        objective = Objective(problem.coordinates, risk_sets, alpha)
        fitted = objective.minimum(np.zeros(len(problem.coordinates.curvatures)))
        coefficients, constant = problem.decision(fitted.coefficients)
        return CoxDecision(coefficients, constant, fitted.history, alpha=alpha)

    def resolved(self, side: TrainingView, target: Target) -> Self:
        """Return the learner with the penalty that it chooses for these samples."""
        if self.alpha != AUTO:
            return self
        problem = problem_of(side, self._risk_sets(target))
        return attrs.evolve(self, alpha=self._best_alpha(problem, side, target))

    def _risk_sets(self, target: Target) -> RiskSets:
        values = np.asarray(target.values, np.float64)
        if not values[:, 1].any():
            raise DataError(
                "There is no event among the training samples, so there is nothing to learn."
            )
        return RiskSets.of(values, self.ties, target.row_weights)

    def _best_alpha(self, problem: Problem, side: TrainingView, target: Target) -> float:
        """Return the penalty with the largest cross-validated partial likelihood."""
        curvatures = problem.coordinates.curvatures
        alphas = GRID * curvatures.max(initial=1e-300)
        order = _dealing_order(side, target)
        order = np.sort(order[:: -(-len(order) // MOST_TRIED)])
        some = target.take(order)
        n_events = int(some.values[:, 1].sum())
        if n_events < 2:
            return float(alphas[2])
        splits = _folds(some, _dealing_order(side, target, order), min(FOLDS, n_events))
        if not splits:
            return float(alphas[2])
        share = n_events / target.values[:, 1].sum()
        features = problem.features(order)
        values = cross_validated(
            features, share * curvatures, some.values, splits, alphas, self.ties, some.row_weights
        )
        return float(alphas[int(np.argmax(values))])


def _dealing_order(
    side: TrainingView, target: Target, members: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return samples by event, time and similarity, so that their order in the table is nothing.

    Positions are among the ``members``, if there are any.
    """
    self_similarities = side.map_features(_squares) if side.explicit else side.own_similarities()
    keys = np.column_stack([self_similarities, target.values])
    keys = keys if members is None else keys[members]
    return np.lexsort(keys.T)


def _squares(features: Array) -> Array:
    """Return the similarity of each sample with itself."""
    return np.square(features, dtype=np.float64).sum(axis=1)


def _folds(
    target: Target, order: NDArray[np.intp], n_folds: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return folds of samples dealt in turn by event and time; groups stay together."""
    fold_of = np.empty(len(target), np.intp)
    fold_of[order] = np.arange(len(target)) % n_folds
    splits = target.folds(n_folds, np.random.RandomState(0), fold_of)
    return [(s.train, s.test) for s in splits if target.values[s.train, 1].any()]


def problem_of(side: TrainingView, risk_sets: RiskSets) -> Problem:
    """Return the coordinates of a view's samples."""
    curvatures = risk_sets.at(np.zeros(side.n_rows)).curvatures()
    if not side.explicit:
        return _of_gram(side.gram(), curvatures)
    if side.n_features < side.n_rows:
        return _of_features(side, curvatures)
    problem = _of_gram(side.gram(), curvatures)

    def decision(w: Array) -> tuple[Array, float]:
        coefficients, constant = problem.decision(w)
        return np.asarray(side.project_back(coefficients), np.float64), constant

    return attrs.evolve(problem, decision=decision)


def _of_gram(gram: Array, curvatures: Array) -> Problem:
    """Return the coordinates from K: with U the curvatures, √U C K Cᵀ √U = QΛQᵀ, Φ = √U⁻¹ Q √Λ.

    C subtracts means weighted by U, which no log-hazard ratio notices.
    """
    used = np.flatnonzero(curvatures > 0)
    weights = curvatures[used]
    shares = weights / weights.sum()
    roots = np.sqrt(weights)
    kernel = np.asarray(gram[np.ix_(used, used)], np.float64)
    means = kernel @ shares
    centered = kernel - means - means[:, None] + shares @ means
    values, vectors = eigh(roots[:, None] * centered * roots, overwrite_a=True, driver="evd")
    kept = values > FLOOR * len(values) * max(values[-1], 0.0)
    values, vectors = values[kept], vectors[:, kept]
    features = np.zeros((len(gram), len(values)))
    features[used] = vectors * np.sqrt(values) / roots[:, None]

    def decision(w: Array) -> tuple[Array, float]:
        moved = roots * (vectors @ (w / np.sqrt(values)))
        coefficients = np.zeros(len(gram))
        coefficients[used] = moved - shares * moved.sum()
        return coefficients, -float(means @ coefficients[used])

    coordinates = Coordinates.of(features, values)
    return Problem(coordinates, lambda members: features[members], decision)


def _of_features(side: TrainingView, curvatures: Array) -> Problem:
    """Return the coordinates from features Φ: ΦᵀUΦ about the weighted mean is VΛVᵀ, and ΦV."""
    products, sums = side.weighted_products(curvatures, curvatures[:, None])
    mean = sums[:, 0] / curvatures.sum()
    values, vectors = eigh(products - np.outer(sums[:, 0], mean), driver="evd")
    kept = values > FLOOR * len(values) * max(values[-1], 0.0)
    values, vectors = values[kept], vectors[:, kept]
    shift = vectors.T @ mean

    def project(w: Array) -> Array:
        return np.asarray(side.project(vectors @ w), np.float64) - shift @ w

    def project_back(given: Array) -> Array:
        return vectors.T @ np.asarray(side.project_back(given), np.float64) - shift * given.sum()

    def features(members: NDArray[np.intp]) -> Array:
        return np.asarray(side.some_features(members), np.float64) @ vectors - shift

    def decision(w: Array) -> tuple[Array, float]:
        weights: Any = vectors @ w
        return weights, -float(mean @ weights)

    return Problem(Coordinates(project, project_back, values), features, decision)
