"""Rows that are held out: whole groups, every class in training, and the share of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.protocols.splits.holding_out import held_out_mask
from mklkit.protocols.splits.making import HoldOut, PartsColumn, make_splits
from mklkit.protocols.splits.split import Split


def hold_out(
    labels: NDArray[Any],
    share: float,
    seed: int,
    groups: NDArray[Any] | None = None,
    classes: bool = True,
) -> Split:
    (split,) = make_splits(
        labels, HoldOut(share), seed=seed, groups=groups, strata="targets" if classes else None
    )
    return split


def split_by(labels: NDArray[Any], parts: NDArray[Any], column: str) -> Split:
    (split,) = make_splits(labels, PartsColumn(parts, column))
    return split


def check_parts(split: Split, n_rows: int) -> None:
    """Every row is in one part, and parts are in the order of the rows."""
    both = np.concatenate([split.train, split.test])
    assert sorted(both.tolist()) == list(range(n_rows))
    for part in split:
        assert (np.diff(part) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_each_class_has_its_share_of_held_out_rows(seed: int) -> None:
    labels = np.repeat(["a", "b", "c"], [50, 30, 20])
    split = hold_out(labels, 0.3, seed)
    check_parts(split, 100)
    counts = [int((labels[split.test] == label).sum()) for label in "abc"]
    assert counts == [15, 9, 6]


@pytest.mark.parametrize("seed", range(20))
def test_a_single_row_of_a_class_stays_in_training(seed: int) -> None:
    labels = np.array(list("aaaaabbbc"))
    split = hold_out(labels, 0.5, seed)
    check_parts(split, 9)
    assert set(labels[split.train]) == set("abc")
    assert len(split.test) == 5
    assert len(hold_out(np.array(list("abc")), 0.5, seed).test) == 0


@pytest.mark.parametrize("seed", range(20))
def test_whole_groups_are_held_out_and_every_class_stays(seed: int) -> None:
    """One class has only rows of the last group, which is small enough to be held out."""
    groups = np.repeat(np.arange(11), [4, 4, 4, 4, 4, 4, 4, 4, 4, 30, 2])
    labels = np.where(groups == 10, "c", np.where(np.arange(68) % 3, "a", "b"))
    split = hold_out(labels, 0.25, seed, groups)
    check_parts(split, 68)
    assert not {*groups[split.train]} & {*groups[split.test]}
    assert set(labels[split.train]) == set("abc")
    # No more than a quarter, 17 rows; and so many that no further group of four would fit.
    assert 13 < len(split.test) <= 17


def test_a_group_larger_than_the_share_is_held_out_alone() -> None:
    groups = np.repeat(["x", "y", "z"], 20)
    split = hold_out(np.tile(["a", "b"], 30), 0.1, 3, groups)
    check_parts(split, 60)
    assert len(set(groups[split.test])) == 1
    only = hold_out(np.tile(["a", "b"], 30), 0.1, 3, np.zeros(60))
    assert len(only.test) == 0


@pytest.mark.parametrize("grouped", [False, True])
def test_numbers_are_held_out_at_random(grouped: bool) -> None:
    groups = np.arange(50) // 2 if grouped else None
    counts = np.zeros(50)
    for seed in range(300):
        split = hold_out(np.arange(50.0), 0.2, seed, groups, classes=False)
        check_parts(split, 50)
        assert len(split.test) == 10
        counts[split.test] += 1
    # A row is held out in a fifth of 300 draws, with a standard error of 6.9.
    assert np.abs(counts - 60).max() < 4.5 * 6.9
    assert len(hold_out(np.arange(3.0), 0.9, 0, classes=False).test) == 1


def test_many_rows_are_held_out_by_chance_and_unknown_ones_never() -> None:
    codes = np.random.default_rng(0).choice([-1, 0, 1], size=300_000, p=[0.1, 0.6, 0.3])
    codes[7] = 2
    for seed in range(20):
        held, kind = held_out_mask(codes, 0.25, seed)
        assert kind == "at random"
        assert not held[codes == -1].any()
        assert not held[7]
        for code in (0, 1):
            share = held[codes == code].mean()
            assert abs(share - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / (codes == code).sum())
    assert not held_out_mask(codes, 0, 1)[0].any()


def test_a_column_tells_the_parts() -> None:
    parts = np.array(["train", " Test", "TRAIN", "test", "train"])
    split = split_by(np.array(list("abbab")), parts, "part")
    assert (split.train.tolist(), split.test.tolist()) == ([0, 2, 4], [1, 3])
    with pytest.raises(DataError, match="'c'"):
        split_by(np.array(list("abbcb")), parts, "part")
    for wrong in (["train"] * 5, ["train", "test", "dev", "test", "test"]):
        with pytest.raises(DataError, match="'part'"):
            split_by(np.array(list("abbab")), np.array(wrong), "part")
