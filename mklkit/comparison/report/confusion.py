"""Confusion matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.display.markup import Html, element, table
from mklkit.display.numbers import percent

__all__ = ["confusion_table"]

MOST_CLASSES = 20
"""Of more classes no matrix is shown, but what is confused most often."""
MOST_PAIRS = 20
SHADES = 5


def confusion_table(counts: NDArray[np.int64], labels: list[str]) -> Html:
    """Return counts by true class (rows) and predicted class, darker for a larger share of a row.

    Parameters
    ----------
    counts : ndarray of shape (C, C)
        Summed over splits.
    labels : list of C str
    """
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    if len(labels) > MOST_CLASSES:
        return _most_confused(counts, shares, labels)
    head = element(
        "tr",
        element("th", "true, down; predicted, across", scope="col"),
        *(element("th", label, scope="col") for label in labels),
        element("th", "found", element("small", "%"), scope="col"),
    )
    rows = []
    for place, (label, own, share) in enumerate(zip(labels, counts, shares, strict=True)):
        cells = [
            element("td", int(count), class_=_class(part, place == at))
            for at, (count, part) in enumerate(zip(own, share, strict=True))
        ]
        found = element("td", percent(float(share[place])) if own.sum() else "–")
        rows.append(element("tr", element("th", label, scope="row"), *cells, found))
    caption = "Test rows by true and predicted class, summed over the splits."
    return table(caption, head, rows, class_="confusion")


def _class(share: float, right: bool) -> str | None:
    shade = int(np.ceil(share * SHADES))
    return None if shade == 0 else f"{'right' if right else 'wrong'}-{shade}"


def _most_confused(
    counts: NDArray[np.int64], shares: NDArray[np.float64], labels: list[str]
) -> Html:
    wrong = np.where(np.eye(len(labels), dtype=bool), 0, counts)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    rows = []
    for true, told in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[true, told]:
            share = f"{percent(float(shares[true, told]))} %"
            texts = (labels[told], int(wrong[true, told]), share)
            cells = [element("td", text) for text in texts]
            rows.append(element("tr", element("th", labels[true], scope="row"), *cells))
    head = element(
        "tr",
        *(
            element("th", text, scope="col")
            for text in ("true", "predicted", "rows", "of the class")
        ),
    )
    return table(f"What is confused most often, of {len(labels)} classes.", head, rows)
