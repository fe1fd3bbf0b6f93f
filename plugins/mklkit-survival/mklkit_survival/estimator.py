"""MKLSurvival: a log-hazard from several kernels, with survival functions and medians."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mklkit import MKLSearchCV
from mklkit.plugin import Array, TargetEstimator, TargetKind, register
from mklkit_survival.concordance import concordance
from mklkit_survival.risk_sets import baseline_hazard
from mklkit_survival.times import TIMES, read_times


@register
class MKLSurvival(TargetEstimator):
    """Cox regression on several kernels: log-hazards, survival functions and medians.

    Parameters
    ----------
    kernels : str, Kernel, or list of these, optional
        As for :class:`mklkit.MKLClassifier`.
    feature_map : str or FeatureMap, optional
        The feature map; by default the combiner's.
    combiner : str or Combiner, default="uniform"
        One that learns from times, or from any target.
    learner : str or Learner, optional
        One that learns from times; by default ``"cox"``.
    max_memory : int or str, optional
        As for :class:`mklkit.MKLClassifier`.
    random_state : int, RandomState or None, default=None
        The seed of everything random.
    n_jobs : int or None, default=None
        As for :class:`mklkit.MKLClassifier`; it has no effect, since there is one problem.
    missing : str or Missing, default="present"
        As for :class:`mklkit.MKLClassifier`.
    scale : str, optional
        As for :class:`mklkit.MKLClassifier`.

    Attributes
    ----------
    event_times_ : ndarray of shape (E,)
        The distinct times of events of the training samples.
    cumulative_hazards_ : ndarray of shape (E,)
        The cumulative baseline hazard at these times (Breslow's estimate), that of a sample whose
        log-hazard is 0.

    See Also
    --------
    Cox : The learner.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> times = np.exp(-rows[:, 0])
    >>> y = np.column_stack([times, times < 2])
    >>> model = MKLSurvival(["linear", "rbf"], random_state=0).fit(rows, y)
    >>> model.score(rows, y) > 0.9
    True
    >>> model.predict_survival_function(rows, [0.5, 1.0]).shape
    (60, 2)
    """

    kind: ClassVar[TargetKind] = TIMES

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from samples (N, d), their times and events.

        Parameters
        ----------
        X : array-like, DataFrame, RowSource or Dask collection of shape (N, d)
            The training samples.
        y : structured array, DataFrame or array-like of shape (N, 2)
            scikit-survival's structured array of events and times; or two columns, the time first,
            then the event as 0 and 1, as booleans or as words.
        sample_weight : array-like of shape (N,), optional
            The sample weights, if the learner takes them: ``"cox(ties='breslow')"``.
        groups : array-like of shape (N,), optional
            The group of each sample, such as its patient: any choice on held-out samples is made on
            samples of other groups.

        Returns
        -------
        MKLSurvival
            The estimator itself.

        Raises
        ------
        ValueError
            For data that scikit-learn rejects (infinity, text, one sample).
        MKLKitError
            A ``ValueError`` too: times or events that can't be learned, components that do not fit
            together.
        """
        super().fit(X, y, sample_weight, groups)
        log_hazards = np.asarray(self.decision_function(X), np.float64)
        target = read_times(y)
        if sample_weight is not None:
            weights = np.asarray(sample_weight, np.float64)
            counting = weights > 0
            target, log_hazards = target[counting], log_hazards[counting]
            sample_weight = weights[counting]
        self.event_times_, self.cumulative_hazards_ = baseline_hazard(
            target, log_hazards, sample_weight
        )
        return self

    def predict_survival_function(self, X: Any, times: Any = None) -> Array:
        """Return the probability of each sample to survive each time.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
            The samples.
        times : array-like of shape (T,), optional
            By default ``event_times_``. After the last of these, probabilities stay as they are.

        Returns
        -------
        ndarray of shape (n, T)
            The probabilities.
        """
        check_is_fitted(self)
        hazards = self.cumulative_hazards_
        if times is not None:
            places = np.searchsorted(self.event_times_, np.asarray(times), side="right")
            hazards = np.concatenate([[0.0], hazards])[places]
        log_hazards = np.asarray(self.decision_function(X), np.float64)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            return np.exp(-np.exp(log_hazards[:, None] + np.log(hazards)))

    def predict_median(self, X: Any) -> Array:
        """Return the median survival time of each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
            The samples.

        Returns
        -------
        ndarray of shape (n,)
            The first time of an event that less than half survive; infinity if more do until the
            last.
        """
        check_is_fitted(self)
        log_hazards = np.asarray(self.decision_function(X), np.float64)
        with np.errstate(over="ignore", under="ignore"):
            needed = np.log(2) * np.exp(-log_hazards)
        places = np.searchsorted(self.cumulative_hazards_, needed)
        return np.append(self.event_times_, np.inf)[places]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance of log-hazards with times.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
            The samples.
        y : structured array, DataFrame or array-like of shape (n, 2)
            As for :meth:`fit`.
        sample_weight : None
            Not used.

        Returns
        -------
        float
            From 0 to 1; 0.5 for a guess.
        """
        return concordance(read_times(y), self.predict(X))


def survival_probabilities(model: Any, rows: Any, times: Array) -> Array | None:
    """Return the probabilities (n, T) to survive times, None if a model predicts none.

    Parameters
    ----------
    model : estimator
        A fitted model, perhaps in a pipeline or a search.
    rows : array-like or DataFrame of shape (n, d)
        The samples.
    times : ndarray of shape (T,)
        The times.

    Returns
    -------
    ndarray of shape (n, T) or None
        The probabilities.
    """
    predictor, prepared = _last_step(model, rows)
    if not hasattr(predictor, "predict_survival_function"):
        return None
    return np.asarray(predictor.predict_survival_function(prepared, times))


def median_times(model: Any, rows: Any) -> Array | None:
    """Return the median survival times (n,), None if a model predicts none."""
    predictor, prepared = _last_step(model, rows)
    return predictor.predict_median(prepared) if isinstance(predictor, MKLSurvival) else None


def is_survival_model(model: Any) -> bool:
    """Return whether an estimator, perhaps in a pipeline, predicts survival functions."""
    inner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return hasattr(inner, "predict_survival_function")


def _last_step(model: Any, rows: Any) -> tuple[Any, Any]:
    """Return the fitted estimator inside a pipeline or search, and the samples that it gets."""
    if isinstance(model, Pipeline):
        rows = model[:-1].transform(rows) if len(model.steps) > 1 else rows
        model = model.steps[-1][1]
    if isinstance(model, MKLSearchCV | GridSearchCV):
        return _last_step(model.best_estimator_, rows)
    return model, rows
