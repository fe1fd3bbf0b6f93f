"""Text and categories as arrays of numbers, the same for equal values in any table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MISSING_CATEGORY = "missing"
"""The category of gaps, if they count as one."""

PADDING = -1.0
"""The padding after the end of a text; no code point is negative."""


def text_codes(texts: Any) -> NDArray[np.float64]:
    """Return the code points of texts, one row each, filled up with −1.

    >>> text_codes(["ab", "b"])
    array([[97., 98.],
           [98., -1.]])
    """
    written = [str(text) for text in texts]
    lengths = np.fromiter(map(len, written), np.intp, len(written))
    codes = np.full((len(written), max(int(lengths.max(initial=0)), 1)), PADDING)
    inside = np.arange(codes.shape[1]) < lengths[:, None]
    codes[inside] = np.frombuffer(
        "".join(written).encode("utf-32-le", "surrogatepass"), dtype="<u4"
    )
    return codes


def texts_of(codes: NDArray[np.floating[Any]]) -> list[str]:
    """Return the texts of :func:`text_codes`."""
    return ["".join(map(chr, row[row >= 0].astype(np.intp).tolist())) for row in codes]


def category_codes(values: Any) -> NDArray[np.float64]:
    """Return a number for each value that depends only on the value; NaN for gaps.

    Equal values have equal numbers in every table. Different values have different numbers, except
    with probability 10⁻¹⁶ per pair: the numbers are the upper 53 bits of pandas' hash. Numbers are
    the same as their text, whole numbers without a point; other values are compared as text.

    >>> one, two, same, gap = category_codes(["red", "blue", "red", None])
    >>> bool(one == same), bool(one == two), bool(np.isnan(gap))
    (True, False, True)
    >>> len(set(category_codes(["1", 1, 1.0, True]))), len(set(category_codes(["0.5", 0.5, "1.0"])))
    (1, 2)
    """
    array = np.asarray(values, dtype=object)
    flat = array.ravel()
    gaps = pd.isna(flat)
    words = np.array([_word(value) for value in flat], dtype=object)
    hashed = pd.util.hash_array(words, categorize=len(words) > 0) >> np.uint64(11)
    codes = np.where(gaps, np.nan, hashed.astype(np.float64))
    return codes.reshape(array.shape)


def _word(value: Any) -> str:
    """Return a value as text; '1', 1, 1.0 and True are the same category."""
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)
