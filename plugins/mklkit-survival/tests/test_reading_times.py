"""Times and events in all forms, and messages on those that can't be learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from mklkit_survival import MKLSurvival, Survival
from mklkit_survival.times import TIMES, as_structured
from survival_problems import study

from mklkit import DataError

PAIRS = np.array([[3.0, 1], [5.0, 0], [2.5, 1], [4.0, 0]])


@pytest.mark.parametrize(
    "events",
    [
        [1, 0, 1, 0],
        [1.0, 0.0, 1.0, 0.0],
        [True, False, True, False],
        ["1", "0", "1", "0"],
        ["died", "alive", "died", "alive"],
        ["Dead", "Alive", "DEAD", "censored"],
        ["1:DECEASED", "0:LIVING", "1:DECEASED", "0:LIVING"],
        ["yes", "no", "yes", "no"],
        pd.Categorical(["event", "censored", "event", "censored"]),
    ],
)
def test_events_are_numbers_booleans_or_words(events: Any) -> None:
    columns = pd.DataFrame({"months": PAIRS[:, 0], "died": events})
    np.testing.assert_array_equal(TIMES.read(columns), PAIRS)
    np.testing.assert_array_equal(TIMES.read((PAIRS[:, 0], np.asarray(events))), PAIRS)


def test_structured_arrays_of_scikit_survival_are_read() -> None:
    y = as_structured(PAIRS)
    assert y.dtype.names == ("event", "time")
    np.testing.assert_array_equal(TIMES.read(y), PAIRS)
    renamed = np.array(y.tolist(), dtype=[("Status", bool), ("days", float)])
    np.testing.assert_array_equal(Survival().as_array(renamed), PAIRS)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0.0, 1], [2, 0]], "above 0, and 1 of 2 are not: the first is 0, of sample 0"),
        ([[3.0, 1], [-2, 0]], "the first is -2, of sample 1"),
        ([[np.inf, 1], [2, 0]], "must be finite"),
        ([[3.0, 0], [2, 0]], "All 2 samples are censored"),
        ([[3.0, 1], [np.nan, 0]], "1 sample without a time"),
        ([[3.0, 1], [2, np.nan]], "1 sample without an event"),
        ([[3.0, 1], [2, 2]], "Events must be 1 and 0.*got '2.0'"),
        ([[1, 3.0], [0, 2]], "exchange them"),
        ([[0.0, 3, 1], [1, 2, 0]], "left truncation"),
        ([3.0, 2.0], "two columns per sample.*got 1"),
        (pd.DataFrame({"t": ["soon", "2"], "e": [1, 0]}), "must be numbers.*sample 0.*'soon'"),
        (
            pd.DataFrame({"t": pd.to_datetime(["2020-01-01", "2021-01-01"]), "e": [1, 0]}),
            "must be numbers",
        ),
        (pd.DataFrame({"t": [3.0, 2], "e": ["cured", "died"]}), "got 'cured'.*Recode"),
    ],
)
def test_wrong_targets_say_what_is_wrong(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TIMES.read(y)
    with pytest.raises(DataError, match=message):
        MKLSurvival("linear").fit(np.eye(2), y)


def test_starts_in_a_structured_array_are_refused() -> None:
    y = np.array([(0.0, 2.0, True)], dtype=[("start", float), ("stop", float), ("event", bool)])
    with pytest.raises(DataError, match="enter late"):
        TIMES.read(y)


def test_folds_are_stratified_by_event() -> None:
    _, target, _ = study(100, 1)
    target[:, 1] = np.arange(100) < 10
    for split in Survival().splits(target, 5):
        assert target[split.test, 1].sum() == 2


def test_predictions_and_targets_of_a_table_are_compared() -> None:
    columns = pd.DataFrame({"time": [3.0, None, 2.0], "event": ["died", "alive", None]})
    values = Survival().comparable(columns)
    np.testing.assert_array_equal(values, [[3, 1], [np.nan, np.nan], [np.nan, np.nan]])
    risks = Survival().predicted(pd.DataFrame({"prediction": [0.1, -2], "median": [1.0, None]}))
    np.testing.assert_array_equal(risks, [0.1, -2])
