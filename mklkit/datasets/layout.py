"""The names of an encoder's output columns, and their places."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from sklearn.preprocessing import OneHotEncoder

from mklkit.datasets.dates import DAYS

__all__ = ["Layout", "lay_out_columns", "one_hot_columns"]


@attrs.frozen
class Layout:
    """The output columns in the order of the input.

    Attributes
    ----------
    names : list of str
    sources : list of str
        The input column of each.
    numeric_places, text_places, kept_places : list of int
        The places of the columns of numbers, of the one-hot columns, and of those passed on.
    """

    names: list[str]
    sources: list[str]
    numeric_places: list[int]
    text_places: list[int]
    kept_places: list[int]


def lay_out_columns(
    inputs: Sequence[str],
    numbers: Sequence[tuple[str, str]],
    one_hot: Sequence[tuple[str, str]],
    kept: Sequence[str] = (),
) -> Layout:
    """Name the output columns and determine their places.

    Parameters
    ----------
    inputs : sequence of str
        The input columns.
    numbers : sequence of (str, str)
        The input column and the part of a date, or nothing, of each column of numbers.
    one_hot : sequence of (str, str)
        The input column and the value of each one-hot column.
    kept : sequence of str, default=()
        The input columns that are passed on.

    Examples
    --------
    >>> layout = lay_out_columns(["ward", "age"], [("age", "")], [("ward", "a"), ("ward", "b")])
    >>> layout.names, layout.numeric_places, layout.text_places
    (['ward_a', 'ward_b', 'age'], [2], [0, 1])
    """
    # The outputs per input, with their place among the numbers, or None for text.
    outputs: dict[str, list[tuple[str, int | None]]] = {}
    for number, (name, part) in enumerate(numbers):
        column = name if part in ("", DAYS) else f"{name}_{part}"
        outputs.setdefault(name, []).append((column, number))
    for name, value in one_hot:
        outputs.setdefault(name, []).append((f"{name}_{value}", None))
    own = {name for name, _ in numbers}
    taken = {*own, *kept}
    layout = Layout([], [], [0] * len(numbers), [], [])
    for name in inputs:
        if name in kept:
            layout.kept_places.append(len(layout.names))
            layout.names.append(name)
            layout.sources.append(name)
        for column, number_place in outputs.get(name, []):
            if number_place is None:
                layout.text_places.append(len(layout.names))
            else:
                layout.numeric_places[number_place] = len(layout.names)
            keeps_name = name in own and column == name
            layout.names.append(column if keeps_name else _unique(column, taken))
            layout.sources.append(name)
    return layout


def one_hot_columns(names: Sequence[str], one_hot: OneHotEncoder) -> list[tuple[str, str]]:
    """Return the input column and the value of each column of an encoder fitted to some inputs."""
    if not names:
        return []
    numbered = [str(place) for place in range(len(names))]
    coded = [name.partition("_") for name in one_hot.get_feature_names_out(numbered)]
    rest = "infrequent_sklearn"
    return [(names[int(place)], "other" if value == rest else value) for place, _, value in coded]


def _unique(name: str, taken: set[str]) -> str:
    """Return the name, with a number if another column has it, and reserve it."""
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    taken.add(unique)
    return unique
