"""Reasons for optimistic scores: true ones are told, and chance ones hardly ever."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

from mklkit.evaluation import leakage
from mklkit.evaluation.leakage import (
    columns_giving_class,
    gives_class,
    gives_number,
    leakage_notes,
)


@pytest.mark.parametrize(
    "column", [[0] * 6 + [1] * 6, [0] * 3 + [1] * 6 + [2] * 3, list(range(12)), [5] * 12]
)
def test_noise_seldom_tells_the_class(column: list[int]) -> None:
    """Of all orders of six labels of each class, at most one in a hundred is reported."""
    orders = list(combinations(range(12), 6))
    told = 0
    for members in orders:
        labels = np.where(np.isin(np.arange(12), members), "ill", "well")
        told += gives_class(pd.Series(column), labels, 1)
    assert told <= 0.01 * len(orders)


def test_a_column_tells_the_class_where_chance_would_not() -> None:
    """Two values can be given classes in four ways, of the 924 orders of the labels."""
    column, labels = pd.Series(["x", "y"]).repeat(6), np.repeat(["ill", "well"], 6)
    assert [gives_class(column, labels, n) for n in (1, 2, 3)] == [True, True, False]
    assert not gives_class(column, labels[::-1][[*range(11), 0]], 1)
    # In intervals: below, between and above two cuts.
    dose, labels = pd.Series(np.arange(60.0)), np.repeat(["low", "well", "high"], 20)
    assert gives_class(dose, labels, 100)
    assert not gives_class(dose, np.roll(labels, 5), 100)
    # With gaps in a tenth of the rows, but no more.
    for gaps, told in ((6, True), (7, False)):
        assert gives_class(dose.where(dose >= gaps), labels, 100) == told
    assert not gives_class(dose, np.repeat("well", 60), 1)


def test_blocks_of_columns_are_told_as_each_alone() -> None:
    draw = np.random.default_rng(0)
    labels = np.repeat(["ill", "well"], 20)
    table = pd.DataFrame(draw.integers(0, 3, (40, 5)), columns=list("abcde"))
    table["dose"] = np.arange(40.0)
    table["gap"] = table["dose"].where(table["dose"] > 1)
    table["site"] = np.where(labels == "ill", "north", "south")
    table["noise"] = draw.normal(size=40)
    each = [name for name in table if gives_class(table[name], labels, table.shape[1])]
    assert each == ["dose", "gap", "site"]
    assert columns_giving_class(table, labels) == each


def test_numbers_that_rise_or_fall_with_a_column() -> None:
    price = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0])
    for column in (price**3, -np.exp(price), pd.Series(price).rank()):
        assert gives_number(pd.Series(column), price, 1)
    assert not gives_number(pd.Series(np.abs(price - 3)), price, 1)
    # Different numbers beside the same value, and the same number beside different values.
    assert not gives_number(pd.Series(np.minimum(price, 5)), price, 1)
    assert not gives_number(pd.Series(price), np.minimum(price, 5), 1)
    # Two of the 720 orders of six numbers rise or fall: too many for four columns of noise.
    six = pd.Series(np.arange(6.0))
    assert [gives_number(six, six.to_numpy(), n) for n in (3, 4)] == [True, False]
    told = [gives_number(six, np.array(order, float), 1) for order in permutations(range(6))]
    assert sum(told) == 2


def test_equal_rows_and_telling_columns_are_counted_once() -> None:
    features = pd.DataFrame({"code": np.repeat([0, 1], 20), "x": np.arange(40) % 20})
    features.loc[[20, 39]] = features.loc[[0, 0]].to_numpy()
    labels = np.repeat(["ill", "well"], 20)
    labels[[20, 39]] = "ill"
    halves = np.arange(0, 40, 2), np.arange(1, 40, 2)
    repeats, telling = leakage_notes(features, labels, 2 * [halves, halves[::-1]])
    # Rows 0 and 20 are in one half, and 39 in the other: each is tested after an equal one.
    assert repeats.startswith("3 samples of 40 ")
    assert telling.startswith("column 'code' alone gives ")
    assert leakage_notes(features, labels, [(np.arange(40), np.arange(0))])[0] == telling
    # Of four groups only four rows count, too few to tell from chance.
    assert len(leakage_notes(features, labels, [halves], np.arange(40) // 10)) == 1


def test_rows_are_equal_if_all_their_values_are(monkeypatch) -> None:
    monkeypatch.setattr(leakage, "BLOCK_VALUES", 24)
    random = np.random.default_rng(0)
    values = random.integers(-1, 2, (12, 5)).astype(float)
    frame = pd.DataFrame(np.repeat(values, 2, axis=0)).add_prefix("x")
    frame["whole"] = np.repeat(random.integers(0, 2, 12), 2)
    frame["word"] = np.repeat(random.choice(["a", "b", None], 12), 2)
    frame["size"] = pd.array(np.repeat([1, 2, None], 8), "Int64")
    frame.iloc[3, 0] = frame.iloc[5, 6] = None
    frame.iloc[6:8, 1] = [0.0, -0.0]
    frame.iloc[8:10, 2] = np.nan
    frame.iloc[11, 4] += 1e-12
    test, train = np.arange(0, 24, 2), np.arange(1, 24, 2)
    # Values as Python compares them, with one word for all gaps.
    rows = [tuple("gap" if pd.isna(v) else v for v in row) for row in frame.itertuples(index=False)]
    n_equal = sum(rows[place] in {rows[other] for other in train} for place in test)
    assert 6 < n_equal < 12
    (note,) = leakage_notes(frame, random.integers(0, 2, 24), [(train, test)])
    assert note.startswith(f"{n_equal} samples of 24 ")
