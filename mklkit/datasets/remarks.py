"""Remarks on suspicious columns: constant, repeated, copies of the target, texts of many values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from shlex import quote

import numpy as np
import pandas as pd

from mklkit.errors import quoted

__all__ = ["remarks"]

NAMES_SHOWN = 5
# Texts of which there are more, and in half the rows another, are rarely categories.
MANY_CATEGORIES = 30


def remarks(features: pd.DataFrame, target: pd.Series, texts: Iterable[str]) -> list[str]:
    """Return remarks on the columns of a table, of which some hold text."""
    constant: list[str] = []
    leaks: list[str] = []
    copies: list[str] = []
    first_of: dict[Hashable, str] = {}
    [(content_of_target, _)] = _contents(target.to_frame()).values()
    for name, (content, varies) in _contents(features).items():
        twin = first_of.setdefault(content, name)
        if not varies:
            constant.append(repr(name))
        elif twin != name:
            copies.append(f"{name!r} (as {twin!r})")
        if varies and content == content_of_target:
            leaks.append(f"column {name!r} is a copy of the target")
    notes = [f"{_columns(constant)} constant"] if constant else []
    notes += leaks
    if copies:
        notes.append(f"{_columns(copies)} the same as another")
    on_text = [note for name in texts for note in _remark_on_text(features[name])]
    more = len(on_text) - NAMES_SHOWN
    rest = [f"{more} more columns of text are like it"] if more > 0 else []
    return notes + on_text[:NAMES_SHOWN] + rest


def _remark_on_text(column: pd.Series) -> list[str]:
    """Return a sentence on a column in which most rows hold another text.

    A different one in every row is an identifier, which is said elsewhere.
    """
    distinct = column.dropna().unique()
    many = len(distinct) > max(MANY_CATEGORIES, len(column) / 2)
    if not many or len(distinct) == column.notna().sum():
        return []
    return [
        f"column {quoted(column.name)} holds {len(distinct)} different texts in {len(column)} rows,"
        f" such as {quoted(distinct[0], 40)}: write numbers alone if they are meant, read it by a"
        f" kernel on text, -k {quote(f'spectrum@{column.name}')}, or leave it out with --drop"
        f" {quote(str(column.name))}"
    ]


def _contents(frame: pd.DataFrame) -> dict[str, tuple[Hashable, bool]]:
    """Return a comparable key of each column's contents, and whether its values differ."""
    plain = [isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in frame.dtypes]
    # Tables may be very wide: numbers are compared together.
    numbers = frame.loc[:, plain].to_numpy(dtype=np.float64).T
    known = ~np.isnan(numbers)
    first = np.take_along_axis(numbers, known.argmax(axis=1)[:, None], axis=1)
    varies = ((numbers != first) & known).any(axis=1)
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
