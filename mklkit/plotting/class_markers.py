"""A marker for each class: shapes for the first eight, then text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from string import ascii_uppercase

__all__ = ["SHAPES", "class_markers", "is_text"]

SHAPES = "o^sDvP*X"
LONGEST_TEXT = 2


def class_markers(names: Sequence[str]) -> list[str]:
    """Return one distinct marker per class.

    Parameters
    ----------
    names : sequence of str
        The classes in order.

    Returns
    -------
    list of str
        Shapes for the first eight; from the ninth on text: the class names if all of these have
        one or two letters or digits, else A, B ... Z, AA, AB ...

    Examples
    --------
    >>> class_markers("abcdefghij")[6:]
    ['*', 'X', '$\\\\mathbf{i}$', '$\\\\mathbf{j}$']
    >>> class_markers([f"species {k}" for k in range(9)])[-1]
    '$\\\\mathbf{A}$'
    """
    others = list(names[len(SHAPES) :])
    if not all(len(name) <= LONGEST_TEXT and name.isascii() and name.isalnum() for name in others):
        # Numbers could be confused with those in names like "species 9".
        letters = product(["", *ascii_uppercase], ascii_uppercase)
        others = ["".join(pair) for pair in islice(letters, len(others))]
    return [*SHAPES[: len(names)], *(rf"$\mathbf{{{text}}}$" for text in others)]


def is_text(marker: str) -> bool:
    """Return whether a marker is text, which needs more space than a shape."""
    return marker.startswith("$")
