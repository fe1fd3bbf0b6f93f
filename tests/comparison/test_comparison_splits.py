"""The splits of a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

from mklkit.comparison.splits import make_splits, published_split, read_cv
from mklkit.errors import DataError, SpecError

LABELS = np.repeat(["a", "b", "c"], [20, 12, 5])


def test_folds_are_scikit_learns() -> None:
    plan = make_splits(LABELS, "4x3", seed=7)
    splitter = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=7)
    expected = list(splitter.split(LABELS, LABELS))
    assert [(one.repeat, one.fold) for one in plan.splits] == [
        (repeat, fold) for repeat in range(3) for fold in range(4)
    ]
    for one, (train, test) in zip(plan.splits, expected, strict=True):
        np.testing.assert_array_equal(one.train, train)
        np.testing.assert_array_equal(one.test, test)


def test_random_splits_train_on_every_class() -> None:
    labels = np.append(LABELS, "alone")
    plan = make_splits(labels, mccv=6, train=0.5, seed=1)
    for one in plan.splits:
        assert set(labels[one.train]) == set(labels)
        assert len(one.test) == 19
        assert sorted([*one.train, *one.test]) == list(range(38))
    assert len({tuple(one.test) for one in plan.splits}) == 6
    assert plan.digest() == make_splits(labels, mccv=6, train=0.5, seed=1).digest()
    assert plan.digest() != make_splits(labels, mccv=6, train=0.5, seed=2).digest()


def test_published_split() -> None:
    parts = np.where(np.arange(37) % 3 == 0, "Test", "train")
    (split,) = published_split(LABELS, parts, "part").splits
    np.testing.assert_array_equal(split.test, np.arange(0, 37, 3))
    with pytest.raises(DataError, match=r"column 'part' must say 'train' or 'test'.*'dev'"):
        published_split(LABELS, np.where(parts == "Test", "dev", parts), "part")
    with pytest.raises(DataError, match="No row of class 'c' is for training"):
        published_split(LABELS, np.where(LABELS == "c", "test", "train"), "part")


@pytest.mark.parametrize("cv", ["5*4", "x4", "five", ""])
def test_other_forms_of_cv_are_refused(cv: str) -> None:
    with pytest.raises(SpecError, match="folds x repeats such as '5x4'"):
        read_cv(cv)
