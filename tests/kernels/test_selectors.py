"""Which columns a selector names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mklkit.errors import DataError
from mklkit.registry.columns import resolve_columns

NAMES = ["fou_1", "fou_2", "zer_1", "age", "a,b", "x[1]", "7"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("fou_*", [0, 1]),
        ("fou_?,age", [0, 1, 3]),
        ("age,fou_1", [3, 0]),
        (" age , zer_1 ", [3, 2]),
        ("x[1]", [5]),
        ("1:3", [1, 2]),
        (":2", [0, 1]),
        ("0", [0]),
        ("7", [6]),
        ("fou_1,fou_*", [0, 1]),
        (["a,b"], [4]),
        (["age", 0, -1], [3, 0, 6]),
        (["fou_*", "1:3"], [0, 1, 2]),
        ([np.int64(2)], [2]),
        (np.array([4, 1]), [4, 1]),
        (slice(0, 6, 2), [0, 2, 4]),
        (np.int64(-1), [6]),
        ("a,b", [4]),
        ([True, False, False, True, False, False, False], [0, 3]),
        (pd.Index(NAMES).str.startswith("fou"), [0, 1]),
    ],
)
def test_selected_positions(selector, expected):
    columns = resolve_columns(selector, len(NAMES), NAMES)
    assert columns.tolist() == expected
    assert columns.dtype == np.intp


@pytest.mark.parametrize("selector", [None, "*", ":", slice(None), list(range(7)), "0:99"])
def test_all_columns_in_their_order_are_none(selector):
    assert resolve_columns(selector, len(NAMES), NAMES) is None


@pytest.mark.parametrize(
    ("selector", "names", "message"),
    [
        ("fou_3", NAMES, r"No column is named 'fou_3'\. Did you mean 'fou_2'\?"),
        ("fuo_*", NAMES, r"No column is named 'fuo_\*'\. Did you mean 'fou_\*'\?"),
        ("fuos*", ["fou 1", "fou 2"], r"Did you mean 'fou \*'\?"),
        ("zar_*", NAMES, r"No column is named 'zar_\*'\.$"),
        ("agee", NAMES, r"Did you mean 'age'\?"),
        ("age", None, "no feature names: pass a DataFrame, or select by position"),
        ("8", NAMES, "Column 8 was requested, but there are 7"),
        ("-8", None, "Column -8 was requested, but there are 7"),
        ("3:3", NAMES, "select none of the 7 features"),
        ([], NAMES, "select none"),
        ([True], NAMES, "one value per feature, 7; got 1"),
        ([False] * 7, NAMES, "select none"),
        (slice("fou_1", "age"), NAMES, "by position, as in slice"),
        (1.5, NAMES, "a slice or a mask; got 1.5"),
    ],
)
def test_what_selects_nothing_is_refused(selector, names, message):
    with pytest.raises(DataError, match=message):
        resolve_columns(selector, 7, names)
