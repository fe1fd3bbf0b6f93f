"""Prediction shared by estimators: probabilities if requested, and samples of Dask.

With ``probability=True`` the model is also fitted on cross-validation folds, and scikit-learn fits
sigmoids to the decision values of the held-out samples (``cross_fitted``), which an estimator keeps
as ``calibration_``. Searches fit folds without ``fit``, so that only their final fit is calibrated.
``predict_proba`` is in one place, ``PredictsClasses``, for classifiers, searches and votes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mklkit.errors import DataError
from mklkit.protocols import Array, Mask, Rows, missing_patterns
from mklkit.protocols.splits.making import USUAL_FOLDS, make_splits
from mklkit.registry.given_arrays import writes_explained
from mklkit.views.dask.rows import each_row
from mklkit.views.deciding import decide_all
from mklkit.views.rows import is_dask

PATTERN_ROWS, CLASS_ROWS = 50, 5
"""The fewest samples that miss the same sources, and of each class, for separate sigmoids."""


def class_numbers(scores: Array) -> NDArray[np.intp]:
    """Return the class number (n,) of decision values, (n,) for two classes, else (n, C)."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def finite_values(
    fitted: Any, rows: Rows, same_map: bool = False, name: str = "decision value"
) -> Array:
    """Return the values of a ``Fitted``'s decisions on samples, side by side (n, number of values).

    ``same_map``: the decisions share maps; ``name`` is that of the values in messages. A
    ``DataError`` is raised for values that are not finite.
    """
    with writes_explained(fitted.plan.components), np.errstate(over="ignore", invalid="ignore"):
        values = decide_all(fitted.decisions, rows, same_map)
    infinite = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(infinite):
        raise DataError(
            f"The {name} of sample {infinite[0]} is not finite (number of such samples:"
            f" {len(infinite)}): its features are too far from those of the training data."
        )
    return values


def lazy_on_dask(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a fitted model's method return a lazy Dask array for Dask's samples.

    The model's ``_n_values`` says how many values a sample has; None if the result is not a matrix.
    """

    @wraps(method)
    def of_rows(model: Any, X: Any, split: bool = False) -> Any:
        check_is_fitted(model)
        if is_dask(X) and not split:
            return of_each_row(model, of_rows, X, np.float64, model._n_values)
        return method(model, X, split=True) if split else method(model, X)

    return of_rows


def of_each_row(
    model: Any, method: Callable[[Any, Any], Any], X: Any, dtype: Any, width: int | None = None
) -> Any:
    """Return a method's values for samples of Dask as a Dask array; a matrix has a ``width``."""
    names = vars(model).get("feature_names_in_")
    return each_row(partial(method, model), X, dtype, width, names, model.n_features_in_)


def _are_asked_for(estimator: PredictsClasses) -> bool:
    if not estimator._asks_for_probabilities():
        raise AttributeError(
            f"{type(estimator).__name__} gives probabilities only if requested: set"
            " probability=True (on the inner MKLClassifier if this is a search or a vote) and"
            " fit again."
        )
    return True


class PredictsClasses(ClassifierMixin, ABC):
    """Classes from decision values, and probabilities if the parameters request them."""

    classes_: NDArray[Any]
    # Of estimators without these parameters.
    probability: Any = False
    estimator: Any = None

    @abstractmethod
    def decision_function(self, X: Any) -> Array:
        """Return decision values.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            Of two classes, (n,): above 0 for ``classes_[1]``; otherwise one column per class.
        """

    @abstractmethod
    def _probabilities(self, X: Any) -> Array:
        """Return the probabilities (n, C) of samples (n, d)."""

    @property
    def _n_values(self) -> int | None:
        return None if len(self.classes_) == 2 else len(self.classes_)

    def _asks_for_probabilities(self) -> bool:
        """Return whether the parameters, or those of the inner estimator, request probabilities."""
        inside = self.estimator
        asks = isinstance(inside, PredictsClasses) and inside._asks_for_probabilities()
        return bool(self.probability) or asks

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class label of each sample.

        Ties, as in votes, go to the first class in order.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n,)
            The labels; for samples of Dask, a Dask array.
        """
        if is_dask(X):
            check_is_fitted(self)
            labels: NDArray[Any] = of_each_row(self, type(self).predict, X, self.classes_.dtype)
            return labels
        numbers = class_numbers(self.decision_function(X))  # raises if the model is not fitted
        return np.asarray(self.classes_[numbers])

    @available_if(_are_asked_for)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class.

        There is no such method without ``probability=True``. :meth:`predict` follows the decision
        values, and may differ from the likeliest class if classes are about equally likely.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n, C)
            The probabilities, in the order of ``classes_``; for samples of Dask, a Dask array.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If it was fitted without probabilities.
        DataError
            If a decision value is not finite.
        """
        check_is_fitted(self)
        if is_dask(X):
            n_classes = len(self.classes_)
            return of_each_row(self, type(self)._probabilities, X, np.float64, n_classes)
        return self._probabilities(X)

    @available_if(_are_asked_for)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (n, d)
            New samples.

        Returns
        -------
        ndarray of shape (n, C)
            The logarithms, −inf where a probability rounds to 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class DecisionValues(ClassifierMixin, BaseEstimator):
    """A classifier whose samples already are decision values, for scikit-learn to calibrate."""

    def fit(self, X: Array, y: NDArray[np.intp], sample_weight: Array | None = None) -> Self:
        """Remember the class numbers."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the samples."""
        return X

    def predict(self, X: Array) -> NDArray[np.intp]:
        """Return the class numbers."""
        return class_numbers(X)


def cross_fitted(
    codes: NDArray[np.intp],
    seed: int,
    decide: Callable[[NDArray[np.intp], NDArray[np.intp]], Array],
    row_weights: Array | None = None,
    groups: NDArray[np.intp] | None = None,
    missing: Mask = None,
) -> tuple[Any, dict[str, Any], str]:
    """Return scikit-learn's sigmoids of decision values of held-out samples, and a note.

    Beside those of all samples there are those of each pattern of missing sources that enough
    samples have, as ``missing`` (N, M) says, by a key with 1 for each source that it misses.

    ``decide`` takes the samples to train on and those held out, and returns the decision values on
    the latter of a model trained on the former. The only sample or group of a class is never held
    out: it has no weight in the calibration, and the class is likely for no sample.
    """
    # Importing it takes a second, and few models need it.
    from sklearn.calibration import CalibratedClassifierCV

    splits = make_splits(codes, USUAL_FOLDS, seed=seed, groups=groups)
    n_rows = len(codes)
    n_classes = int(codes.max()) + 1
    values = np.zeros(n_rows if n_classes == 2 else (n_rows, n_classes))
    scored = np.zeros(n_rows, bool)
    for training, held_out in splits:
        try:
            values[held_out] = decide(training, held_out)
            scored[held_out] = True
        except DataError as error:
            raise DataError(
                f"Probabilities need fits on some of the samples, and that on {len(training)} of"
                f" {n_rows} failed: {error}"
            ) from error
    weights = row_weights
    if not scored.all():
        weights = scored * (np.ones(n_rows) if row_weights is None else row_weights)

    def sigmoids(members: NDArray[np.intp]) -> Any:
        whole = [(np.arange(len(members)), np.arange(len(members)))]
        model = CalibratedClassifierCV(DecisionValues(), method="sigmoid", cv=whole, ensemble=False)
        of_members = None if weights is None else weights[members]
        model.fit(values[members], codes[members], sample_weight=of_members)
        return model.calibrated_classifiers_[0]

    of_patterns = {}
    if missing is not None:
        numbers, table = missing_patterns(missing)
        for number, pattern in enumerate(table):
            members = np.flatnonzero((numbers == number) & scored)
            counts = np.bincount(codes[members], minlength=n_classes)
            if len(members) >= PATTERN_ROWS and counts.min() >= CLASS_ROWS:
                of_patterns[_key(pattern)] = sigmoids(members)
    folds = f"{splits.n_folds}-fold cross-validation"
    note = f"probabilities by sigmoids of the decision values in {folds}"
    return sigmoids(np.arange(n_rows)), of_patterns, "; ".join([note, *splits.notes])


def calibrated(shared: Any, of_patterns: dict[str, Any], values: Array, missing: Mask) -> Array:
    """Return the probabilities of decision values, by the samples' patterns where these have any.

    ``missing`` (n, M) says which sources samples miss; None if they have all.
    """
    probabilities: Array = shared.predict_proba(values)
    if of_patterns:
        complete = np.zeros((len(values), len(next(iter(of_patterns)))), bool)
        numbers, table = missing_patterns(complete if missing is None else missing)
        for number, pattern in enumerate(table):
            members = numbers == number
            calibration = of_patterns.get(_key(pattern), shared)
            probabilities[members] = calibration.predict_proba(values[members])
    return probabilities


def _key(missing: NDArray[np.bool_]) -> str:
    return "".join("01"[int(of_source)] for of_source in missing)
