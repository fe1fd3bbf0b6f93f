"""MKLSearchCV: parameters chosen by cross-validation, with views shared by all points."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

import attrs
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from mklkit.display.numbers import percentage, significant
from mklkit.display.progress import BRIEF, Progress, check_progress, reported
from mklkit.errors import counted, cut
from mklkit.estimators.base import FittedKernels, KernelEstimator
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.declaring import declared_sources, sources_of_grids
from mklkit.estimators.fold_scores import PointFits, fold_scores
from mklkit.estimators.grids import declared_space, default_grids
from mklkit.estimators.joining import joined_and_places
from mklkit.estimators.model_settings import check_effort
from mklkit.estimators.plan import kernels_by_default
from mklkit.estimators.points import best_point, points_of, results_table
from mklkit.estimators.predicting import PredictsClasses
from mklkit.estimators.reading import as_source
from mklkit.estimators.separate_fits import SeparateFits
from mklkit.estimators.shared_fits import SharedFits
from mklkit.estimators.sharing import SharesCache, fit_on
from mklkit.estimators.showing import KernelSummary
from mklkit.estimators.task_of import task_of
from mklkit.estimators.variants import (
    SHARES,
    Searched,
    check_searched,
    parameters_at_once,
    varied,
    with_plain,
)
from mklkit.protocols import Array, Source
from mklkit.protocols.splits.making import USUAL_FOLDS
from mklkit.views.cache import Cache


class MKLSearchCV(PredictsClasses, SharesCache, FittedKernels):
    """Parameters of an estimator chosen by cross-validation, with shared Gram matrices.

    It works with all combiners and learners, for classes, numbers and one class. For classes,
    points with the same kernels share Gram matrices, statistics and features within a fold, and
    weights that do not depend on the learner's parameters are learned once for all of these.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor or MKLOneClass
        The estimator whose parameters are searched; it is not fitted itself. With
        ``probability=True`` only the last fit is calibrated, not those of the folds. For one
        class, ``y`` is -1 for known outliers and 1 for inliers: it scores the settings, and fits
        do not see it.
    param_grid : dict of sequences, or list of these, optional
        Values by nested names as in scikit-learn, such as ``{"combiner__lam": [0.5, 1, 2]}`` or
        ``{"combiner": ["uniform", "dimkl3"], "learner__C": [1, 10]}``. Default: the components'
        own search spaces, as far as ``effort`` goes.
    cv : int, scikit-learn splitter, or list of (training samples, scored samples), default=5
        An int is a number of shuffled folds by ``random_state``, stratified for classes, fewer if
        a class has fewer samples; None means five. The sample of a single-sample class is always in
        training and never scored.
    effort : {"fast", "thorough"} or int, default="fast"
        How long to search if no grid is given. ``"fast"``: three values of each parameter that
        combiner and learner declare (all values if one fit covers the whole grid, as for
        ``ifsl``). ``"thorough"``: all their values, and other kernel parameters, one kernel at a
        time. A number: that many points drawn from all combinations.
    scoring : str or callable, optional
        A scikit-learn scorer that needs predictions or decision values. Default: accuracy for
        classes, R² for numbers, the area under the ROC curve for one class. For classes of
        different sizes, ``"balanced_accuracy"`` is better; ``mklkit fit --tune`` and
        :func:`mklkit.compare` choose by it then.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called as ``progress(done, total)`` for the
        binary problems of each fold.
    n_jobs : int or None, default=None
        Threads over folds; by default the estimator's ``n_jobs``. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        The seed of the folds and the fits; by default the estimator's.

    Attributes
    ----------
    best_estimator_ : MKLClassifier, MKLRegressor or MKLOneClass
        Fitted on all samples with the best point; predictions, ``weights_`` and its other
        attributes are available on the search too.
    best_params_ : dict
        By nested name.
    best_score_, best_index_ : float, int
        Mean score over the folds; ties go to the simplest model by the order of values in the
        components' search spaces (for ``ifsl`` the largest λ, then α).
    cv_results_ : dict of ndarray
        As in scikit-learn's searches: ``params``, ``param_learner__alpha`` …, ``split0_test_score``
        …, ``mean_test_score``, ``std_test_score``, ``rank_test_score``; and ``mean_n_iter`` if fits
        iterate; for classes, if samples lack sources, ``mean_test_complete`` of the samples that
        have all sources and ``mean_test_incomplete`` of the others. A point that can't be fitted
        has NaN, with a warning; names and values that no component takes raise an error before
        anything runs.
    n_splits_ : int
        The number of folds.
    refit_time_ : float
        The time of the last fit, in seconds.

    See Also
    --------
    preset_classifier : The classifier of a preset, with ``tune`` for a search.
    compare : Methods on the same splits, with ``tune`` for searches.

    Notes
    -----
    Memory as for one fit, times ``n_jobs``; the views kept for other points of a fold take at most
    the estimator's ``max_memory``.

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

    def declared_sources(self) -> list[Source]:
        """Return the columns that the kernels of estimator and grid read, before ``fit``.

        Returns
        -------
        list of Source
            One for each kernel; none for kernels that can't be made, which ``fit`` reports.
        """
        return [*declared_sources(self.estimator), *sources_of_grids(self.param_grid)]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose parameters by cross-validation, then fit on all samples.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples.
        y : array-like of shape (N,) or (N, T)
            Their targets, as the estimator takes them; for one class, −1 for known outliers and 1
            for inliers.
        sample_weight : array-like of shape (N,), optional
            How much each sample counts in the fits. Scores count all samples of a fold equally, as
            in scikit-learn's ``GridSearchCV``; samples of weight 0 are omitted.
        groups : array-like of shape (N,), optional
            The group of each sample, such as its patient: groups are in the same fold, also in
            folds inside a fit.

        Returns
        -------
        MKLSearchCV
            The fitted search itself.

        Raises
        ------
        MKLKitError
            If a name or a value is invalid, before anything is fitted; and the errors of the
            estimator's ``fit``.
        """
        return self.fit_sharing(None, X, y, sample_weight, groups)

    def fit_sharing(
        self,
        cache: Cache | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Search as :meth:`fit` does, sharing views with other fits on the same samples.

        Parameters
        ----------
        cache : Cache or None
            The cache of Gram matrices, features and statistics; None for a cache of its own.
        X, y, sample_weight, groups : array-like
            As for :meth:`fit`.

        Returns
        -------
        MKLSearchCV
            The fitted search itself.
        """
        check_progress(self.progress)
        base = self._base()
        table, sources = joined_and_places(X, y)
        searched = [] if self.param_grid is None else points_of(self.param_grid)
        parameters = {name for _, point in searched for name in point}
        kernels = kernels_by_default(base, base.kind, as_source(table), sources, parameters)
        base.set_params(kernels=kernels)
        cache = cache or Cache(base.max_memory)
        space = declared_space(varied(base, {}))
        numbered = searched or points_of(self._grids(base))
        points = [point for _, point in numbered]
        cv = USUAL_FOLDS if self.cv is None else self.cv
        rows = (X, y, sample_weight, groups)
        fits: PointFits
        if isinstance(base, MKLClassifier):
            fits = SharedFits.of(self, base, points, cv, self._score, cache, *rows)
        else:
            fits = SeparateFits.of(base, points, cv, self._score, *rows)
        with reported(self.progress, "searching", BRIEF) as report:
            scores, others = fold_scores(fits, report)
            self.n_splits_ = len(scores)
            self.cv_results_ = results_table(points, scores, others)
            means = self.cv_results_["mean_test_score"]
            self.best_index_ = best_point(numbered, space, means)
            self.best_params_ = points[self.best_index_]
            self.best_score_ = float(means[self.best_index_])
            start = perf_counter()
            best = varied(base, self.best_params_)
            fit_on(best, X, y, {"sample_weight": sample_weight}, groups, cache)
            self.best_estimator_ = best
            self.refit_time_ = perf_counter() - start
        for name in {"n_features_in_", "feature_names_in_"} & vars(best).keys():
            setattr(self, name, vars(best)[name])
        fitted = self.best_estimator_.fitted_
        # A learner that is chosen with the kernels is told with these.
        defaults = (
            with_plain(base, self.best_params_)._planned().notes if best.learner is not None else ()
        )
        plan = attrs.evolve(fitted.plan, notes=(*fitted.plan.notes, *defaults))
        notes = (*fitted.notes, *fits.splits.notes, self._said())
        self.fitted_ = attrs.evolve(fitted, plan=plan, notes=notes)
        return self

    @property
    def _score(self) -> Any:
        """The score that chooses settings, a name unless the user gives a function."""
        return self.scoring or task_of(self.estimator).ranked_by[0]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: those of the estimator's task."""
        if isinstance(self.estimator, KernelEstimator):
            return get_tags(self.estimator)
        return super().__sklearn_tags__()

    def _base(self) -> Searched:
        """Return a copy of the estimator with the search's own seed and threads."""
        base: Searched = clone(check_searched(self.estimator))
        if self.random_state is not None:
            base.set_params(random_state=self.random_state)
        if self.n_jobs is not None:
            base.set_params(n_jobs=self.n_jobs)
        return base

    def _grids(self, base: Searched) -> list[Any]:
        """Return the grids of the components' search spaces."""
        whole = varied(base, {})
        seed = check_random_state(base.random_state).randint(2**31 - 1)
        at_once = parameters_at_once(whole)
        # If only the learner varies, each point still takes one fit of it.
        coupled = any(name.startswith("combiner__") for name in at_once)
        effort = check_effort(self.effort)
        return list(default_grids(whole, effort, at_once if coupled else frozenset(), seed))

    def search_space(self) -> dict[str, tuple[Any, ...]]:
        """Return the parameters that the components declare for a search.

        Returns
        -------
        dict of str to tuple
            The values to try, by nested name.

        Examples
        --------
        >>> search = MKLSearchCV(MKLClassifier(combiner="ifsl"))
        >>> list(search.search_space())[:2]
        ['combiner__lam', 'learner__alpha']
        """
        return declared_space(varied(self._base(), {}))

    def _said(self) -> str:
        best = ", ".join(f"{name} {value}" for name, value in self.best_params_.items())
        n_points = len(self.cv_results_["params"])
        # Other scores need not be shares: an error, for example, is negative.
        name = self._score if isinstance(self._score, str) else "score"
        score = f"{name} {significant(self.best_score_, 4)}"
        if name in SHARES:
            score = f"{name.replace('_', ' ')} {percentage(self.best_score_)}"
        folds = f"{self.n_splits_}-fold cross-validation on the training samples"
        if not best and n_points == 1:
            return f"no parameter is left to search: {self._chosen_unsearched()}; {folds}: {score}"
        return f"{best}: best of {counted(n_points, 'setting')} by {folds}, {score}"

    def _chosen_unsearched(self) -> str:
        """Return what the fit itself chose, in words."""
        fitted = self.best_estimator_.fitted_
        chosen = ["the kernels"] if fitted.plan.sources else []
        if fitted.plan.learners:
            chosen.append(f"the learner {fitted.plan.learner.name}")
        chosen += [
            f"its {name.removeprefix('learner__')}"
            for name in fitted.chosen
            if name.startswith("learner__")
        ]
        if not chosen:
            return "combiner, learner and kernels have none"
        *others, last = chosen
        first = f"{', '.join(others)} and " if others else ""
        return f"{first}{last} are chosen from the training samples in each fit"

    def _kernel_summary(self) -> KernelSummary:
        summary = super()._kernel_summary()
        if not self.__sklearn_is_fitted__():
            return summary
        return summary.and_fact("search", cut(self._said(), 300))

    def _planned_summary(self) -> KernelSummary:
        return check_searched(self.estimator)._planned_summary()

    def predict(self, X: Any) -> Any:
        """Return the predictions of the best estimator.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n,) or (n, T)
            The predictions.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the best estimator's own score: accuracy for classes, R² for numeric targets.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            Samples.
        y : array-like of shape (n,) or (n, T)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            How much each sample counts; by default all count equally.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight))

    def decision_function(self, X: Any) -> Array:
        """Return the best estimator's decision values; a regressor has none.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            The values.
        """
        check_is_fitted(self)
        values: Array = self.best_estimator_.decision_function(X)
        return values

    def _probabilities(self, X: Any) -> Array:
        return self.best_estimator_._probabilities(X)
