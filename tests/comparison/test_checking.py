"""What is refused before the first run."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from mklkit.comparison.data import check_labels, in_unicode
from mklkit.comparison.splits import MOST_SPLITS, SplitPlan
from mklkit.errors import DataError, SpecError


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], "no rows"),
        (["a", "a"], "the class 'a' alone"),
        ([1.0, 2.0, np.nan], "no label in row 2"),
        (np.array(["a", None, "b"], dtype=object), "no label in row 1"),
        ([b"a", b"b"], "b'a' of type bytes"),
        (np.array([date(2020, 1, 1), date(2021, 1, 1)]), "of type date"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]"), "of type datetime64"),
        ([1j, 2j], "of type complex"),
        ([1.0, np.inf], "inf of type float"),
        (np.array(["a", 1], dtype=object), "has 1 of type int"),
    ],
)
def test_labels_that_no_method_learns(labels: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        check_labels("data", np.asarray(labels))


@pytest.mark.parametrize("labels", [["a", "b"], [0, 1], [True, False], [1.0, 2.0]])
def test_labels_of_any_usual_kind(labels: list[Any]) -> None:
    check_labels("data", np.asarray(labels))
    check_labels("data", np.array(labels, dtype=object))


def test_splits_without_end() -> None:
    SplitPlan("", [None] * MOST_SPLITS)
    with pytest.raises(SpecError, match="1,999,998 splits are too many"):
        SplitPlan("", [None] * 1_999_998)


def test_half_a_character_is_escaped() -> None:
    assert in_unicode(b"d\xff\xc3\xa9".decode(errors="surrogateescape")) == "d\\udcffé"
