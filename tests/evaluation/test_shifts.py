"""Shifts of columns between training samples and others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import kurtosis

from mklkit.datasets.encoder import TableEncoder
from mklkit.evaluation.shifts import ColumnShifts
from mklkit.numerics.moments import column_moments


def frame(values: np.ndarray, names: str = "x") -> pd.DataFrame:
    """Return a table of numbers."""
    return pd.DataFrame(values, columns=[f"{names}_{place}" for place in range(values.shape[1])])


def test_moments_are_those_of_pandas_and_scipy() -> None:
    values = np.random.default_rng(0).lognormal(5, 1, size=(60, 3))
    values[:7, 1] = np.nan
    table = pd.DataFrame(values)
    expected = [
        table.count(),
        table.mean(),
        table.std(),
        kurtosis(values, fisher=False, nan_policy="omit"),
    ]
    assert column_moments(values) == pytest.approx(np.array(expected, float))
    sparse = np.where(np.random.default_rng(1).random((60, 3)) < 0.7, 0, values[:, [0, 2, 0]])
    assert column_moments(csr_array(sparse).tocsc()) == pytest.approx(column_moments(sparse))


def test_columns_are_compared_with_training_in_parts() -> None:
    rng = np.random.default_rng(2)
    training, cohort = frame(rng.normal(1000, 3, (80, 6))), frame(rng.normal(1000, 3, (60, 6)))
    cohort["x_1"] += 4
    cohort["x_4"] = 1000 + 3 * (cohort["x_4"] - 1000)
    cohort.loc[:9, "x_2"] = np.nan
    shifts = ColumnShifts.of(TableEncoder().fit(training))
    shifts.add(cohort[:25])
    shifts.add(cohort[25:])
    table = shifts.table().set_index("column")
    difference = (cohort.mean() - training.mean()) / training.std()
    assert table["shift"].to_numpy() == pytest.approx(difference.to_numpy())
    assert table["ratio"].to_numpy() == pytest.approx((cohort.std() / training.std()).to_numpy())
    assert table["mean"].to_numpy() == pytest.approx(cohort.mean().to_numpy())
    assert table["values"].tolist() == [60, 60, 50, 60, 60, 60]
    assert table.index[table["shifted"]].tolist() == ["x_1", "x_4"]
    (sentence,) = shifts.sentences()
    assert sentence.startswith("2 of 6 numeric columns have shifted")
    assert "'x_1' +" in sentence
    assert "deviation of 'x_4' 3" in sentence
    assert shifts.sentences(but=["x_1", "x_4"]) == []


@pytest.mark.parametrize("skewed", [False, True])
def test_cohorts_like_the_training_samples_are_rarely_told(skewed: bool) -> None:
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(100):
        both = rng.normal(size=(130, 30))
        if skewed:
            both = np.exp(both / 2)
        shifts = ColumnShifts.of(TableEncoder().fit(frame(both[:80])))
        shifts.add(frame(both[80:]))
        told += bool(shifts.sentences())
    # A binomial share of 0.05 is above 0.12 in one of five hundred such runs.
    assert told <= 12


def test_many_shifts_are_counted_by_source() -> None:
    rng = np.random.default_rng(4)
    training = pd.concat([frame(rng.normal(size=(50, 40)), s) for s in ("mrna", "prot")], axis=1)
    cohort = training.copy()
    cohort.iloc[:, :25] += 2
    shifts = ColumnShifts.of(TableEncoder().fit(training))
    shifts.add(cohort)
    sources = {s: [n for n in training if n.startswith(s)] for s in ("mrna", "prot")}
    first, second = shifts.sentences(sources)
    assert first.endswith("and 21 more")
    assert second == "shifted columns by source: mrna 25 of 40, prot 0 of 40"


def test_only_gross_shifts_are_told_where_asked() -> None:
    rng = np.random.default_rng(5)
    training = frame(rng.normal(size=(400, 2)))
    cohort = training.assign(x_0=training["x_0"] + 0.6, x_1=training["x_1"] + 1.6)
    shifts = ColumnShifts.of(TableEncoder().fit(training))
    shifts.add(cohort)
    (sentence,) = shifts.sentences(gross=True)
    assert "x_1" in sentence
    assert "x_0" not in sentence
    assert "'x_0'" in shifts.sentences()[0]


@pytest.mark.parametrize("value", [5.0, 0.1, 1003.7])
def test_a_constant_column_is_told_as_such(value: float) -> None:
    training = frame(np.random.default_rng(4).normal(1000, 3, (80, 2)))
    shifts = ColumnShifts.of(TableEncoder().fit(training))
    cohort = training.assign(x_1=value)
    shifts.add(cohort[:30])
    shifts.add(cohort[30:])
    table = shifts.table().set_index("column")
    assert table.loc["x_1", "ratio"] == 0
    assert table.loc["x_0", "ratio"] == pytest.approx(1)
    (sentence,) = shifts.sentences()
    assert f": 'x_1' is constant ({value:g}; 1" in sentence
