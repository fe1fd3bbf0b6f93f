"""MKLSearchCV: parameters chosen by cross-validation, many points fitted on the same views."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import IncompatibleError, SpecError
from mklkit.estimators.checking import check_training_data
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fitting import solver_errors_explained
from mklkit.estimators.folds import Rows, splits_of
from mklkit.estimators.grids import PointGroup, best_point, grouped_points, results_table
from mklkit.estimators.multiclass import BinaryProblem, ScoreJoiner, decompose
from mklkit.estimators.parallel import in_threads
from mklkit.estimators.proposing import bank_of
from mklkit.estimators.training import ProblemViews, choose_strategy
from mklkit.protocols import Array, GridCombiner
from mklkit.registry.composing import Choice, choose_components
from mklkit.views.memory import memory_given
from mklkit.views.row_parts import rows_at, take_rows

__all__ = ["MKLSearchCV", "grid_combiner"]


class MKLSearchCV(ClassifierMixin, BaseEstimator):
    """Parameters of an MKLClassifier chosen by cross-validation, a whole grid per fit.

    For combiners that fit many values of their own and the learner's parameters on the same views
    (``ifsl`` with ``mhks`` or ``kmhks``; see :class:`mklkit.GridCombiner`): such a grid costs
    little more than one fit per fold. Other parameters may be searched too; each combination of
    them has its own views.

    Parameters
    ----------
    estimator : MKLClassifier
        The estimator whose parameters are searched; it is not fitted itself.
    param_grid : dict of sequences, or list of these, optional
        Values by nested names as in scikit-learn, such as ``{"combiner__lam": [0.5, 1, 2]}``.
        Default: the combiner's own search space.
    cv : int, scikit-learn splitter, or list of (training rows, scored rows), default=5
        An int means stratified folds, shuffled from ``random_state``; fewer where a class has
        fewer rows; None means five. The row of a single-row class is always trained on and never
        scored.
    progress : callable, optional
        Called as ``progress(done, total)`` after each binary problem of each fold.
    n_jobs : int or None, default=None
        Threads over binary problems, the estimator's own where None; the result does not depend
        on it.
    random_state : int, RandomState or None, default=None
        The seed of the folds and the fits; the estimator's own where None.

    Attributes
    ----------
    best_estimator_ : MKLClassifier
        Fitted on all rows with the best point; predictions, ``weights_`` and its other attributes
        are available on the search too.
    best_params_ : dict
        By nested name.
    best_score_, best_index_ : float, int
        Mean accuracy over the folds; among equals the largest values, for ``ifsl`` of λ, then of α.
    cv_results_ : dict of ndarray
        As in scikit-learn's searches: ``params``, ``param_learner__alpha`` …,
        ``split0_test_score`` …, ``mean_test_score``, ``std_test_score``, ``rank_test_score``; and
        ``mean_n_iter``.
    n_splits_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"learner__alpha": (0.5, 2.0), "combiner__lam": (0.25, 1.0, 4.0)}
    >>> search = MKLSearchCV(MKLClassifier(combiner="ifsl"), grid, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"])
    6
    >>> bool(search.best_score_ > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        cv: Any = 5,
        progress: Callable[[int, int], None] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose parameters by cross-validation on rows (N, d) and labels (N,), then fit on all."""
        if self.progress is not None and not callable(self.progress):
            raise SpecError(f"progress must be None or a function; got {self.progress!r:.80}.")
        base, notes = self._resolved()
        space = grid_combiner(base.combiner).search_space(base.learner)
        groups = grouped_points(self.param_grid, space, base)
        given_X, given_y = X, y
        X, codes = check_training_data(self, X, y, base.multiclass)
        seed = check_random_state(base.random_state).randint(2**31 - 1)
        splits, folds_notes = splits_of(self.cv, X, codes, self.classes_, seed)
        self.n_splits_ = len(splits)
        runs = [_GridRun(self, _varied(base, group.common), group) for group in groups]
        total = len(runs) * len(splits) * len(runs[0].problems)
        done = count(1)

        def report() -> None:
            if self.progress is not None:
                self.progress(next(done), total)

        found = [run.scores(X, codes, splits, report) for run in runs]
        scores, n_iter = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
        params = [point for group in groups for point in group.params]
        self.cv_results_ = results_table(params, scores, n_iter)
        means = self.cv_results_["mean_test_score"]
        self.best_index_ = best_point(groups, list(space), means)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(means[self.best_index_])
        self.best_estimator_ = _varied(base, self.best_params_).fit(given_X, given_y)
        self.choices_ = [*self.best_estimator_.choices_, *notes, *folds_notes, self._said()]
        return self

    def _resolved(self) -> tuple[MKLClassifier, list[str]]:
        """Return the estimator with its components as objects, and the choices made for it."""
        _check_kind(self.estimator)
        given: MKLClassifier = clone(self.estimator)
        choice = choose_components(given.combiner, given.feature_map, given.learner)
        given.set_params(
            combiner=choice.combiner, feature_map=choice.feature_map, learner=choice.learner
        )
        for name in ("random_state", "n_jobs"):
            if getattr(self, name) is not None:
                given.set_params(**{name: getattr(self, name)})
        return given, list(choice.notes)

    def search_space(self) -> dict[str, tuple[Any, ...]]:
        """Return the parameters that are searched where no grid is given, with their values.

        Examples
        --------
        >>> search = MKLSearchCV(MKLClassifier(combiner="ifsl"))
        >>> list(search.search_space())
        ['learner__alpha', 'combiner__lam']
        """
        base, _ = self._resolved()
        return grid_combiner(base.combiner).search_space(base.learner)

    @property
    def multiclass(self) -> str:
        """The multiclass strategy of the estimator."""
        return _check_kind(self.estimator).multiclass

    def _said(self) -> str:
        best = ", ".join(f"{name} {value}" for name, value in self.best_params_.items())
        return (
            f"{best}: best of {len(self.cv_results_['params'])} points by"
            f" {self.n_splits_}-fold cross-validation, {100 * self.best_score_:.1f} %"
        )

    def decision_function(self, X: Any) -> Array:
        """Return the best estimator's decision values."""
        return self._fitted().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best estimator's class labels."""
        return self._fitted().predict(X)

    def weights_frame(self) -> pd.DataFrame:
        """Return the best estimator's kernel weights."""
        return self._fitted().weights_frame()

    def _fitted(self) -> MKLClassifier:
        check_is_fitted(self)
        return self.best_estimator_

    @property
    def weights_(self) -> Array:
        """The best estimator's kernel weights."""
        return self._fitted().weights_

    @property
    def kernel_names_(self) -> list[str]:
        """The best estimator's kernel names."""
        return self._fitted().kernel_names_


def _check_kind(estimator: Any) -> MKLClassifier:
    if not isinstance(estimator, MKLClassifier):
        raise SpecError(
            f"MKLSearchCV searches parameters of an MKLClassifier; got {estimator!r:.80}."
            " Use scikit-learn's GridSearchCV for other estimators."
        )
    return estimator


def grid_combiner(combiner: Any) -> GridCombiner:
    """Return a combiner that fits a whole grid at once, unchanged.

    Raises
    ------
    IncompatibleError
        If the combiner can't fit a whole grid at once.
    """
    if not isinstance(combiner, GridCombiner):
        raise IncompatibleError(
            f"MKLSearchCV fits a whole grid at once, which the combiner {combiner.name!r} can't."
            " Use scikit-learn's GridSearchCV over MKLClassifier."
        )
    return combiner


def _varied(base: MKLClassifier, params: dict[str, Any]) -> MKLClassifier:
    varied: MKLClassifier = clone(base)
    varied.set_params(**params)
    return varied


class _GridRun:
    """One group of points over all folds."""

    def __init__(self, search: MKLSearchCV, estimator: MKLClassifier, group: PointGroup) -> None:
        self.estimator = estimator
        self.points = group.points
        parts = estimator.combiner, estimator.feature_map, estimator.learner
        self.choice: Choice = choose_components(*parts)
        self.combiner = grid_combiner(self.choice.combiner)
        self.search = search
        strategy = choose_strategy(estimator.multiclass, self.choice.combiner, self.choice.learner)
        self.n_classes = len(search.classes_)
        self.problems = decompose(self.n_classes, strategy)

    def scores(
        self,
        X: Array,
        codes: NDArray[np.intp],
        splits: list[tuple[Rows, Rows]],
        report: Callable[[], None],
    ) -> tuple[Array, Array]:
        """Return accuracies (folds, points), and the mean number of iterations (points,)."""
        n_problems = len(self.problems)
        random_state = check_random_state(self.estimator.random_state)
        seeds = random_state.randint(2**31 - 1, size=(len(splits), n_problems + 1))
        scores, iterations = [], np.zeros(len(self.points))
        for fold, (training, test) in enumerate(splits):
            rows, own_codes = take_rows(X, training), codes[training]
            views_of = ProblemViews(
                bank_of(self.estimator.kernels, self.search, rows, own_codes).kernels,
                self.choice.feature_map,
                rows,
                own_codes,
                seeds[fold, -1],
                self.estimator.bandwidths,
                memory_given(self.estimator.max_memory),
            )
            held_out = rows_at(X, test)
            tasks = [
                partial(self._decide, views_of, problem, seed, held_out)
                for problem, seed in zip(self.problems, seeds[fold], strict=False)
            ]
            results = in_threads(tasks, self.estimator.n_jobs, len(training))
            joiner = ScoreJoiner((len(test), len(self.points)), self.n_classes)
            for problem, (values, n_iter) in zip(self.problems, results, strict=True):
                joiner.add(problem, values)
                iterations += n_iter
                report()
            scores.append(_accuracy(joiner, codes[test]))
        return np.array(scores), iterations / (len(splits) * n_problems)

    def _decide(
        self, views_of: ProblemViews, problem: BinaryProblem, seed: int, rows: Array
    ) -> tuple[Array, Array]:
        random_state = np.random.RandomState(seed)
        views, labels = views_of.of(problem, random_state)
        learner = self.choice.learner
        with solver_errors_explained(self.choice.combiner, learner, views):
            decision = self.combiner.fit_grid(views, labels, learner, self.points, random_state)
            return decision.decide(rows), decision.n_iter


def _accuracy(joiner: ScoreJoiner, codes: NDArray[np.intp]) -> Array:
    """Return the accuracy of each grid point; scores that are not finite count as wrong."""
    scores = joiner.scores()
    right = (scores.argmax(axis=0) == codes[:, None]) & np.isfinite(scores).all(axis=0)
    return right.mean(axis=0)
