"""Probabilities from decision values of rows that were held out, calibrated by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from mklkit.errors import DataError
from mklkit.estimators.folds import plan_folds
from mklkit.estimators.predicting import class_numbers
from mklkit.protocols import Array

__all__ = ["FOLDS", "Calibration", "DecisionValues", "cross_fitted"]

FOLDS = 5
"""As in scikit-learn's ``CalibratedClassifierCV``; fewer where a class has fewer rows."""


Places = NDArray[np.intp]
"""Numbers of rows."""


class Calibration(Protocol):
    """What scikit-learn makes probabilities of decision values with."""

    def predict_proba(self, X: Array, /) -> Array:
        """Return probabilities (n, C) of decision values, (n,) for two classes, else (n, C)."""
        ...


class DecisionValues(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are decision values already, to be calibrated by scikit-learn."""

    def fit(self, X: Array, y: NDArray[np.intp], sample_weight: Array | None = None) -> Self:
        """Remember the class numbers."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the rows."""
        return X

    def predict(self, X: Array) -> NDArray[np.intp]:
        """Return the class numbers."""
        return class_numbers(X)


def cross_fitted(
    codes: NDArray[np.intp],
    seed: int,
    decide: Callable[[Places, Places], Array],
    row_weights: Array | None = None,
) -> tuple[Calibration, str]:
    """Return a calibration that was fitted to decision values of held-out rows, and a note.

    Parameters
    ----------
    codes : ndarray of shape (N,)
        Class numbers, all of 0 to C − 1.
    seed : int
        Of the shuffled stratified folds.
    decide : callable
        Takes the rows to train on and the rows held out, and returns the decision values of a model
        of the first on the second: (n,) for two classes, else (n, C).
    row_weights : ndarray of shape (N,), optional
        How much each row counts in the calibration.

    Raises
    ------
    DataError
        If no class has two rows, or a model can't be fitted to the rows of a fold.

    Notes
    -----
    The row of a single-row class is trained on and never held out: it has no weight in the
    calibration, and no row is likely to be of that class.

    Examples
    --------
    >>> rows = np.arange(20.0)
    >>> found, note = cross_fitted(np.repeat([0, 1], 10), 0, lambda _, held_out: rows[held_out])
    >>> found.predict_proba(np.array([0.0, 19.0])).round(1)
    array([[1., 0.],
           [0., 1.]])
    """
    # It brings a second's worth of other estimators, and few models need it.
    from sklearn.calibration import CalibratedClassifierCV

    plan = plan_folds(codes, FOLDS)
    n_rows, n_classes = len(codes), int(codes.max()) + 1
    values = np.zeros(n_rows if n_classes == 2 else (n_rows, n_classes))
    for training, held_out in plan.splits(codes, seed):
        try:
            values[held_out] = decide(training, held_out)
        except DataError as error:
            raise DataError(
                f"Probabilities need fits on parts of the rows, and the one on {len(training)} of"
                f" {n_rows} failed: {error}"
            ) from error
    weights = row_weights
    if len(plan.always):
        weights = np.ones(n_rows) if row_weights is None else row_weights.copy()
        weights[plan.always] = 0.0
    whole = [(np.arange(n_rows), np.arange(n_rows))]
    model = CalibratedClassifierCV(DecisionValues(), method="sigmoid", cv=whole, ensemble=False)
    model.fit(values, codes, sample_weight=weights)
    note = f"probabilities by sigmoids of the decision values in {plan.folds}-fold cross-validation"
    return model.calibrated_classifiers_[0], "; ".join([note, *plan.notes])
