"""Confusion matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.comparison.report.tables import Cell, Head, Table
from mklkit.display.numbers import percent

__all__ = ["confusion_table"]

MOST_CLASSES = 20
"""Of more classes no matrix is shown, but what is confused most often."""
MOST_PAIRS = 20
SHADES = 5


def confusion_table(counts: NDArray[np.int64], labels: list[str]) -> Table:
    """Return counts by true class (rows) and predicted class, darker for a larger share of a row.

    Parameters
    ----------
    counts : ndarray of shape (C, C)
        Summed over splits.
    labels : list of C str
    """
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    if len(labels) > MOST_CLASSES:
        return _most_confused(counts, shares, labels)
    rows = []
    for true, label in enumerate(labels):
        cells = [
            Cell(int(count), style=_shade(share, true == predicted))
            for predicted, (count, share) in enumerate(zip(counts[true], shares[true], strict=True))
        ]
        recall = percent(float(shares[true, true])) if counts[true].any() else "–"
        rows.append([Cell(label), *cells, Cell(recall)])
    heads = [Head("true, down; predicted, across"), *map(Head, labels), Head("found", "%")]
    caption = "Test rows by true and predicted class, summed over the splits."
    return Table(caption, heads, rows, "confusion")


def _shade(share: float, right: bool) -> str:
    shade = int(np.ceil(share * SHADES))
    return f"{'right' if right else 'wrong'}-{shade}" if shade else ""


def _most_confused(
    counts: NDArray[np.int64], shares: NDArray[np.float64], labels: list[str]
) -> Table:
    wrong = np.where(np.eye(len(labels), dtype=bool), 0, counts)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    rows = [
        (labels[true], labels[predicted], wrong[true, predicted],
         f"{percent(float(shares[true, predicted]))} %")
        for true, predicted in zip(*np.unravel_index(order, wrong.shape), strict=True)
        if wrong[true, predicted]
    ]  # fmt: skip
    caption = f"What is confused most often, of {len(labels)} classes."
    return Table.of_words(caption, ("true", "predicted", "rows", "of the class"), rows, "")
