"""MKLSearchCV: parameters chosen by cross-validation, with views shared by all points."""

from __future__ import annotations

from functools import partial
from itertools import count
from time import perf_counter
from typing import Any, Self

import attrs
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from mklkit.display.progress import BRIEF, Progress, check_progress, reported
from mklkit.errors import SpecError, counted, cut
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fold_scores import FoldScores, check_scorer, fits_grids
from mklkit.estimators.folds import splits_of
from mklkit.estimators.grids import (
    Point,
    best_point,
    check_effort,
    declared_space,
    default_grids,
    grouped,
    points_of,
    results_table,
)
from mklkit.estimators.plan import kernels_to_bind
from mklkit.estimators.predicting import PredictsClasses
from mklkit.estimators.shared_views import SharedViews, SharesViews
from mklkit.estimators.showing import KernelSummary
from mklkit.estimators.table_reading import read_table
from mklkit.estimators.training_data import (
    as_source,
    check_training,
    checked_groups,
    checked_row_weights,
)
from mklkit.protocols import Array
from mklkit.protocols.component import is_whole


class MKLSearchCV(PredictsClasses, SharesViews, FittedKernels):
    """Parameters of an MKLClassifier chosen by cross-validation, with shared Gram matrices.

    For all combiners and learners. Within a fold, points with the same kernels share their Gram
    matrices, statistics and features, and weights that do not depend on the learner's parameters
    are learned once for all of these.

    Parameters
    ----------
    estimator : MKLClassifier
        The estimator whose parameters are searched; it is not fitted itself. With
        ``probability=True`` the last fit alone is calibrated, and no fit of a fold.
    param_grid : dict of sequences, or list of these, optional
        Values by nested names as in scikit-learn, such as ``{"combiner__lam": [0.5, 1, 2]}`` or
        ``{"combiner": ["uniform", "dimkl3"], "learner__C": [1, 10]}``. Default: the components'
        own search spaces, as far as ``effort`` goes.
    cv : int, scikit-learn splitter, or list of (training rows, scored rows), default=5
        An int means stratified folds, shuffled from ``random_state``; fewer where a class has
        fewer rows; None means five. The row of a single-row class is always trained on and never
        scored.
    effort : {"fast", "thorough"} or int, default="fast"
        How long to look where no grid is given. ``"fast"``: three values of each parameter that
        combiner and learner declare (all where a grid is fitted on the same views at once, as for
        ``ifsl``). ``"thorough"``: all their values, and other kernel parameters, one kernel at a
        time. A number: so many points drawn from all combinations.
    scoring : str or callable, optional
        A scorer of scikit-learn's that needs predictions or decision values; default: accuracy.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called as ``progress(done, total)`` for the
        binary problems of each fold.
    n_jobs : int or None, default=None
        Threads over folds, the estimator's own where None; the result does not depend on it.
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
        Mean score over the folds; among equals the simplest model, as the components' search spaces
        order their values (for ``ifsl`` the largest λ, then α).
    cv_results_ : dict of ndarray
        As in scikit-learn's searches: ``params``, ``param_learner__alpha`` …,
        ``split0_test_score`` …, ``mean_test_score``, ``std_test_score``, ``rank_test_score``; and
        ``mean_n_iter`` where fits iterate. A point that can't be fitted has NaN, with a warning;
        names and values that no component takes are refused before anything runs.
    n_splits_ : int
    refit_time_ : float
        Seconds.

    Notes
    -----
    Memory as for one fit, times ``n_jobs``; what is kept for other points of a fold is at most the
    estimator's ``max_memory``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"combiner": ["uniform", "dimkl5"], "learner__C": (1.0, 10.0)}
    >>> search = MKLSearchCV(MKLClassifier(), grid, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"])
    4
    >>> bool(search.best_score_ > 0.95)
    True
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        cv: Any = 5,
        effort: Any = "fast",
        scoring: Any = None,
        progress: Progress = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.effort = effort
        self.scoring = scoring
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose parameters by cross-validation on rows (N, d) and labels (N,), then fit on all.

        Weights of rows (N,) count in the fits. Scores take all rows of a fold alike, as those of
        scikit-learn's ``GridSearchCV``; rows of weight 0 are left out. Rows of a group (N,), such
        as a patient, are in the same fold, and so are they in what a fit of a fold divides.
        """
        return self.fit_sharing(None, X, y, sample_weight, groups)

    def fit_sharing(
        self,
        shared_views: SharedViews | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Search as :meth:`fit` does, with views that other fits on the same rows share."""
        check_progress(self.progress)
        base = self._base()
        shared_views = shared_views or SharedViews(base.max_memory)
        scorer = None if self.scoring in (None, "accuracy") else get_scorer(self.scoring)
        space = declared_space(_varied(base, {}))
        numbered = points_of(self._grids(base) if self.param_grid is None else self.param_grid)
        points = [point for _, point in numbered]
        alike = grouped(points, lambda point: _fitted_at_once(_varied(base, point)))
        table = as_source(X)
        kernels = [_varied(base, group.common).kernels for group in alike]
        banks = [kernels_to_bind(bank, "two classes", table) for bank in kernels]
        reading, bound = read_table(table, banks)
        row_weights = checked_row_weights(sample_weight, _num_samples(table))
        row_groups = checked_groups(groups, _num_samples(table))
        data = check_training(self, "two classes", reading, table, y, row_weights, row_groups)
        seed = check_random_state(base.random_state).randint(2**31 - 1)
        check_scorer(scorer, self.scoring, data.values, self.classes_)
        counting = None if row_weights is None else row_weights != 0
        rows: Any = data.rows
        splits, folds_notes = splits_of(
            self.cv, rows, data.values, self.classes_, seed, counting, groups=data.groups
        )
        self.n_splits_ = len(splits)
        # Without a seed of the user's, all points of a search still see the same random draws.
        run = base if is_whole(base.random_state) else clone(base).set_params(random_state=seed)
        folds = FoldScores(data, self.classes_, splits, partial(_varied, run), scorer, shared_views)
        pairs = zip(alike, bound, strict=True)
        runs = [folds.prepared(group, reading, bank) for group, bank in pairs]
        total = len(splits) * sum(len(run.problems) for run in runs)
        done = count(1)
        with reported(self.progress, "searching", BRIEF) as report:
            scores, n_iter = folds.of(runs, lambda: report(next(done), total))
            self.cv_results_ = results_table(points, scores, n_iter)
            means = self.cv_results_["mean_test_score"]
            self.best_index_ = best_point(numbered, space, means)
            self.best_params_ = points[self.best_index_]
            self.best_score_ = float(means[self.best_index_])
            start = perf_counter()
            best = _varied(base, self.best_params_)
            self.best_estimator_ = best.fit_sharing(shared_views, X, y, sample_weight, groups)
            self.refit_time_ = perf_counter() - start
        fitted = self.best_estimator_.fitted_
        defaults = _with_plain(base, self.best_params_)._planned().notes
        plan = attrs.evolve(fitted.plan, notes=(*fitted.plan.notes, *defaults))
        notes = (*fitted.notes, *folds_notes, self._said())
        self.fitted_ = attrs.evolve(fitted, plan=plan, notes=notes)
        return self

    def _base(self) -> MKLClassifier:
        """Return a copy of the estimator with the search's own seed and threads."""
        base: MKLClassifier = clone(_check_kind(self.estimator))
        if self.random_state is not None:
            base.set_params(random_state=self.random_state)
        if self.n_jobs is not None:
            base.set_params(n_jobs=self.n_jobs)
        return base

    def _grids(self, base: MKLClassifier) -> list[Any]:
        """Return the grids of the components' search spaces."""
        whole = _varied(base, {})
        seed = check_random_state(base.random_state).randint(2**31 - 1)
        at_once = _fitted_at_once(whole)
        # Where only the learner varies, each point still costs a fit of it.
        coupled = any(name.startswith("combiner__") for name in at_once)
        effort = check_effort(self.effort)
        return list(default_grids(whole, effort, at_once if coupled else frozenset(), seed))

    def search_space(self) -> dict[str, tuple[Any, ...]]:
        """Return the parameters that the components declare worth searching, with their values.

        Examples
        --------
        >>> search = MKLSearchCV(MKLClassifier(combiner="ifsl"))
        >>> list(search.search_space())[:2]
        ['combiner__lam', 'learner__alpha']
        """
        return declared_space(_varied(self._base(), {}))

    def _said(self) -> str:
        best = ", ".join(f"{name} {value}" for name, value in self.best_params_.items())
        n_points = len(self.cv_results_["params"])
        # Other scores may be no shares: an error, say, is negative.
        name = self.scoring if isinstance(self.scoring, str) else "score"
        score = f"{name} {self.best_score_:.4g}"
        if self.scoring in (None, "accuracy"):
            score = f"accuracy {100 * self.best_score_:.1f} %"
        return (
            f"{best or 'nothing to tune'}: best of {counted(n_points, 'setting')} by"
            f" {self.n_splits_}-fold cross-validation on the training rows, {score}"
        )

    def _kernel_summary(self) -> KernelSummary:
        summary = super()._kernel_summary()
        if not self.__sklearn_is_fitted__():
            return summary
        return summary.and_fact("search", cut(self._said(), 300))

    def _planned_summary(self) -> KernelSummary:
        return _check_kind(self.estimator)._planned_summary()

    def decision_function(self, X: Any) -> Array:
        """Return the best estimator's decision values."""
        check_is_fitted(self)
        values: Array = self.best_estimator_.decision_function(X)
        return values

    def _probabilities(self, X: Any) -> Array:
        return self.best_estimator_._probabilities(X)


def _check_kind(estimator: Any) -> MKLClassifier:
    if not isinstance(estimator, MKLClassifier):
        raise SpecError(
            f"MKLSearchCV searches parameters of an MKLClassifier; got {estimator!r:.80}."
            " Use scikit-learn's GridSearchCV for other estimators."
        )
    return estimator


def _fitted_at_once(estimator: MKLClassifier) -> frozenset[str]:
    """Return the parameters that the combiner of an estimator varies in one fit."""
    combiner = estimator.combiner
    native = estimator.multiclass == "native"
    if native or not fits_grids(combiner):
        return frozenset()
    return frozenset(combiner.grid_parameters(estimator.learner))


def _with_plain(base: MKLClassifier, params: Point) -> MKLClassifier:
    """Return a copy with the whole components among some parameters replaced."""
    varied: MKLClassifier = clone(base)
    varied.set_params(**{name: value for name, value in params.items() if "__" not in name})
    return varied


def _varied(base: MKLClassifier, params: Point) -> MKLClassifier:
    """Return a copy with some parameters changed, and its components as objects."""
    varied = _with_plain(base, params)
    choice = varied._planned()
    varied.set_params(
        combiner=choice.combiner, feature_map=choice.feature_map, learner=choice.learner
    )
    varied.set_params(**{name: value for name, value in params.items() if "__" in name})
    return varied
