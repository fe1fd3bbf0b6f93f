"""A marker for each class: shapes for the first eight, then text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from string import ascii_uppercase

__all__ = ["SHAPES", "class_markers", "is_text"]

SHAPES = "o^sDvP*X"


def class_markers(names: Sequence[str]) -> list[str]:
    """Return one distinct marker per class: shapes for the first eight, then A, B … Z, AA, AB …

    Examples
    --------
    >>> class_markers([f"species {k}" for k in range(9)])[-1]
    '$\\\\mathbf{A}$'
    """
    letters = ("".join(pair) for pair in product(["", *ascii_uppercase], ascii_uppercase))
    more = islice(letters, max(len(names) - len(SHAPES), 0))
    return [*SHAPES[: len(names)], *(rf"$\mathbf{{{text}}}$" for text in more)]


def is_text(marker: str) -> bool:
    """Return whether a marker is text, which needs more space than a shape."""
    return marker.startswith("$")
