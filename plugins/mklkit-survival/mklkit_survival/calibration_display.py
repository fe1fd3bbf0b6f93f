"""Calibration of survival probabilities at one time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np

from mklkit import DataError
from mklkit.plotting import Display
from mklkit.plugin import Array
from mklkit_survival.kaplan_meier import KaplanMeier
from mklkit_survival.times import read_times

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POINTS = "#0072B2"
"""The blue of Okabe and Ito, as in mklkit's other figures."""
FAINT = 0.4


@attrs.define(eq=False, repr=False, slots=False)
class SurvivalCalibrationDisplay(Display):
    """The share of samples that survive a time, beside the predicted probability, by groups.

    Parameters
    ----------
    predicted : ndarray of shape (B,)
        The mean predicted probability of each group.
    observed : ndarray of shape (B,)
        The share that survives, by Kaplan-Meier.
    low, high : ndarray of shape (B,)
        Its 95 % confidence limits.
    horizon : float
        The time.
    unit : str, default=""
        What times are, such as ``"months"``.

    Examples
    --------
    >>> from mklkit_survival import SurvivalCalibrationDisplay
    >>> y = np.array([[1.0, 1], [2.0, 1], [3.0, 0], [4.0, 1]])
    >>> predicted = np.array([0.1, 0.2, 0.8, 0.9])
    >>> display = SurvivalCalibrationDisplay.from_predictions(y, predicted, 2.5, groups=2)
    >>> display.observed.tolist()
    [0.0, 1.0]
    """

    predicted: Array
    observed: Array
    low: Array
    high: Array
    horizon: float
    unit: str = ""

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, horizon: float, *, groups: int = 5, unit: str = ""
    ) -> Self:
        """Return the display of predicted probabilities to survive a time.

        Parameters
        ----------
        y : structured array, DataFrame or array-like of shape (n, 2)
            Times and events of samples that the model has not learned from.
        probabilities : array-like of shape (n,)
            The predicted probabilities.
        horizon : float
            The time.
        groups : int, default=5
            How many groups of equal size, from the lowest probability.
        unit : str, default=""
            What times are.

        Returns
        -------
        SurvivalCalibrationDisplay
            Not drawn yet: call ``plot``.

        Raises
        ------
        DataError
            If there are fewer samples than groups, or other numbers of probabilities.
        """
        target, values = read_times(y), np.asarray(probabilities, np.float64)
        if len(values) != len(target) or len(target) < groups:
            raise DataError(
                f"Expected a probability for each of at least {groups} samples; got {len(values)}"
                f" for {len(target)}."
            )
        parts = np.array_split(np.argsort(values, kind="stable"), groups)
        at = np.array([horizon])
        curves = [KaplanMeier.of(target[part]) for part in parts]
        limits = [curve.interval(at) for curve in curves]
        return cls(
            np.array([values[part].mean() for part in parts]),
            np.array([curve.at(at)[0] for curve in curves]),
            np.array([low[0] for low, _ in limits]),
            np.array([high[0] for _, high in limits]),
            horizon,
            unit,
        )

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, horizon: float, *, groups: int = 5, unit: str = ""
    ) -> Self:
        """Return the display of a fitted model.

        Parameters
        ----------
        model : MKLSurvival
            A fitted model.
        X : array-like or DataFrame of shape (n, d)
            Samples that it has not learned from.
        y : structured array, DataFrame or array-like of shape (n, 2)
            Their times and events.
        horizon : float
            The time.
        groups : int, default=5
            How many groups of equal size.
        unit : str, default=""
            What times are.

        Returns
        -------
        SurvivalCalibrationDisplay
            Not drawn yet: call ``plot``.
        """
        probabilities = model.predict_survival_function(X, [horizon])[:, 0]
        return cls.from_predictions(y, probabilities, horizon, groups=groups, unit=unit)

    def _check(self) -> None:
        if len(self.predicted) == 0:
            raise DataError("There is no group to draw.")

    def _size(self) -> tuple[float, float]:
        return 4.2, 4.0

    def _draw(self, ax: Axes) -> None:
        from matplotlib import rcParams

        ink = rcParams["text.color"]
        ax.axline((0, 0), slope=1, color=ink, alpha=FAINT, linewidth=1, zorder=0)
        ends = self.observed - self.low, self.high - self.observed
        ax.errorbar(
            self.predicted, self.observed, np.abs(ends), fmt="o-", color=POINTS, capsize=3, lw=1
        )
        horizon = f"{self.horizon:.3g}"
        at = f"{horizon} {self.unit}" if self.unit else f"time {horizon}"
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set(xlabel=f"predicted probability to survive {at}", ylabel=f"share surviving {at}")
