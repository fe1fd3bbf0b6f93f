"""Descriptions of a fitted ``TableEncoder``, in words and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mklkit.datasets.notations import NUMBER, TEXT, VALUES, WRITTEN
from mklkit.datasets.readings import ColumnReading
from mklkit.errors import counted, named
from mklkit.numerics.readings import MISSING
from mklkit.registry.abilities import kernels_on

__all__ = ["LIKE_IDENTIFIERS", "described", "input_columns", "left_out"]

LIKE_IDENTIFIERS = "a different value in every row, like identifiers"


def described(encoder: Any) -> list[str]:
    """Return what was done to the training rows, a line each."""
    lines = list(encoder.notes_)
    if encoder.identifiers_:
        lines.append(left_out(encoder.identifiers_, encoder.readings_))
    if encoder.as_they_are_:
        lines.append(f"{named(encoder.as_they_are_)} kept for kernels on such columns")
    lines += [parts.described(name) for name, parts in encoder.dates_.items()]
    if encoder.text_:
        n_one_hot = sum(source in encoder.text_ for source in encoder.sources_)
        lines.append(
            f"{counted(len(encoder.text_), 'category column')} one-hot encoded into {n_one_hot}"
        )
        for name, rare in zip(encoder.text_, encoder.one_hot_.infrequent_categories_, strict=True):
            if rare is not None:
                lines.append(f"{len(rare)} rare values of {name!r} joined as '{name}_other'")
    filled = {*encoder.numeric_, *encoder.dates_} - {*encoder.empty_, *encoder.with_gaps_}
    fates = [
        (encoder.text_, f"in category columns taken as the value '{MISSING}'"),
        (encoder.with_gaps_, "in columns passed on left to their kernels"),
        (filled, "imputed by the median"),
    ]
    for columns, fate in fates:
        n_gaps = sum(encoder.gaps_[name] for name in columns)
        if n_gaps:
            lines.append(f"{counted(n_gaps, 'gap')} {fate}")
    if encoder.empty_:
        lines.append(f"{counted(len(encoder.empty_), 'column')} without any value set to 0")
    return lines


def left_out(identifiers: Sequence[str], readings: Mapping[str, ColumnReading]) -> str:
    """Return a line on columns that are left out, with what could read those of text.

    Examples
    --------
    >>> left_out(["id"], {})
    "column 'id' left out: a different value in every row, like identifiers"
    """
    line = f"{named(identifiers)} left out: {LIKE_IDENTIFIERS}"
    texts = [name for name in identifiers if name in readings and readings[name].notation == TEXT]
    if texts:
        which = f" of {named(texts)}" if len(identifiers) > 1 else ""
        line += f" (if the text{which} is to be learned from, {kernels_on('text', texts[0])})"
    return line


def input_columns(encoder: Any) -> list[dict[str, Any]]:
    """Return how each input column was treated, for ``TableEncoder.columns``."""
    known = encoder.one_hot_.categories_ if encoder.text_ else []
    values = dict(zip(encoder.text_, map(len, known), strict=True))
    rows: list[dict[str, Any]] = []
    for name in encoder.feature_names_in_:
        row = {"name": name, "kind": encoder.kinds_[name], "gaps": encoder.gaps_[name]}
        notation = encoder.readings_.get(name, ColumnReading()).notation
        if notation not in (TEXT, WRITTEN, VALUES, NUMBER):
            row["reading"] = notation
        if name in encoder.as_they_are_:
            row["kept"] = True
        if name in values:
            row["values"] = values[name]
        rows.append(row)
    return rows
