"""Remarks on suspicious columns: constant, repeated, or copies of the target."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from shlex import quote

import numpy as np
import pandas as pd

from mklkit.errors import quoted

__all__ = ["remarks", "remarks_on_text"]

NAMES_SHOWN = 5
# Texts of which there are more, and in half the rows another, are rarely categories.
MANY_CATEGORIES = 30


def remarks(features: pd.DataFrame, target: pd.Series) -> list[str]:
    """Return remarks on constant columns, repeated columns and copies of the target."""
    constant: list[str] = []
    leaks: list[str] = []
    copies: list[str] = []
    first_of: dict[Hashable, str] = {}
    [(wanted, _)] = _contents(target.to_frame()).values()
    for name, (content, varies) in _contents(features).items():
        if not varies:
            constant.append(name)
            continue
        twin = first_of.setdefault(content, name)
        if twin != name:
            copies.append(f"{name!r} (as {twin!r})")
        if content == wanted:
            leaks.append(f"column {name!r} is a copy of the target")
    found = [f"{_columns([repr(name) for name in constant])} constant"] if constant else []
    found += leaks
    if copies:
        found.append(f"{_columns(copies)} the same as another")
    return found


def remarks_on_text(columns: Iterable[pd.Series]) -> list[str]:
    """Return a sentence each on columns of text in which most rows hold another one.

    Those of another value in every row are taken for identifiers, which is said elsewhere.
    """
    found = []
    for column in columns:
        distinct = column.dropna().unique()
        if len(distinct) <= max(MANY_CATEGORIES, len(column) / 2):
            continue
        if len(distinct) == column.notna().sum():
            continue
        numeric = 2 * sum(any(map(str.isdigit, str(value))) for value in distinct) > len(distinct)
        advice = (
            "and looks numeric: write numbers alone, or leave"
            if numeric
            else f"one-hot encoded, which tells little: read it by a kernel on text, -k"
            f" {quote(f'spectrum@{column.name}')}, or leave"
        )
        found.append(
            f"column {quoted(column.name)} holds {len(distinct)} different texts in {len(column)}"
            f" rows, such as {quoted(distinct[0], 40)}, {advice} it out with --drop"
            f" {quote(str(column.name))}"
        )
    more = len(found) - NAMES_SHOWN
    return found[:NAMES_SHOWN] + ([f"{more} more columns of text are like it"] if more > 0 else [])


def _contents(frame: pd.DataFrame) -> dict[str, tuple[Hashable, bool]]:
    """Return a comparable key of each column's contents, and whether its values differ."""
    plain = [isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in frame.dtypes]
    # Tables may be very wide: numbers are compared together.
    numbers = frame.loc[:, plain].to_numpy(dtype=np.float64).T
    varies = (~((numbers == numbers[:, :1]) | np.isnan(numbers))).any(axis=1)
    # Where the first value is a gap, the others are compared with one another.
    for place in np.flatnonzero(np.isnan(numbers[:, 0])):
        varies[place] = len(np.unique(numbers[place][~np.isnan(numbers[place])])) > 1
    numeric = iter(zip(numbers, varies, strict=True))
    contents: dict[str, tuple[Hashable, bool]] = {}
    for name, is_plain in zip(frame.columns, plain, strict=True):
        if is_plain:
            values, differ = next(numeric)
            contents[name] = (values.tobytes(), bool(differ))
        else:
            codes, distinct = pd.factorize(frame[name])
            contents[name] = ((codes.tobytes(), tuple(map(str, distinct))), len(distinct) > 1)
    return contents


def _columns(shown: list[str]) -> str:
    if len(shown) == 1:
        return f"column {shown[0]} is"
    more = f" and {len(shown) - NAMES_SHOWN} more" if len(shown) > NAMES_SHOWN else ""
    return f"{len(shown)} columns ({', '.join(shown[:NAMES_SHOWN])}{more}) are"
