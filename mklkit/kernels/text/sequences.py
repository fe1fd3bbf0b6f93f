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

    Each has the row that owns it and its place in the text, from 0 up.
    """

    symbols: NDArray[np.int64]
    owners: NDArray[np.intp]
    places: NDArray[np.intp]

    def starts(self, length: int) -> NDArray[np.intp]:
        """Return where grams of a given length begin that lie within one text."""
        last = self.owners[length - 1 :]
        return np.flatnonzero(self.owners[: len(last)] == last)


def letters(rows: Array) -> Sequences:
    """Return texts (n, L), given as code points, as sequences of their letters."""
    expect_text(rows)
    inside = rows >= 0
    owners, places = np.nonzero(inside)
    symbols, _ = numbered(rows[inside].astype(np.int64))
    return Sequences(symbols, owners, places)


def in_tokens(rows: Array, cut: Callable[[str], Iterable[str]]) -> Sequences:
    """Return texts (n, L), given as code points, as sequences of the tokens in them."""
    expect_text(rows)
    tokens = [list(cut(text)) for text in texts_of(rows)]
    counts = np.array([len(cut_text) for cut_text in tokens], dtype=np.intp)
    flat = np.array([token for cut_text in tokens for token in cut_text], dtype=object)
    owners = np.repeat(np.arange(len(rows)), counts)
    places = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Sequences(numbered(flat)[0], owners, places)


def gram_numbers(
    symbols: NDArray[np.int64], starts: NDArray[np.intp], offsets: Iterable[int]
) -> tuple[NDArray[np.int64], int]:
    """Return a number for each gram, the same for equal ones, and how many there are.

    Grams begin at ``starts`` (G,); two are equal if they are equal at all ``offsets`` from there.
    O(G) for each offset.
    """
    numbers, count = np.zeros(len(starts), dtype=np.int64), 1
    base = int(symbols.max(initial=0)) + 1
    for offset in offsets:
        if count * base > 2**62:
            numbers, count = numbered(numbers)
        numbers = numbers * base + symbols[starts + offset]
        count *= base
    return numbered(numbers)


def expect_text(rows: Array) -> None:
    """Refuse rows that are not code points."""
    if not ((rows == np.floor(rows)) & (rows <= 0x10FFFF)).all():
        raise DataError(
            "A kernel on text expects the code points of one column of text, got other numbers:"
            " choose a column of text for it."
        )
