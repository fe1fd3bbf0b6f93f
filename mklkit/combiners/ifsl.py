"""IFSL: learners coupled by the inter-function similarity loss (Wang, Chen and Sun 2008)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from attrs.validators import and_, ge, in_, optional
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners.templates.coupling import (
    CoupledGrid,
    CoupledSolution,
    CouplingCombiner,
    subproblem_of,
)
from mklkit.combiners.uniform import one_per_view, per_view
from mklkit.errors import IncompatibleError
from mklkit.learners.ho_kashyap.iteration import iterate
from mklkit.learners.ho_kashyap.rules import (
    COUPLINGS_OF_WANG_2009,
    FIXED_MEAN,
    GRADIENT,
    SIMPLEST_FIRST,
    Columns,
    Order,
    Solution,
)
from mklkit.learners.ho_kashyap.smooth import is_smooth, iterate_and_minimize, minimize
from mklkit.protocols import (
    Array,
    CombinerTraits,
    CouplingTraits,
    Learner,
    LearnerTraits,
    Subproblem,
    Target,
    Views,
    learner_parameters,
    learner_variants,
    traits_of,
)
from mklkit.protocols.component import COUPLED_LEARNER, COUPLED_MAP, finite_number
from mklkit.registry.hookspecs import register
from mklkit.views.view_set import ViewSet

Rule = Literal["gradient", "fixed-mean"]
Start = Literal["unit", "ones", "zeros", "random"]


@register
@attrs.frozen
class IFSL(CouplingCombiner):
    """Couple one learner per view so that they agree: + λ Σ_l ‖f_l − f̄‖², f̄ = Σ_j μ_j f_j.

    Numbers are learned by coupled ridge regressions (``ridge``), without margins. For two classes,
    with ``mhks`` on the empirical map it is MultiK-MHKS (Wang, Chen and Sun 2008 [1]_), with
    ``kmhks`` on the implicit map MultiV-KMHKS (Wang and Chen 2009 [2]_), on random-subset maps in
    an ensemble RPEMEKL (Wang et al. 2013 [3]_). The decision is the weighted mean of the views'
    functions.

    Of more than 10,000 samples on explicit features, the objective is minimised over the
    coefficients alone (``mhks(solver="smooth")``), and otherwise after the first 30 passes of the
    printed iteration, unless ``rule``, ``order``, ``initial`` or ``rates`` is set: these refer to
    the iterations that the papers print, as ``mhks(solver="printed")`` does.

    Parameters
    ----------
    lam : float, default=1.0
        The penalty on disagreement, λ in Wang, Chen and Sun 2008 and Wang et al. 2013, γ in Wang
        and Chen 2009; at least 0, 0 for separate learners.
    weights : sequence of float, optional
        The weight μ of each view in the mean and the decision, divided by their sum; uniform where
        not given.
    rule : {"gradient", "fixed-mean"}, optional
        The published updates: the exact gradient in each view's function (Wang, Chen and Sun 2008),
        or the whole mean held fixed while a view is solved (Wang and Chen 2009). Default:
        "fixed-mean" for ``kmhks``, else "gradient".
    order : {"in-turn", "at-once", "late-margins"}, default="in-turn"
        Whether each view of a pass is solved from the newest outputs of the others, or all from
        those of the previous pass, as printed in Table 1 of Wang, Chen and Sun 2008 (step 7) and of
        Wang et al. 2013 (6.iii). With late margins each is solved from the newest, and its margins
        grow by the error of its previous function, as in the indices of equation 11 of Wang and
        Chen 2009.
    initial : {"zeros", "unit", "ones", "random"}, default="zeros"
        Initial coefficients: zeros; equal with length one in all (Wang, Chen and Sun 2008 and Wang
        et al. 2013: "one unit vector"); ones; or a random direction of length one from the
        estimator's seed, with margins at random between 0 and twice the learner's ``b0`` (Wang and
        Chen 2009). The published initial values give outputs as large as the features: margins grow
        to match them at once and never shrink again, which costs accuracy.
    ridges : sequence of float, optional
        The ridge c_l of each view, as a multiple of the learner's ``alpha``, which a search may
        vary; by default 1.
    rates : sequence of float, optional
        The step ρ_l of each view's margins, above 0 and at most 1; by default the learner's
        ``rho``.

    See Also
    --------
    mklkit.learners.MHKS : The learner on explicit features.
    mklkit.learners.KMHKS : The learner on similarities.

    Notes
    -----
    Cost: O(MNp) per iteration on M views of p features, O(MN²) on Gram matrices.

    α (the papers' c), ρ, b₀, ξ and the iteration limit are the learner's (``mhks(alpha, rho, tol,
    max_iter, b0)``). A view's squares are those of the samples that have its source, and f̄ is the
    mean of the views that a sample has. An iteration, or a pass of the smooth solver, costs two
    products of each view's features (or Gram matrix) with a vector and no factorisation. As Table 1
    prints it: ``ifsl(order='at-once', initial='unit')`` with ``mhks`` [1]_, [3]_ and
    ``ifsl(order='late-margins', initial='random')`` with ``kmhks`` [2]_.

    References
    ----------
    .. [1] Z. Wang, S. Chen and T. Sun, "MultiK-MHKS: a novel multiple kernel learning algorithm",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 30 (2008), 348–353.
    .. [2] Z. Wang and S. Chen, "Multi-view kernel machine on single-view data", Neurocomputing 72
       (2009).
    .. [3] Z. Wang, W. Jie, S. Chen and D. Gao, "Random projection ensemble learning with multiple
       empirical kernels", Knowledge-Based Systems 37 (2013), 388–393.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(combiner=IFSL(lam=0.5), learner="mhks(alpha=0.25)").fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "ifsl"

    lam: float = attrs.field(default=1.0, converter=float, validator=and_(ge(0), finite_number))
    weights: tuple[float, ...] | None = per_view()
    rule: Rule | None = attrs.field(default=None, validator=optional(in_(Rule.__args__)))  # type: ignore[attr-defined]
    order: Order = attrs.field(default="in-turn", validator=in_(Order.__args__))  # type: ignore[attr-defined]
    initial: Start = attrs.field(default="zeros", validator=in_(Start.__args__))  # type: ignore[attr-defined]
    ridges: tuple[float, ...] | None = per_view(
        "finite and at least 0", lambda ridges: ridges.min() >= 0
    )
    rates: tuple[float, ...] | None = per_view(
        "above 0 and at most 1", lambda rates: rates.min() > 0 and rates.max() <= 1
    )

    @property
    def traits(self) -> CombinerTraits:  # type: ignore[override]
        """The published grid of λ, or of γ if the rule of Wang and Chen 2009 is named."""
        fixed_mean = self.rule == "fixed-mean"
        return CombinerTraits(
            feature_map=COUPLED_MAP,
            learner=COUPLED_LEARNER,
            learns=("two classes", "numbers"),
            row_weights="throughout",
            weights_are="fixed",
            search_space={"lam": COUPLINGS_OF_WANG_2009[::-1] if fixed_mean else SIMPLEST_FIRST},
        )

    def couple(
        self,
        problems: Sequence[Subproblem],
        target: Target,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> CoupledSolution:
        """Return the joint solution of the views' subproblems."""
        (solution,) = self.solutions(problems, target, learner, [self.lam], random_state)
        if solution.printed:
            # For labels, whose square is 1, the loss of the zero function is one per sample and
            # view.
            of_zeros = len(problems) * float(np.sum(target.counts * target.values**2))
            _warn_of_standstill(solution, self.lam, of_zeros)
        return self._coupled_solution(solution)

    def solutions(
        self,
        problems: Sequence[Subproblem],
        target: Target,
        learner: Learner,
        lams: Sequence[float],
        random_state: np.random.RandomState,
    ) -> list[Solution]:
        """Run the rule on the views' problems: one solution per value of λ and variant."""
        n_views = len(problems)
        traits = learner.coupling or CouplingTraits()
        columns = Columns(np.array(lams), self._mean_weights(n_views), traits)
        if self.rates is not None:
            columns = attrs.evolve(
                columns, rates=one_per_view(self.name, "rates", self.rates, n_views)
            )
        if target.kind.name == "numbers" and columns.rates.any():
            raise IncompatibleError(
                "Numbers have no margins to grow: leave 'rates' out, and use a learner with fixed"
                " margins, such as 'ridge'."
            )
        if self._is_smooth(problems, target, learner):
            return minimize(problems, target, columns)
        on_features = traits_of(learner, LearnerTraits).on_features
        gradient = self.rule == "gradient" or (self.rule is None and on_features)
        rule = attrs.evolve(GRADIENT if gradient else FIXED_MEAN, order=self.order)
        if not self._printed_settings and columns.traits.solver is None:
            return iterate_and_minimize(rule, problems, target, columns)
        initial = [start(problem, self.initial, random_state) for problem in problems]
        margins = None
        if self.initial == "random":
            draws = random_state.random_sample((n_views, len(target)))
            margins = 2 * columns.traits.b0 * (1 - draws)
        return iterate(rule, problems, target, columns, initial, margins)

    def _is_smooth(self, problems: Sequence[Subproblem], target: Target, learner: Learner) -> bool:
        """Return whether the objective is minimised over the coefficients alone."""
        solver = None if learner.coupling is None else learner.coupling.solver
        settings = self._printed_settings
        if settings and solver == "smooth":
            raise IncompatibleError(
                f"ifsl({', '.join(settings)}) set how the iteration of the papers runs, which"
                " solver='smooth' replaces: leave them out, or use solver='printed'."
            )
        return not settings and is_smooth(problems, target, solver)

    @property
    def _printed_settings(self) -> list[str]:
        """The parameters that refer to the printed iteration and are set."""
        of_iteration = {
            "rule": self.rule is not None,
            "order": self.order != "in-turn",
            "initial": self.initial != "zeros",
            "rates": self.rates is not None,
        }
        return [name for name, is_set in of_iteration.items() if is_set]

    def _mean_weights(self, n_views: int) -> Array:
        """Return μ (M,) on the simplex."""
        weights = one_per_view(self.name, "weights", self.weights, n_views)
        return weights / weights.sum()

    def _coupled_solution(self, solution: Solution) -> CoupledSolution:
        weights = self._mean_weights(len(solution.learners))
        return CoupledSolution(solution.learners, weights, solution.history)

    def subproblems(
        self, views: Views, target: Target, learner: Learner, variants: Sequence[Any]
    ) -> list[Subproblem]:
        """Return each view's subproblem, with its own ridge if ``ridges`` are given."""
        if self.ridges is None:
            return super().subproblems(views, target, learner, variants)
        ridges = one_per_view(self.name, "ridges", self.ridges, len(views)).tolist()
        return [
            subproblem_of(
                scaled(learner, ridge), view, target, [scaled(each, ridge) for each in variants]
            )
            for view, ridge in zip(views, ridges, strict=True)
        ]

    def on_kernels(self, learner: Learner) -> bool:
        """Return whether the learner allows it; initial coefficients refer to features."""
        traits = learner.coupling
        return self.initial == "zeros" and traits is not None and traits.on_kernels

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return λ and the parameters in which the learner's variants may differ."""
        variants = () if learner.coupling is None else learner.coupling.variants
        return learner_parameters(variants) | {"combiner__lam"} if variants else frozenset()

    def fit_grid(
        self,
        views: ViewSet,
        target: Target,
        learner: Any,
        points: Sequence[Mapping[str, Any]],
        random_state: np.random.RandomState,
    ) -> CoupledGrid:
        """Return the decision functions of all grid points, each equal to a separate fit.

        Notes
        -----
        One decomposition per view serves all points, and all points iterate together, so features
        are read once per iteration. Warm starts along the grid were tried and rejected: they took
        as long and, since margins never shrink, converged to solutions other than separate fits.
        """
        learner = self.coupled(learner)
        lams = [float(point.get("combiner__lam", self.lam)) for point in points]
        problems = self.subproblems(views, target, learner, learner_variants(learner, points))
        solutions = self.solutions(problems, target, learner, lams, random_state)
        projectors = [view.present.projector for view in views]
        return CoupledGrid.of(projectors, [self._coupled_solution(each) for each in solutions])


def _warn_of_standstill(solution: Solution, lam: float, of_zeros: float) -> None:
    """Warn if λ is so large that the iteration stops on small steps far from the minimum.

    The gap to the minimum shrinks by a share of about 1/(1 + λ) per pass, which leaves about
    (1 + λ)/2 times the last change of the objective: a twentieth of the zero function's loss may
    remain. A search warns only of the point that it chooses.
    """
    if not solution.converged:
        return
    left = (1 + lam) / 2 * abs(solution.history[-2] - solution.history[-1])
    if left > 0.05 * of_zeros:
        warnings.warn(
            f"With lam={lam:g} the views move so little per pass that the iteration stopped"
            " far from the minimum of its objective; use a smaller lam or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )


def start(problem: Subproblem, initial: Start, random_state: np.random.RandomState) -> Any:
    """Return a view's initial coefficients; None stands for the zero function."""
    if initial == "zeros":
        return None
    if problem.n_coefficients is None:
        raise IncompatibleError(
            f"initial={initial!r} needs initial coefficients, and {type(problem).__name__} has"
            " no 'n_coefficients' and 'filled' to set them: use initial='zeros'."
        )
    size = problem.n_coefficients
    if initial == "random":
        values = random_state.standard_normal(size)
        values /= np.linalg.norm(values)
    else:
        values = np.full(size, 1.0 if initial == "ones" else size**-0.5)
    return problem.filled(values)


def scaled(learner: Any, ridge: float) -> Any:
    """Return a learner with its α multiplied by a factor."""
    alpha = learner.get_params().get("alpha")
    if not isinstance(alpha, Real):
        raise IncompatibleError(
            f"ifsl(ridges=...) multiplies the parameter 'alpha' of a learner, and {learner.name}"
            f" has no such number: use a learner such as {COUPLED_LEARNER!r}."
        )
    return learner.with_params(alpha=ridge * alpha)
