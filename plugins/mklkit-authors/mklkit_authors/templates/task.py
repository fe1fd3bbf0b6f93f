"""Intervals: numbers of which only two bounds are known, such as those below a detection limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from attrs.validators import gt
from mklkit import DataError
from mklkit.plotting import CurvesDisplay
from mklkit.plugin import (
    Answers,
    Learner,
    LearnerTraits,
    LinearDecision,
    Picture,
    Score,
    Section,
    Target,
    TargetColumn,
    TargetEstimator,
    TargetKind,
    Task,
    TrainingView,
    finite_number,
    register,
)
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator

SHARES = np.linspace(0, 1, 21)


def distance(numbers: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return how far numbers (n,) are outside of their bounds (n, 2)."""
    return np.abs(numbers - np.clip(numbers, *bounds.T))


class SketchBounds(TargetKind):
    """A lower and an upper bound per sample."""

    name: ClassVar[str] = "bounds"
    words: ClassVar[str] = "bounds of numbers"

    def read(self, y: Any) -> np.ndarray:
        """Return the bounds (N, 2) that ``fit`` gets."""
        numbers = pd.DataFrame(y).apply(pd.to_numeric, errors="coerce")  # Text becomes NaN.
        bounds = numbers.to_numpy(dtype=np.float64)
        if bounds.shape[1] != 2 or not (bounds[:, 0] <= bounds[:, 1]).all():
            raise DataError("Expected two numbers per sample, the bounds, the lower one first.")
        return bounds

    def response(self, values: np.ndarray, row_weights: Any = None) -> np.ndarray:
        """Return the midpoints (N,), with which kernels are aligned."""
        return values.mean(axis=1)

    def losses(self, decided: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the squared distances (n,), by which single kernels are compared."""
        return distance(decided, values) ** 2


BOUNDS = SketchBounds()


@register
@attrs.frozen
class SketchRidge(Learner):
    """Minimise squared distances from the intervals, with a ridge penalty.

    Parameters
    ----------
    alpha : float, default=0.1
        The penalty, times the mean of k(x, x).
    """

    name: ClassVar[str] = "bounds-ridge"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_gram=True, learns=("bounds",), search_space={"alpha": (1.0, 0.1, 0.01)}
    )

    alpha: float = attrs.field(default=0.1, converter=float, validator=[gt(0), finite_number])

    def fit(self, side: TrainingView, target: Target) -> LinearDecision:
        """Return the function learned from bounds (N, 2)."""
        gram = side.gram()
        bounds = target.values
        penalty = self.alpha * np.trace(gram) / len(gram)
        factor = cho_factor(gram + penalty * np.eye(len(gram)))
        numbers = bounds.mean(axis=1)
        for _ in range(50):  # Each step lowers the objective: the nearest number, then its ridge.
            nearest = np.clip(numbers, *bounds.T)
            coefficients = cho_solve(factor, nearest - nearest.mean())
            numbers = gram @ coefficients + nearest.mean()
        return LinearDecision(coefficients, float(nearest.mean()))


@register
class SketchRegressor(TargetEstimator):
    """Predict a number from samples and the bounds of their numbers."""

    kind: ClassVar[TargetKind] = BOUNDS


class Midpoint(BaseEstimator):
    """Always predict the median midpoint."""

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Remember it."""
        self.number_ = float(np.median(y.mean(axis=1)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the number for each sample."""
        return np.full(len(X), self.number_)


def mean_distance(answers: Answers) -> float:
    """Return the mean distance of predictions from their intervals."""
    return float(distance(answers.predictions, answers.truth).mean())


def share_inside(answers: Answers) -> float:
    """Return the share of predictions that are in their intervals."""
    return float((distance(answers.predictions, answers.truth) == 0).mean())


@register
@attrs.frozen(eq=False)
class Sketch(Task):
    """Numbers between a lower and an upper bound, by their distance from the interval."""

    name: ClassVar[str] = "sketch"
    noun: ClassVar[str] = "interval"
    plural: ClassVar[str] = "intervals"
    kinds: ClassVar[tuple[TargetKind, ...]] = (BOUNDS,)
    estimator: ClassVar[type] = SketchRegressor
    columns: ClassVar[tuple[TargetColumn, ...]] = (
        TargetColumn("lower", "The column of the lower bounds."),
        TargetColumn("upper", "The column of the upper bounds."),
    )
    scores: ClassVar[tuple[Score, ...]] = (
        Score("neg_distance", mean_distance, unit="error", low=0, counts=""),
        Score("inside", share_inside, unit="share", low=0, high=1, counts="samples"),
        Score("baseline", lambda a: a.baseline, words="median", unit="error", ranks=False),
    )
    guess: ClassVar[str] = "the median midpoint"
    guessed_by: ClassVar[str] = "distance"
    n_predicted: ClassVar[int] = 1
    least_fold: ClassVar[int] = 2

    targets: tuple[str, ...] = attrs.field(default=("lower", "upper"), converter=tuple)

    def example(self, numbers: np.ndarray) -> np.ndarray:
        """Return intervals around numbers, with which the checks try the task."""
        return np.column_stack([numbers - 0.2, numbers + 0.3])

    def read(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the bounds as numbers."""
        return pd.DataFrame(BOUNDS.read(columns), columns.index, columns.columns)

    def summary(self, targets: np.ndarray, counts: Any = None) -> str:
        """Return the range of the bounds."""
        return f"intervals from {targets.min():g} to {targets.max():g}"

    def baseline(self) -> Any:
        """Return the estimator of the median midpoint."""
        return Midpoint()

    def details(
        self, answers: Answers, truth: np.ndarray, predictions: np.ndarray, known: np.ndarray
    ) -> dict[str, Any]:
        """Return how far predictions are from their intervals, which a comparison keeps."""
        return {"distances": distance(predictions, truth).tolist()}

    def sections(
        self,
        data: Mapping[str, Any],
        methods: pd.DataFrame,
        details: Mapping[str, Sequence[dict[str, Any]]],
    ) -> Sequence[Section]:
        """Return a picture of how many samples are within each distance, by method."""
        curves = {}
        for method, runs in details.items():
            distances = np.concatenate([run["distances"] for run in runs])
            curves[method] = np.quantile(distances, SHARES), SHARES
        display = CurvesDisplay(curves, "distance", "share of samples")
        caption = "The share of test samples that are within a distance of their intervals."
        return [Section("Distances", [Picture(display, caption, f"Distances on {data['name']}")])]
