"""The splits of a comparison, and what is refused before the first run."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

from mklkit.datasets.target import check_labels
from mklkit.errors import DataError, SpecError
from mklkit.protocols.splits.making import (
    MOST_SPLITS,
    MonteCarlo,
    PartsColumn,
    make_splits,
    read_cv,
)

LABELS = np.repeat(["a", "b", "c"], [20, 12, 5])


@pytest.mark.parametrize(
    ("labels", "culprit"),
    [
        ([], "no rows"),
        (["a", "a"], "'a'"),
        ([1.0, 2.0, np.nan], "row 2"),
        (np.array(["a", None, "b"], dtype=object), "row 1"),
        ([b"a", b"b"], "bytes, such as b'a'"),
        (np.array([date(2020, 1, 1), date(2021, 1, 1)]), "date, such as"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]"), "datetime64"),
        ([1j, 2j], "complex"),
        ([1.0, np.inf], "floating"),
        (np.array(["a", 1], dtype=object), "mixed-integer"),
    ],
)
def test_labels_that_no_method_learns(labels: Any, culprit: str) -> None:
    with pytest.raises(DataError, match=culprit):
        check_labels("data", np.asarray(labels))


@pytest.mark.parametrize("labels", [["a", "b"], [0, 1], [True, False], [1.0, 2.0]])
def test_labels_of_any_usual_kind(labels: list[Any]) -> None:
    check_labels("data", np.asarray(labels))
    check_labels("data", np.array(labels, dtype=object))


def test_splits_without_end() -> None:
    assert MOST_SPLITS < 1_999_998
    with pytest.raises(SpecError, match="1,999,998"):
        make_splits(LABELS, "2x999999")


def test_folds_are_scikit_learns() -> None:
    plan = make_splits(LABELS, "4x3", seed=7)
    splitter = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=7)
    expected = splitter.split(LABELS, LABELS)
    for place, (split, (train, test)) in enumerate(zip(plan, expected, strict=True)):
        assert (split.repeat, split.fold) == divmod(place, 4)
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_random_splits_train_on_every_class() -> None:
    labels = np.append(LABELS, "alone")
    plan = make_splits(labels, MonteCarlo(6), seed=1)
    for split in plan:
        assert set(labels[split.train]) == set(labels)
        assert len(split.test) == 19
        assert sorted([*split.train, *split.test]) == list(range(38))
    assert len({tuple(split.test) for split in plan}) == 6
    assert plan.digest() == make_splits(labels, MonteCarlo(6), seed=1).digest()
    assert plan.digest() != make_splits(labels, MonteCarlo(6), seed=2).digest()


def test_published_split() -> None:
    parts = np.where(np.arange(37) % 3 == 0, "Test", "train")
    (split,) = make_splits(LABELS, PartsColumn(parts, "part"))
    np.testing.assert_array_equal(split.test, np.arange(0, 37, 3))
    with pytest.raises(DataError, match=r"'part'.*got 'dev'"):
        make_splits(LABELS, PartsColumn(np.where(parts == "Test", "dev", parts), "part"))
    with pytest.raises(DataError, match="Class 'c'"):
        make_splits(LABELS, PartsColumn(np.where(LABELS == "c", "test", "train"), "part"))


@pytest.mark.parametrize("cv", ["5*4", "x4", "five", "", "time:1"])
def test_other_forms_of_cv_are_refused(cv: str) -> None:
    with pytest.raises(SpecError, match="'5x4'"):
        read_cv(cv)
