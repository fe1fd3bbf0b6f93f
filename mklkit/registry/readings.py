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
    """Return the code points of texts, one sample each, filled up with −1.

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


def row_id_codes(ids: Any) -> NDArray[np.float64]:
    """Return identifiers of samples as code points (n, L), with L > 1 to tell them from numbers.

    >>> row_id_codes(["b", 7])
    array([[98., -1.],
           [55., -1.]])
    """
    codes = text_codes(words_of(ids))
    if codes.shape[1] > 1:
        return codes
    return np.hstack([codes, np.full_like(codes, PADDING)])


def is_text_of_row_ids(ids: NDArray[np.floating[Any]]) -> bool:
    """Return whether identifiers, in the form that a kernel gets, are text rather than numbers."""
    return ids.shape[1] > 1


def words_of_row_ids(ids: NDArray[np.floating[Any]]) -> NDArray[np.str_]:
    """Return the identifiers of samples that a kernel gets, code points (n, L) or numbers (n, 1).

    >>> words_of_row_ids(row_id_codes(["ann", "bo"])).tolist()
    ['ann', 'bo']
    >>> words_of_row_ids(np.array([[7.0], [0.5]])).tolist()
    ['7', '0.5']
    """
    if not is_text_of_row_ids(ids):
        return np.array(words_of(ids[:, 0]), np.str_)
    # NumPy's text ends at null characters.
    points = np.ascontiguousarray(np.maximum(ids, 0), dtype="<u4")
    words: NDArray[np.str_] = points.view(f"<U{points.shape[1]}")[:, 0].astype(np.str_)
    return words


def words_of(values: Any, gap: str | None = None) -> NDArray[np.object_]:
    """Return values as words, so that 1, 1.0 and '1' are one category in any table.

    ``gap`` stands for missing values. True and '1' are different words.

    >>> words_of(["1", 1, 1.0, True, 0.5, None]).tolist()
    ['1', '1', '1', 'True', '0.5', None]
    """
    array = np.asarray(values, dtype=object)
    flat = array.ravel()
    words = np.empty(flat.shape, dtype=object)
    missing = pd.isna(flat)
    words[:] = [gap if absent else _word(v) for v, absent in zip(flat, missing, strict=True)]
    return words.reshape(array.shape)


def _word(value: object) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def category_codes(values: Any) -> NDArray[np.float64]:
    """Return a number for each value that depends only on the value; NaN for gaps.

    Equal words (:func:`words_of`) have equal numbers in every table. Different words have different
    numbers, except with probability 10⁻¹⁶ per pair: the numbers are the upper 53 bits of pandas'
    hash.

    >>> red, blue, again, gap = category_codes(["red", "blue", "red", None])
    >>> bool(red == again), bool(red == blue), bool(np.isnan(gap))
    (True, False, True)
    >>> len(set(category_codes(["1", 1, 1.0]))), len(set(category_codes(["0.5", 0.5, "1.0"])))
    (1, 2)
    """
    words = words_of(values)
    flat = words.ravel()
    gaps = pd.isna(flat)
    flat = np.where(gaps, "", flat)
    hashed = pd.util.hash_array(flat, categorize=len(flat) > 0) >> np.uint64(11)
    return np.where(gaps, np.nan, hashed.astype(np.float64)).reshape(words.shape)
