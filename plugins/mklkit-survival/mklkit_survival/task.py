"""The task of survival: a time per sample, and whether it ended with the event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.plugin import (
    Answers,
    Array,
    Picture,
    Score,
    Section,
    TargetColumn,
    TargetKind,
    Task,
    register,
)
from mklkit_survival.calibration_display import SurvivalCalibrationDisplay
from mklkit_survival.estimator import (
    MKLSurvival,
    is_survival_model,
    median_times,
    survival_probabilities,
)
from mklkit_survival.kaplan_meier import KaplanMeierBaseline
from mklkit_survival.kaplan_meier_display import KaplanMeierDisplay
from mklkit_survival.peers import peers
from mklkit_survival.scores import SURVIVAL_SCORES, SurvivalAnswers, scored_times
from mklkit_survival.times import TIMES, read_times


@register
@attrs.frozen(eq=False)
class Survival(Task):
    """Survival: times with censoring, by the concordance of predicted risks with them.

    Parameters
    ----------
    targets : tuple of str, default=("time", "event")
        The column of the times, and that of whether the event happened.

    Examples
    --------
    >>> Survival().summary(np.array([[3.0, 1], [5.0, 0], [8.0, 1]]))
    'times from 3 to 8, with 2 events among 3 samples'
    """

    name: ClassVar[str] = "survival"
    noun: ClassVar[str] = "survival time"
    plural: ClassVar[str] = "survival times"
    kinds: ClassVar[tuple[TargetKind, ...]] = (TIMES,)
    estimator: ClassVar[type] = MKLSurvival
    estimator_noun: ClassVar[str] = "survival model"
    columns: ClassVar[tuple[TargetColumn, ...]] = (
        TargetColumn("time", "The times until the event or the last visit, for --task survival."),
        TargetColumn("event", "Whether the event happened at that time: 1 or 0, or words."),
    )
    scores: ClassVar[tuple[Score, ...]] = SURVIVAL_SCORES
    guess: ClassVar[str] = "the Kaplan-Meier curve"
    guessed_by: ClassVar[str] = "concordance"
    step: ClassVar[str] = "survive"
    n_predicted: ClassVar[int | None] = 1
    least_fold: ClassVar[int] = 2
    default_methods: ClassVar[tuple[str, ...]] = ("centered-alignment", "stack-hazards")

    targets: tuple[str, ...] = attrs.field(default=("time", "event"), converter=tuple)

    def read(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return times and events as numbers."""
        return pd.DataFrame(TIMES.read(columns), columns.index, columns.columns)

    def check_scored(self, columns: pd.DataFrame) -> None:
        """Raise an error for wrong times and events; a part of a table may be without events."""
        read_times(columns)

    def as_array(self, y: Any) -> NDArray[Any]:
        """Return times and events (N, 2), also of scikit-survival's structured arrays."""
        return read_times(y)

    def comparable(self, columns: pd.DataFrame) -> NDArray[Any]:
        """Return times and events (n, 2), NaN if one is missing, or predicted risks (n,)."""
        if columns.shape[1] != len(self.targets):
            return super().comparable(columns)
        values = np.full(columns.shape, np.nan)
        complete = columns.notna().all(axis=1).to_numpy()
        values[complete] = read_times(columns[complete])
        return values

    def example(self, numbers: Array) -> NDArray[Any]:
        """Return times that are shorter for larger numbers, of which every third is censored."""
        times = np.exp(-numbers)
        censored = np.arange(len(times)) % 3 == 2
        return np.column_stack([np.where(censored, times / 2, times), ~censored])

    def summary(self, targets: NDArray[Any], counts: pd.Series | None = None) -> str:
        """Return the range of the times and the number of events."""
        times, events = targets.T
        extent = f"from {times.min():.4g} to {times.max():.4g}"
        return f"times {extent}, with {int(events.sum())} events among {len(times)} samples"

    def is_scorable(self, truth: NDArray[Any]) -> bool:
        """Return whether there is an event among several samples."""
        return len(truth) > 1 and bool(truth[:, 1].any())

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Return whether an estimator predicts survival functions."""
        return is_survival_model(model)

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return scikit-survival's elastic net, forest and boosting."""
        return dict(peers(seed, n_jobs))

    def baseline_grids(self, is_fast: bool) -> Mapping[str, Mapping[str, Sequence[Any]]]:
        """Return the grids of trees; the elastic net tunes itself."""
        leaves = [5, 15] if is_fast else [3, 5, 10, 15, 30]
        depths = [1, 3] if is_fast else [1, 2, 3, 5]
        return {
            "survival forest": {"estimator__min_samples_leaf": leaves},
            "survival boosting": {"estimator__max_depth": depths},
        }

    def baseline(self) -> Any:
        """Return the Kaplan-Meier curve."""
        return KaplanMeierBaseline()

    def answers(
        self,
        model: Any,
        rows: Any,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> Answers:
        """Return predicted risks, and survival functions if the model has them."""

        def curves(times: Array) -> Array | None:
            return survival_probabilities(model, rows, times)

        times = scored_times(truth, training)
        return SurvivalAnswers(
            truth,
            predictions,
            training=training,
            probabilities=curves(times) if len(times) else None,
            times=times,
            curves=curves,
        )

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the predicted risks, and the median survival times, empty if not reached."""
        table = pd.DataFrame({"prediction": np.asarray(model.predict(rows))})
        medians = median_times(model, rows)
        if medians is not None:
            table["median"] = np.where(np.isfinite(medians), medians, np.nan)
        return table

    def details(
        self, answers: Answers, truth: NDArray[Any], predictions: NDArray[Any], known: NDArray[Any]
    ) -> dict[str, Any]:
        """Return times, events, risks, and the probability to survive the horizon."""
        horizon = float(np.median(known[known[:, 1] > 0, 0]))
        probabilities: list[float] = []
        if isinstance(answers, SurvivalAnswers) and answers.curves is not None:
            curves = answers.curves(np.array([horizon]))
            probabilities = [] if curves is None else curves[:, 0].tolist()
        return {
            "times": truth[:, 0].tolist(),
            "events": truth[:, 1].tolist(),
            "risks": np.asarray(predictions).tolist(),
            "horizon": [horizon],
            "probabilities": probabilities,
        }

    def check_details(self, details: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        """Raise an error for details of other lengths or with other values than numbers."""
        lists = [details[name] for name in ("times", "events", "risks")]
        if details["probabilities"]:
            lists.append(details["probabilities"])
        columns = np.array([[float(value) for value in part] for part in lists])
        if not (np.isfinite(columns).all() and float(details["horizon"][0]) > 0):
            raise ValueError("times, events, risks and probabilities must be finite numbers")
        if not (columns[0] > 0).all() or not np.isin(columns[1], (0, 1)).all():
            raise ValueError("times must be above 0, and events 0 or 1")

    def sections(
        self,
        data: Mapping[str, Any],
        methods: pd.DataFrame,
        details: Mapping[str, Sequence[dict[str, Any]]],
    ) -> Sequence[Section]:
        """Return the Kaplan-Meier curves by predicted third and the calibration of the best."""
        if not details:
            return []
        method, runs = next(iter(details.items()))
        name = data["name"]
        target = np.column_stack(
            [np.concatenate([run[part] for run in runs]) for part in ("times", "events")]
        )
        shares = np.concatenate([ranks(np.array(run["risks"])) for run in runs])
        if not target[:, 1].any():
            return []
        thirds = KaplanMeierDisplay.from_predictions(target, shares)
        caption = (
            f"Kaplan-Meier curves of test samples by the third of the risk that {method} predicts,"
            " with 95 % confidence intervals and the numbers at risk; of repeated splits, a sample"
            " counts once for each."
        )
        parts = [Picture(thirds, caption, f"Survival by predicted third on {name}")]
        if all(run["probabilities"] for run in runs):
            [horizon] = runs[0]["horizon"]
            probabilities = np.concatenate([run["probabilities"] for run in runs])
            display = SurvivalCalibrationDisplay.from_predictions(target, probabilities, horizon)
            caption = (
                f"The share of test samples that survive time {horizon:.3g}, beside the"
                f" probability that {method} predicts, in five groups of equal size."
            )
            parts.append(Picture(display, caption, f"Calibration on {name}"))
        return [Section("Survival", parts)]


def ranks(values: Array) -> Array:
    """Return the place of each value among all, from 0 to 1, the same for equal ones."""
    ordered = np.sort(values)
    left, right = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return (left + right) / (2 * len(values))
