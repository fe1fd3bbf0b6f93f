"""Texts as sequences of numbered symbols, letters or words, and the grams in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.kernels.sparse_features import numbered
from mklkit.protocols import Array
from mklkit.registry.readings import texts_of


@attrs.frozen(eq=False)
class Sequences:
    """The symbols (T,) of several texts, one text after the other, as numbers from 0 up.

    Each has the sample that owns it.
    """

    symbols: NDArray[np.int64]
    owners: NDArray[np.intp]

    def grams(self, length: int) -> tuple[NDArray[np.intp], NDArray[np.int64], int]:
        """Return the owners of grams within one text, their numbers, and how many are distinct.

        Equal grams have the same number. O(T) for each symbol of a gram.
        """
        last = self.owners[length - 1 :]
        starts = np.flatnonzero(self.owners[: len(last)] == last)
        numbers = np.zeros(len(starts), dtype=np.int64)
        count = 1
        base = int(self.symbols.max(initial=0)) + 1
        for offset in range(length):
            if count * base > 2**62:
                numbers, count = numbered(numbers)
            numbers = numbers * base + self.symbols[starts + offset]
            count *= base
        return self.owners[starts], *numbered(numbers)


def letters(rows: Array) -> Sequences:
    """Return texts (n, L), given as code points, as sequences of their letters."""
    expect_text(rows)
    inside = rows >= 0
    symbols, _ = numbered(rows[inside].astype(np.int64))
    return Sequences(symbols, np.nonzero(inside)[0])


def in_tokens(rows: Array, cut: Callable[[str], Iterable[str]]) -> Sequences:
    """Return texts (n, L), given as code points, as sequences of the tokens in them."""
    expect_text(rows)
    tokens = [list(cut(text)) for text in texts_of(rows)]
    counts = np.array([len(cut_text) for cut_text in tokens], dtype=np.intp)
    flat = np.array([token for cut_text in tokens for token in cut_text], dtype=object)
    return Sequences(numbered(flat)[0], np.repeat(np.arange(len(rows)), counts))


def expect_text(rows: Array) -> None:
    """Raise an error for samples that are not code points."""
    if not ((rows == np.floor(rows)) & (rows <= 0x10FFFF)).all():
        raise DataError(
            "A kernel on text expects the code points of one column of text, got other numbers:"
            " choose a column of text for it."
        )
