"""Numbers as targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import Pipeline

from mklkit.datasets.pipeline import model_pipeline
from mklkit.datasets.target import learned_numbers
from mklkit.errors import DataError, listed
from mklkit.estimators.model_settings import ModelSettings
from mklkit.estimators.regressor import MKLRegressor
from mklkit.evaluation.number_scores import NUMBER_SCORES, R2, score_numbers
from mklkit.evaluation.pooled_r2 import HeldOut, r2_of_split
from mklkit.evaluation.score import Score, Scorer
from mklkit.evaluation.tasks.base import LEAF, Task
from mklkit.protocols import Array
from mklkit.protocols import Task as Learned
from mklkit.protocols.splits.split import Indices


@attrs.frozen(eq=False)
class Numbers(Task):
    """Numbers, by R² in shuffled folds; for several targets, by its mean."""

    kind: ClassVar[str] = "regression"
    learned: ClassVar[Learned] = "numbers"
    default_methods: ClassVar[tuple[str, ...]] = ("centered-alignment", "ifsl")
    estimators: ClassVar[tuple[str, Callable[[Any], bool]]] = ("regressor", is_regressor)
    value: ClassVar[str] = "number"
    values: ClassVar[str] = "numbers"
    has_classes: ClassVar[bool] = False
    fold_rows: ClassVar[int] = 2
    scores: ClassVar[tuple[Score, ...]] = NUMBER_SCORES
    guess: ClassVar[str] = "the median"
    guessed_by: ClassVar[str] = "mean_absolute_error"
    score = staticmethod(score_numbers)
    names: list[str] = attrs.field(factory=lambda: ["target"])

    def read(self, column: pd.Series) -> pd.Series:
        """Return the numbers in float64."""
        return learned_numbers(column, "choose another column by --target")

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Refuse shapes other than the model's, gaps, text, and the same number in all rows."""
        targets = super().checked(y, n_rows)
        try:
            numbers = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("The model predicts numbers, and y holds something else.") from error
        if not np.isfinite(numbers).all():
            raise DataError("An infinite number can't be predicted: leave such rows out.")
        if n_rows < 2 or (np.ptp(numbers, axis=0) == 0).any():
            raise DataError("Different numbers are needed; those of a target are the same.")
        return numbers

    def pipeline(self, settings: ModelSettings, scoring: Any = None) -> Pipeline:
        """Return the steps with an :class:`mklkit.MKLRegressor`; refuse options for classes."""
        reason = (
            f"the target {listed(self.names)} holds numbers, which are learned by regression;"
            " --task classification treats them as classes"
        )
        return model_pipeline(settings, MKLRegressor, "regress", scoring, reason)

    def held_out(self, targets: NDArray[Any], tests: Sequence[Indices]) -> HeldOut:
        """Return the targets that the splits score."""
        return HeldOut(targets, tests)

    def scorer(self, name: str, variance: Array | None = None) -> Scorer:
        """Return scikit-learn's scorer, or for R² one that divides by the ``variance``."""
        scorer = super().scorer(name)
        if name != R2.name or variance is None:
            return scorer
        return lambda model, rows, truth: r2_of_split(truth, model.predict(rows), variance)

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

    def guesser(self) -> Any:
        """Return the mean of the training targets."""
        return DummyRegressor()

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the numbers, a column for each target."""
        numbers = np.asarray(model.predict(rows))
        several = [f"prediction_{name}" for name in self.names]
        return pd.DataFrame(numbers, columns=several if numbers.ndim > 1 else ["prediction"])

    def comparable(self, column: pd.Series) -> Any:
        """Return floats."""
        return pd.to_numeric(column, errors="coerce").to_numpy(float)
