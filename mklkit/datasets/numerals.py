"""Numbers as people and spreadsheets write them: 1,200 and −3 with a minus sign of print."""

from __future__ import annotations

import re

import pandas as pd
from pandas.api.types import is_string_dtype

__all__ = ["read_numerals"]

MINUS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}\N{FIGURE DASH}", "---")
PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
# What stands between thousands: a comma, an apostrophe or one of the narrow spaces. No such number
# starts with a zero: the comma of 0,125 is a decimal one.
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}([,'’\u00a0\u2009\u202f ]\d{3})+(\.\d*)?", re.ASCII)
SEPARATORS = str.maketrans("", "", ",'’\u00a0\u2009\u202f ")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?", re.ASCII)


def read_numerals(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Read columns of text as numbers where all their values are, however they are written.

    A column is one of groups of thousands, or of decimal commas, where all its values fit; text
    in between leaves it as it is.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    frame : pandas.DataFrame
    notes : list of str
        A sentence a column that was read so, with an example.

    Examples
    --------
    >>> frame, notes = read_numerals(pd.DataFrame({"price": ["900", "1,200"]}))
    >>> frame["price"].tolist(), notes
    ([900, 1200], ["column 'price' read as numbers: '1,200' as 1200"])
    """
    read: dict[str, pd.Series] = {}
    notes = []
    for name, kind in frame.dtypes.items():
        if not is_string_dtype(kind):
            continue
        column = frame[name]
        written = [str(value) for value in column.dropna()]
        plain = _plain(written)
        if plain is None:
            continue
        values = pd.Series(plain, index=column.dropna().index)
        numbers = pd.to_numeric(values).reindex(column.index)
        read[str(name)] = numbers
        changed = next(
            (pair for pair in zip(written, plain, strict=True) if pair[0] != pair[1]), None
        )
        if changed is not None:
            notes.append(f"column {name!r} read as numbers: {changed[0]!r:.40} as {changed[1]:.40}")
    return (frame.assign(**read) if read else frame), notes


def _plain(written: list[str]) -> list[str] | None:
    """Return numbers as Python writes them, or None where some value is none."""
    if not written:
        return None
    values = [value.strip().translate(MINUS) for value in written]
    other = [value for value in values if not PLAIN.fullmatch(value)]
    if all(GROUPED.fullmatch(value) for value in other):
        return [value.translate(SEPARATORS) for value in values]
    if all(DECIMAL_COMMA.fullmatch(value) for value in other):
        return [value.replace(",", ".") for value in values]
    return None
