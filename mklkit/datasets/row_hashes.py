"""Hashes of rows, by which equal rows are found in O(Nd)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.numerics.pairwise import row_blocks

Hashes = NDArray[np.uint64]

CELLS = 1 << 20
"""The values that are hashed at a time."""


def hashes_of_rows(words: NDArray[np.object_], parts: Iterable[NDArray[Any]]) -> Hashes:
    """Return a hash of each row of texts (N, k) and of numbers, the same in every process.

    The ``parts`` of shape (N, d_p) have the numbers of some columns each, since tables may be very
    wide. Equal rows have equal hashes: zeros are equal whatever their sign, and so are gaps. O(Nd)
    for d columns in all.

    >>> hashes = hashes_of_rows(np.empty((3, 0), object), [np.array([[0.0, 1], [1, 0], [-0.0, 1]])])
    >>> (hashes[0] == hashes[2]).item(), (hashes[0] == hashes[1]).item()
    (True, False)
    """
    n_rows, n_texts = words.shape
    draw = np.random.default_rng(0)

    def factors(n_columns: int) -> Hashes:
        # Odd ones tell columns apart, so that rows with the same values in another order differ.
        return draw.integers(1 << 63, size=n_columns, dtype=np.uint64) * 2 + 1

    sums = np.zeros(n_rows, np.uint64)
    for factor, texts in zip(factors(n_texts), words.T, strict=True):
        known = pd.Series(texts, dtype=object).fillna("").astype(str).to_numpy(object)
        sums += pd.util.hash_array(known) * factor
    for numbers in parts:
        for place in row_blocks(numbers.shape[1], max(1, CELLS // max(1, n_rows))):
            values = np.ascontiguousarray(numbers[:, place], dtype=np.float64) + 0.0
            values[np.isnan(values)] = np.nan
            mixed = pd.util.hash_array(values.ravel()).reshape(values.shape)
            sums += (mixed * factors(values.shape[1])).sum(axis=1, dtype=np.uint64)
    return sums
