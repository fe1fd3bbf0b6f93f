"""Regression: numbers as targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.dummy import DummyRegressor

from mklkit.datasets.target import learned_numbers, looks_like_numbers, scored_numbers
from mklkit.errors import DataError, listed
from mklkit.estimators.regressor import MKLRegressor
from mklkit.evaluation.leakage import columns_giving_number
from mklkit.evaluation.number_scores import NUMBER_SCORES, R2, score_numbers
from mklkit.evaluation.pooled_r2 import HeldOut, r2_of_split
from mklkit.protocols import NUMBERS, Array, Score, Scorer, TargetKind, Task
from mklkit.protocols.splits.split import Indices
from mklkit.registry.hookspecs import register
from mklkit.tasks.grids_of_trees import grids_of_trees

LEAF = 10
"""Samples per leaf of gradient boosting; with scikit-learn's 20 it can't split a few dozen."""


@register
@attrs.frozen(eq=False)
class Regression(Task):
    """Predict numbers, by R² in shuffled folds; for several targets, by its mean.

    Parameters
    ----------
    targets : tuple of str, default=("target",)
        The names of the columns of numbers.

    Examples
    --------
    >>> task = Regression(["height", "weight"])
    >>> task.n_targets, task.ranked_by[0]
    (2, 'r2')
    """

    name: ClassVar[str] = "regression"
    noun: ClassVar[str] = "number"
    plural: ClassVar[str] = "numbers"
    kinds: ClassVar[tuple[TargetKind, ...]] = (NUMBERS,)
    estimator: ClassVar[type] = MKLRegressor
    estimator_noun: ClassVar[str] = "regressor"
    scores: ClassVar[tuple[Score, ...]] = NUMBER_SCORES
    guess: ClassVar[str] = "the median"
    guessed_by: ClassVar[str] = "mean_absolute_error"
    step: ClassVar[str] = "regress"
    least_fold: ClassVar[int] = 2
    default_methods: ClassVar[tuple[str, ...]] = ("centered-alignment", "ifsl")

    def read(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the numbers in float64."""
        return pd.DataFrame({name: learned_numbers(columns[name]) for name in columns})

    def read_scored(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the numbers in float64; errors are defined for a single number too."""
        return pd.DataFrame({name: scored_numbers(columns[name]) for name in columns})

    @classmethod
    def claims(cls, columns: pd.DataFrame) -> bool:
        """Return whether there are several columns, or one that looks like numbers."""
        return columns.shape[1] > 1 or looks_like_numbers(columns.iloc[:, 0])

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Reject shapes other than the model's, gaps, text, and the same number in all samples."""
        targets = self.complete(y, n_rows)
        try:
            numbers = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("The model predicts numbers, and y holds something else.") from error
        if not np.isfinite(numbers).all():
            raise DataError("An infinite number can't be predicted: leave such samples out.")
        if n_rows < 2 or (np.ptp(numbers, axis=0) == 0).any():
            raise DataError("Different numbers are needed; those of a target are the same.")
        return numbers

    def check_scored(self, columns: pd.DataFrame) -> None:
        """Accept all values: text counts as missing, and a part of a table may have one number."""

    def summary(self, targets: NDArray[Any], counts: pd.Series | None = None) -> str:
        """Return the range of the numbers."""
        return f"numbers from {targets.min():g} to {targets.max():g}"

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Return whether an estimator is a regressor."""
        return bool(is_regressor(model))

    @property
    def why_no_classes(self) -> str:
        """Why options for classes do not apply, as a part of a sentence."""
        return (
            f"the target {listed(self.targets)} holds numbers, which are learned by regression;"
            " --task classification treats them as classes"
        )

    def held_out(self, targets: NDArray[Any], tests: Sequence[Indices]) -> HeldOut:
        """Return the targets that the splits score."""
        return HeldOut(targets, tests)

    def scorer(
        self, name: str, variance: Array | None = None, training: NDArray[Any] | None = None
    ) -> Scorer:
        """Return scikit-learn's scorer, or for R² one that divides by the ``variance``."""
        if name != R2.name or variance is None:
            return super().scorer(name, variance, training)
        return lambda model, rows, truth: r2_of_split(truth, model.predict(rows), variance)

    def score(
        self,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        counts: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> dict[str, Any]:
        """Return R², errors, and that of the median of the training samples."""
        return score_numbers(truth, predictions, training, counts, variance)

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return a linear model and two of trees."""
        # Importing it takes a while, and most commands do not need it.
        from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
        from sklearn.linear_model import RidgeCV
        from sklearn.multioutput import MultiOutputRegressor

        boosting = HistGradientBoostingRegressor(min_samples_leaf=LEAF, random_state=seed)
        return {
            "ridge regression": RidgeCV(np.logspace(-3, 3, 7)),
            "random forest": RandomForestRegressor(n_jobs=n_jobs, random_state=seed),
            "gradient boosting": boosting
            if self.n_targets == 1
            else MultiOutputRegressor(boosting),
        }

    def baseline_grids(self, is_fast: bool) -> Mapping[str, Mapping[str, Sequence[Any]]]:
        """Return the grids of trees; the linear model tunes itself."""
        grids = grids_of_trees(is_fast)
        if self.n_targets == 1:
            return grids
        boosting = grids["gradient boosting"].items()
        return grids | {"gradient boosting": {f"estimator__{k}": v for k, v in boosting}}

    def baseline(self) -> Any:
        """Return scikit-learn's estimator of the median, which errors are measured by."""
        return DummyRegressor(strategy="median")

    def guesser(self) -> Any:
        """Return scikit-learn's estimator of the mean, whose R² is 0."""
        return DummyRegressor()

    def gives(self, features: pd.DataFrame, targets: NDArray[Any]) -> list[str]:
        """Return the features with which a single target rises, or falls, in every sample."""
        return columns_giving_number(features, targets) if targets.ndim == 1 else []
