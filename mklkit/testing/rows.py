"""The rows on which components are checked, of what a kernel reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import MKLKitError
from mklkit.numerics.readings import category_codes, text_codes, texts_of
from mklkit.protocols import Array, Reads

__all__ = [
    "as_rows",
    "as_table",
    "labels_of",
    "numbers_of",
    "three_classes",
    "two_classes",
    "with_gaps",
]

N_ROWS = 56


def two_classes(reads: Reads, examples: tuple[Any, ...] = ()) -> tuple[Array, Array]:
    """Return rows (56, d) that hold what a kernel reads, and their labels.

    Amounts are zeros and ones, which every kernel on amounts takes. Where a kernel's facts have
    examples, these are all values that occur.
    """
    random = np.random.default_rng(41)
    labels = labels_of(N_ROWS)
    if examples:
        values = random.choice(np.array(examples, dtype=object), (N_ROWS, 3))
        if reads == "text":
            return text_codes(values[:, 0]), labels
        numbers = category_codes(values) if reads == "categories" else values.astype(np.float64)
        return numbers, labels
    if reads == "text":
        shares = {1.0: (0.5, 0.2, 0.2, 0.1), -1.0: (0.1, 0.2, 0.2, 0.5)}
        words = ["".join(random.choice(list("abc "), 9, p=shares[label])) for label in labels]
        lengths = random.integers(6, 10, N_ROWS)
        return text_codes([word[:n] for word, n in zip(words, lengths, strict=True)]), labels
    if reads in ("amounts", "categories"):
        chances = np.where(labels > 0, 0.7, 0.3)[:, None]
        rows = (random.random((N_ROWS, 8)) < chances).astype(np.float64)
        return (category_codes(rows) if reads == "categories" else rows), labels
    rows = random.normal(size=(N_ROWS, 3))
    rows[:, :2] += 2.0 * labels[:, None]
    return rows, labels


def numbers_of(rows: Array) -> Array:
    """Return numbers to learn: above zero, of which classes say little, and no polynomial."""
    return np.asarray(100.0 + 10.0 * rows[:, -1] + 3.0 * np.cos(4.0 * rows[:, 0]))


def with_gaps(rows: Array, reads: Reads) -> Array:
    """Return a copy of rows in which every fifth value is a gap, and all of the second row."""
    holed = rows.copy()
    values = holed if reads == "text" else holed.flat
    values[::5] = np.nan
    holed[1] = np.nan
    return holed


def as_table(rows: Array, reads: Reads) -> NDArray[Any]:
    """Return rows as a classifier is given them: texts as a column of text."""
    if reads != "text":
        return rows
    return np.array(texts_of(rows), dtype=object)[:, None]


def as_rows(rows: Array) -> Array:
    """Return rows for a kernel that needs particular ones.

    Raises
    ------
    MKLKitError
        For fewer than twelve rows, or another number of dimensions.
    """
    if np.ndim(rows) != 2 or len(rows) < 12:
        raise MKLKitError(
            f"Expected rows as an array of shape (12 or more, d), got shape {np.shape(rows)}."
        )
    return np.asarray(rows)


def labels_of(n_rows: int) -> Array:
    """Return labels of two classes of unequal size, mixed."""
    return np.where(np.arange(n_rows) % 5 < 2, 1.0, -1.0)


def three_classes(rows: Array, labels: Array, apart: bool) -> tuple[Array, NDArray[Any]]:
    """Return rows with labels of three classes, as text; the third one is apart, if it may be."""
    kinds = np.where(labels > 0, "well", "ill")
    kinds[np.arange(len(kinds)) % 3 == 0] = "new"
    return rows + (4.0 if apart else 0.0) * (kinds == "new")[:, None], kinds
