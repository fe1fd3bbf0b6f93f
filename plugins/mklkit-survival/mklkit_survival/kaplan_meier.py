"""The Kaplan-Meier curve, and the estimator that predicts it for every sample."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
from sklearn.base import BaseEstimator

from mklkit.plugin import Array
from mklkit_survival.times import read_times

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


@attrs.frozen(eq=False)
class KaplanMeier:
    """The Kaplan-Meier estimate of the share that survives.

    Parameters
    ----------
    times : ndarray of shape (E,)
        The distinct times of events.
    survival : ndarray of shape (E,)
        The share that survives each of them.
    errors : ndarray of shape (E,)
        The standard errors of log(−log S) (Greenwood's formula).

    Examples
    --------
    >>> curve = KaplanMeier.of(np.array([[1.0, 1], [2.0, 0], [3.0, 1], [4.0, 0]]))
    >>> curve.at(np.array([0.5, 1.0, 3.5])).tolist()
    [1.0, 0.75, 0.375]
    """

    times: Array
    survival: Array
    errors: Array

    @classmethod
    def of(cls, target: Array) -> Self:
        """Return the estimate from times and events (N, 2)."""
        times, counts = np.unique(target[target[:, 1] > 0, 0], return_counts=True)
        ordered = np.sort(target[:, 0])
        at_risk = len(ordered) - np.searchsorted(ordered, times)
        survival = np.cumprod(1 - counts / at_risk)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.cumsum(counts / (at_risk * (at_risk - counts)))
            errors = np.sqrt(variance) / np.abs(np.log(survival))
        return cls(times, survival, errors)

    @classmethod
    def of_censoring(cls, target: Array) -> Self:
        """Return the estimate of the share that is not censored; events come before, if tied."""
        times, counts = np.unique(target[target[:, 1] == 0, 0], return_counts=True)
        ordered, events = np.sort(target[:, 0]), np.sort(target[target[:, 1] > 0, 0])
        at_risk = len(ordered) - np.searchsorted(ordered, times)
        at_risk -= np.searchsorted(events, times, "right") - np.searchsorted(events, times)
        return cls(times, np.cumprod(1 - counts / at_risk), np.full(len(times), np.nan))

    def at(self, times: Array) -> Array:
        """Return the share that survives each time (T,)."""
        return self._of(np.concatenate([[1.0], self.survival]), times)

    def interval(self, times: Array) -> tuple[Array, Array]:
        """Return the 95 % confidence limits at each time (T,), on the scale of log(−log S)."""
        survival = self.at(times)
        errors = self._of(np.concatenate([[0.0], self.errors]), times)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low, high = (survival ** np.exp(sign * NORMAL * errors) for sign in (1, -1))
        known = np.isfinite(errors) & (survival > 0)
        return np.where(known, low, survival), np.where(known, high, survival)

    @property
    def median(self) -> float:
        """The first time that less than half survive; infinity if more do until the last event."""
        reached = np.flatnonzero(self.survival <= 0.5)
        return float(self.times[reached[0]]) if len(reached) else float("inf")

    def _of(self, values: Array, times: Array) -> Array:
        return np.asarray(values[np.searchsorted(self.times, times, side="right")])


class KaplanMeierBaseline(BaseEstimator):
    """The same risk for every sample, and the Kaplan-Meier curve of the training samples.

    Examples
    --------
    >>> model = KaplanMeierBaseline().fit(np.zeros((2, 1)), np.array([[1.0, 1], [2.0, 0]]))
    >>> model.predict(np.zeros((1, 1))), model.predict_survival_function(np.zeros((1, 1)), [1.5])
    (array([0.]), array([[0.5]]))
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the curve of times and events.

        Parameters
        ----------
        X : array-like of shape (N, d)
            Not used.
        y : structured array, DataFrame or array-like of shape (N, 2)
            Times and events.

        Returns
        -------
        KaplanMeierBaseline
            The estimator itself.
        """
        self.curve_ = KaplanMeier.of(read_times(y))
        return self

    def predict(self, X: Any) -> Array:
        """Return zeros, a risk for each sample (n,)."""
        return np.zeros(len(X))

    def predict_survival_function(self, X: Any, times: Any = None) -> Array:
        """Return the curve at times (T,), by default those of events, for each sample (n, T)."""
        curve = self.curve_
        return np.tile(curve.at(curve.times if times is None else np.asarray(times)), (len(X), 1))
