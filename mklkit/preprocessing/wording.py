"""Descriptions of a fitted encoder, in words and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mklkit.datasets.numerals import TEXT, WRITTEN
from mklkit.errors import counted, named
from mklkit.numerics.readings import MISSING
from mklkit.registry.abilities import kernels_on

__all__ = ["LIKE_IDENTIFIERS", "described", "input_columns", "left_out"]

LIKE_IDENTIFIERS = "a different value in every row, like identifiers"


class Encoding(Protocol):
    """What a fitted ``TableEncoder`` knows of its columns."""

    feature_names_in_: Any
    notes_: list[str]
    readings_: dict[str, str]
    identifiers_: list[str]
    dates_: list[str]
    numeric_: list[str]
    text_: list[str]
    as_they_are_: list[str]
    kept_: list[str]
    empty_: list[str]
    gaps_: dict[str, int]
    first_days_: dict[str, int]
    one_hot_: Any
    _number_columns: list[tuple[str, str]]
    _text_places: list[int]
    _with_gaps: list[str]


def described(encoder: Encoding) -> list[str]:
    """Return what was done to the training rows, a line each."""
    lines = list(encoder.notes_)
    if encoder.identifiers_:
        lines.append(left_out(encoder.identifiers_, encoder.readings_))
    if encoder.as_they_are_:
        lines.append(f"{named(encoder.as_they_are_)} kept for kernels on such columns")
    for name in encoder.dates_:
        parts = [part for column, part in encoder._number_columns if column == name]
        first = np.datetime64(int(encoder.first_days_[name]), "D")
        rest = f", with {' and '.join(parts[1:])}" if len(parts) > 1 else ""
        lines.append(f"dates in {name!r} as days since {first}{rest}")
    if encoder.text_:
        lines.append(
            f"{counted(len(encoder.text_), 'category column')} one-hot encoded into"
            f" {len(encoder._text_places)}"
        )
        for name, rare in zip(encoder.text_, encoder.one_hot_.infrequent_categories_, strict=True):
            if rare is not None:
                lines.append(f"{len(rare)} rare values of {name!r} joined as '{name}_other'")
    lines += _gap_lines(encoder)
    if encoder.empty_:
        lines.append(f"{counted(len(encoder.empty_), 'column')} without any value set to 0")
    return lines


def left_out(identifiers: Sequence[str], readings: Mapping[str, str]) -> str:
    """Return a line on columns that are left out, with what could read those of text.

    Examples
    --------
    >>> left_out(["id"], {})
    "column 'id' left out: a different value in every row, like identifiers"
    """
    line = f"{named(identifiers)} left out: {LIKE_IDENTIFIERS}"
    texts = [name for name in identifiers if readings.get(name) == TEXT]
    if texts:
        those = f" of {named(texts)}" if len(identifiers) > 1 else ""
        line += f" (if the text{those} is to be learned from, {kernels_on('text', texts[0])})"
    return line


def _gap_lines(encoder: Encoding) -> list[str]:
    lines = []
    in_text = sum(encoder.gaps_[name] for name in encoder.text_)
    if in_text:
        lines.append(
            f"{counted(in_text, 'gap')} in category columns taken as the value '{MISSING}'"
        )
    left = sum(encoder.gaps_[name] for name in encoder._with_gaps)
    if left:
        lines.append(f"{counted(left, 'gap')} in columns passed on left to their kernels")
    filled = {*encoder.numeric_, *encoder.dates_} - {*encoder.empty_, *encoder._with_gaps}
    in_numbers = sum(encoder.gaps_[name] for name in filled)
    if in_numbers:
        lines.append(f"{counted(in_numbers, 'gap')} imputed by the median")
    return lines


def input_columns(encoder: Encoding) -> list[dict[str, Any]]:
    """Return how each input column was treated, for ``TableEncoder.columns``."""
    kinds = dict.fromkeys(encoder.dates_, "date")
    kinds |= dict.fromkeys(encoder.identifiers_, "identifier")
    kinds |= dict.fromkeys(encoder.kept_, "text")
    known = encoder.one_hot_.categories_ if encoder.text_ else []
    values = dict(zip(encoder.text_, map(len, known), strict=True))
    rows: list[dict[str, Any]] = []
    for name in encoder.feature_names_in_:
        kind = "category" if name in values else kinds.get(name, "number")
        rows.append({"name": name, "kind": kind, "gaps": encoder.gaps_[name]})
        if encoder.readings_.get(name, TEXT) not in (TEXT, WRITTEN, "number"):
            rows[-1]["reading"] = encoder.readings_[name]
        if name in encoder.as_they_are_:
            rows[-1]["kept"] = True
        if name in values:
            rows[-1]["values"] = values[name]
    return rows
