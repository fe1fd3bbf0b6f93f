"""Times with censoring: how they are read, and what stands for them where kernels are compared."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit import DataError
from mklkit.plugin import Array, TargetKind
from mklkit_survival.risk_sets import RiskSets, martingale_residuals

EVENTS = frozenset(
    [
        *("1", "1.0", "true", "t", "yes", "y", "event"),
        *("died", "dead", "death", "deceased", "failed", "failure"),
        *("relapse", "relapsed", "recurred", "recurrence", "progressed", "progression"),
    ]
)
CENSORED = frozenset(
    [
        *("0", "0.0", "false", "f", "no", "n", "censored", "event-free"),
        *("alive", "living", "survived", "disease-free", "diseasefree"),
    ]
)
"""The words for events and for censoring, in lower case; cBioPortal's begin with 0: or 1:."""
SHOWN = 4
TRUNCATED = (
    "Samples that enter late (left truncation: a start beside the time and the event) are not"
    " supported: leave out the column of starts, if all samples are followed from time 0."
)


class SurvivalTimes(TargetKind):
    """A time per sample, and whether it ended with the event or with censoring."""

    name: ClassVar[str] = "times"
    words: ClassVar[str] = "times with censoring (survival)"

    def read(self, y: Any) -> Array:
        """Return times and events (N, 2), the events 0 and 1.

        Parameters
        ----------
        y : structured array, DataFrame, array-like of shape (N, 2) or pair of arrays
            scikit-survival's structured array of an event and a time, in this order, or two
            columns: the time, then the event as 0 and 1, as booleans or as words.

        Returns
        -------
        ndarray of shape (N, 2)
            The times and the events.

        Raises
        ------
        DataError
            For times that are not above 0 and finite, other events than these, starts of late
            entries, or no event at all.
        """
        target = read_times(y)
        if not target[:, 1].any():
            raise DataError(
                f"All {_samples(len(target))} are censored: without an event, nothing can"
                " be learned. Is the column of events the right one?"
            )
        return target

    def strata(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the events, by which folds are stratified."""
        return values[:, 1].astype(int)

    def response(self, values: Array, row_weights: Array | None = None) -> Array:
        """Return the martingale residuals of the null model, with which kernels are aligned."""
        return martingale_residuals(np.asarray(values, np.float64), row_weights)

    def losses(self, decided: Array, values: Array) -> Array:
        """Return what each sample adds to −ℓ, the negative log partial likelihood (Breslow's)."""
        risk_sets = RiskSets.of(np.asarray(values, np.float64), "breslow")
        return risk_sets.at(np.asarray(decided, np.float64)).losses()


TIMES = SurvivalTimes()


def read_times(y: Any) -> Array:
    """Return times and events (N, 2); there may be no event."""
    times, events = _parts(y)
    return np.column_stack([_numbers(times), _events(events)])


def as_structured(target: Array) -> NDArray[Any]:
    """Return times and events (N, 2) as scikit-survival's structured array."""
    y = np.empty(len(target), [("event", bool), ("time", np.float64)])
    y["event"], y["time"] = target[:, 1] > 0, target[:, 0]
    return y


def _samples(number: int) -> str:
    return f"{number} sample{'s' * (number != 1)}"


def _parts(y: Any) -> tuple[pd.Series, pd.Series]:
    """Return the column of times and that of events."""
    if isinstance(y, tuple) and len(y) == 2:
        y = pd.DataFrame({"time": pd.Series(y[0]), "event": pd.Series(y[1])})
    names = None if isinstance(y, pd.DataFrame) else np.asarray(y).dtype.names
    if names is not None:
        fields = np.asarray(y)
        y = pd.DataFrame({name: fields[name] for name in names})
        if y.shape[1] == 2:
            # scikit-survival's arrays have the event first.
            y = y.iloc[:, ::-1]
    columns = y if isinstance(y, pd.DataFrame) else pd.DataFrame(np.asarray(y))
    if columns.shape[1] == 3:
        raise DataError(TRUNCATED)
    if columns.shape[1] != 2:
        raise DataError(
            "Survival needs two columns per sample, a time and whether the event happened; got"
            f" {columns.shape[1]}."
        )
    times, events = columns.iloc[:, 0], columns.iloc[:, 1]
    if _is_flag(times) and not _is_flag(events):
        raise DataError(
            "The first column holds events and the second times: exchange them (times first)."
        )
    return times, events


def _is_flag(column: pd.Series) -> bool:
    """Return whether a column holds nothing but events and censoring."""
    values = {str(value).strip().lower() for value in column.unique()}
    return len(values) > 1 and values <= EVENTS | CENSORED


def _numbers(column: pd.Series) -> Array:
    """Return the times."""
    if column.isna().any():
        raise DataError(f"{_samples(int(column.isna().sum()))} without a time.")
    is_date = pd.api.types.is_datetime64_any_dtype(column)
    numbers = pd.to_numeric(column, errors="coerce") if not is_date else column.map(lambda _: None)
    wrong = np.flatnonzero(numbers.isna())
    if len(wrong):
        raise DataError(
            "Times must be numbers, such as days from diagnosis to death or to the last visit; that"
            f" of sample {wrong[0]} (counted from 0) is {str(column.iloc[wrong[0]])!r}."
        )
    times = numbers.to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(times) & (times > 0)))
    if len(wrong):
        raise DataError(
            f"Times must be finite and above 0, and {len(wrong)} of {len(times)} are not: the first"
            f" is {times[wrong[0]]:g}, of sample {wrong[0]} (counted from 0). Leave out samples"
            " without follow-up, or give events of the first day half a day."
        )
    return times


def _events(column: pd.Series) -> Array:
    """Return 1 for events and 0 for censoring."""
    if column.isna().any():
        raise DataError(f"{_samples(int(column.isna().sum()))} without an event or its absence.")
    words = column.map(lambda value: str(value).strip().lower())
    # As in cBioPortal's files, "1:DECEASED".
    words = words.str.replace(r"^[01]:", "", regex=True)
    known = {**dict.fromkeys(EVENTS, 1.0), **dict.fromkeys(CENSORED, 0.0)}
    events = words.map(known)
    if events.isna().any():
        others = column[events.isna().to_numpy()].unique()[:SHOWN].tolist()
        raise DataError(
            "Events must be 1 and 0, booleans, or words such as 'died' and 'censored'; got"
            f" {', '.join(repr(str(value)) for value in others)}. Recode the column: 1 if the event"
            " happened at that time, 0 if the sample was last seen without it."
        )
    return events.to_numpy(dtype=np.float64)
