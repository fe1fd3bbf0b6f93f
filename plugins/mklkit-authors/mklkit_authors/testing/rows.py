"""The samples for checking components, of the kind that a kernel reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit.protocols import Array, Reads
from mklkit.registry.readings import category_codes, text_codes

N_ROWS = 56


def two_classes(reads: Reads, examples: tuple[Any, ...] = ()) -> tuple[Array, Array]:
    """Return samples (56, d) that hold what a kernel reads, and their labels.

    Amounts are zeros and ones, which every kernel on amounts takes. If a kernel's traits have
    examples, only these values occur.
    """
    random = np.random.default_rng(41)
    labels = labels_of(N_ROWS)
    if examples:
        values: Any = random.choice(np.array(examples, dtype=object), (N_ROWS, 3))
        texts = list(values[:, 0])
    elif reads == "text":
        shares = {1.0: (0.5, 0.2, 0.2, 0.1), -1.0: (0.1, 0.2, 0.2, 0.5)}
        words = ["".join(random.choice(list("abc "), 9, p=shares[label])) for label in labels]
        lengths = random.integers(6, 10, N_ROWS)
        texts = [word[:n] for word, n in zip(words, lengths, strict=True)]
    elif reads in ("amounts", "categories"):
        chances = np.where(labels > 0, 0.7, 0.3)[:, None]
        values = random.random((N_ROWS, 8)) < chances
    else:
        values = random.normal(size=(N_ROWS, 3))
        values[:, :2] += 2.0 * labels[:, None]
    if reads == "text":
        return text_codes(texts), labels
    if reads == "categories":
        return category_codes(values if examples else values.astype(np.float64)), labels
    return values.astype(np.float64), labels


def labels_of(n_rows: int) -> Array:
    """Return labels of two classes of unequal size, mixed."""
    return np.where(np.arange(n_rows) % 5 < 2, 1.0, -1.0)


def numbers_of(rows: Array) -> Array:
    """Return numbers to learn: positive, hardly related to the classes, and not a polynomial."""
    return np.asarray(100.0 + 10.0 * rows[:, -1] + 3.0 * np.cos(4.0 * rows[:, 0]))


def with_gaps(rows: Array, reads: Reads) -> Array:
    """Return a copy of samples with gaps: every fifth value, and all of the second sample."""
    holed = rows.copy()
    values = holed if reads == "text" else holed.flat
    values[::5] = np.nan
    holed[1] = np.nan
    return holed
