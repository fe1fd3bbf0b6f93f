"""The schema of a user's table, settled from its rows and the sources that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import pandas as pd
from pandas.api.types import is_bool_dtype

from mklkit.datasets.columns import is_date, is_numeric
from mklkit.datasets.identifiers import LIKE_IDENTIFIERS, find_identifiers
from mklkit.datasets.notations import TEXT, WRITTEN
from mklkit.datasets.readings import holds_of, is_text, read_later, settle_notations
from mklkit.datasets.selecting import chosen_columns, passed_on
from mklkit.errors import DataError, named, quoted
from mklkit.estimators.sources import is_free_text, sources_told
from mklkit.protocols import AS_READ, Column, Gaps, Holds, Schema, Source
from mklkit.registry.composing import kernels_on

UNLIKE = "because it has a different value in every row, as identifiers have"
REASONS = {
    "identifier": UNLIKE,
    "target": "because it is the target",
    "weight": "because it holds the weights of the rows",
    "group": "because it holds the groups of the rows",
    "split": "because it gives the split",
    "left out": "by --drop",
}
"""Why a kernel can't read a column that has a role other than that of a feature."""


def columns_of(
    frame: pd.DataFrame, notations: Mapping[str, str], others: Iterable[Column] = ()
) -> Schema:
    """Return the schema of a table whose columns of text have been read in these notations.

    ``others`` are columns of the same file that are not features.
    """
    identifiers = find_identifiers(frame)
    features = [
        Column(
            str(name),
            _holds(column),
            notations.get(str(name), AS_READ),
            "identifier" if name in identifiers else "feature",
        )
        for name, column in frame.items()
    ]
    return Schema([*features, *others])


def notations_in(columns: Iterable[Column]) -> dict[str, str]:
    """Return the notations of the columns that were text, or can't be numbers or dates."""
    return {
        str(column.name): column.notation
        for column in columns
        if column.notation != AS_READ or column.holds not in ("numbers", "dates")
    }


def settled(written: pd.DataFrame, schema: Schema) -> tuple[pd.DataFrame, Schema, list[str]]:
    """Return a table with its text read, its schema settled for the sources, and notes.

    Columns that the schema has are read as it says, others by their values.
    """
    names = written.columns.tolist()
    if schema.columns:
        frame, read, notes = read_later(written, notations_in(schema))
        if schema.settled and schema.names == tuple(names):
            return frame, schema, notes
        new = columns_of(frame[[name for name in names if name not in schema]], read)
        columns = [
            _as_held(schema[name], frame[name]) if name in schema else new[name] for name in names
        ]
        others = [column for column in schema if column.name not in frame and column.left_out]
    else:
        frame, notations, notes = settle_notations(written)
        columns = list(columns_of(frame, notations))
        others = []
    schema = attrs.evolve(schema, sources=sources_told(frame, schema.sources))
    check_sources(attrs.evolve(schema, columns=[*columns, *others]))
    resolved = _for_sources(frame, attrs.evolve(schema, columns=columns))
    for place, column in enumerate(() if schema.columns else resolved):
        if column.reads and column.holds == "text" and holds_of(column.notation) != "text":
            # Text for its kernel, even if it looks like dates.
            frame[column.name] = written[column.name]
            resolved[place] = attrs.evolve(column, notation=AS_READ)
    left_out = [str(column.name) for column in resolved if column.left_out]
    if len(left_out) == len(names):
        raise DataError(f"No feature is left: {named(left_out)} left out, with {LIKE_IDENTIFIERS}.")
    return frame, attrs.evolve(schema, columns=resolved, settled=True), notes


def _as_held(column: Column, values: pd.Series) -> Column:
    """Return a column as these values are, which may be other than the schema says."""
    holds = _holds(values)
    misread = holds not in ("numbers", "dates") and holds_of(column.notation) != "text"
    return attrs.evolve(column, holds=holds, notation=AS_READ if misread else column.notation)


def _holds(column: pd.Series) -> Holds:
    """Return what a column holds, for an encoder; one without any value counts as numbers."""
    if is_date(column):
        return "dates"
    if is_numeric(column):
        return "numbers"
    return "text" if is_text(column) else "other values"


def _for_sources(frame: pd.DataFrame, schema: Schema) -> list[Column]:
    """Return the columns with what kernels read in them, and what becomes of their gaps."""
    names = frame.columns.tolist()
    unchanged = [source for source in schema.sources if source.unchanged]
    free = [name for name in names if schema.infer and is_free_text(frame[name])]
    selectors = [*schema.unchanged, *([free] if free else [])]
    passed = set(passed_on(selectors, names, schema.named(role="identifier")))
    amounts = [source for source in unchanged if source.reads == "amounts"]
    filled = [source.columns for source in amounts if not source.skips_gaps]
    imputed = chosen_columns(filled, names)
    chosen = [(source, chosen_columns([source.columns], names)) for source in unchanged]
    columns = []
    for column in schema:
        if column.name not in passed:
            gaps: Gaps = "median" if column.holds in ("numbers", "dates") else "category"
            columns.append(attrs.evolve(column, reads=(), gaps=gaps))
            continue
        values = frame[column.name]
        numeric = is_numeric(values) or is_bool_dtype(values)
        holds: Holds = "numbers" if numeric and column.notation != WRITTEN else "text"
        readers: list[Any] = [
            source.reads for source, of_source in chosen if column.name in of_source
        ]
        columns.append(
            attrs.evolve(
                column,
                holds=holds,
                reads=tuple(dict.fromkeys(readers)) or ("text",),
                gaps="median" if column.name in imputed else "kept",
            )
        )
    return columns


def check_sources(schema: Schema) -> None:
    """Raise a ``DataError`` if a kernel names a column that is left out, with the reason."""
    identifiers = schema.named(role="identifier")
    texts = [name for name in identifiers if schema[name].notation in (TEXT, WRITTEN)]
    others = [
        column
        for column in schema
        if column.role == "feature" and column.notation not in (TEXT, WRITTEN)
    ]
    for source in schema.sources:
        for name in source.names if source.reads is not None else ():
            role = schema[name].role if name in schema else "feature"
            if role in ("feature", "empty") or (role == "identifier" and source.unchanged):
                continue
            # Sequences differ in every row too.
            text = role == "identifier" and schema[name].notation == TEXT
            advice = f", or {kernels_on('text')}" if text else ""
            raise _left_out(source, name, REASONS[role], advice)
        # A kernel without columns reads all that are left, which are not all text.
        if source.reads == "text" and source.columns is None and texts and others:
            advice = f", or name it: '{source.label}@{texts[0]}'"
            raise _left_out(source, texts[0], UNLIKE, advice)


def _left_out(source: Source, name: str, reason: str, advice: str) -> DataError:
    return DataError(
        f"Kernel {quoted(source.label)}: the column {quoted(name)} is left out, {reason}."
        f" Choose other columns for this kernel{advice}."
    )


def without_unread(features: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the columns in use: identifiers only if a kernel names them."""
    read = chosen_columns(schema.unchanged, features.columns.tolist())
    unread = [name for name in schema.named(role="identifier") if name not in read]
    return features.drop(columns=[name for name in unread if name in features])
