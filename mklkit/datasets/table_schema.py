"""The schema of a user's table, settled from its rows and the sources that kernels read.

An estimator declares the ``Source`` of each of its kernels before any table is known
(``estimators/declaring.py``), and ``build_pipeline`` makes the encoder with both. The schema is
determined here, from the training table and the sources, and whatever comes later only reads it:
the encoder, the reader of new samples, explanations, which refit with it, and model files, in which
it is an array for each property.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype

from mklkit.datasets.columns import is_date, is_number_type, is_numeric
from mklkit.datasets.identifiers import LIKE_IDENTIFIERS, find_identifiers
from mklkit.datasets.notations import TEXT, WRITTEN
from mklkit.datasets.readings import holds_of, is_text, read_later, settle_notations
from mklkit.datasets.selecting import chosen_columns, passed_on
from mklkit.errors import DataError, named, quoted
from mklkit.estimators.sources import is_free_text, sources_told
from mklkit.protocols import AS_READ, Column, Columns, Gaps, Holds, Reads, Schema, Source
from mklkit.registry.composing import kernels_on

UNLIKE = "because it has a different value in every row, as identifiers have"
REASONS = {
    "identifier": UNLIKE,
    "target": "because it is the target",
    "weight": "because it holds the sample weights",
    "group": "because it holds the groups of the samples",
    "split": "because it gives the split",
    "dropped": "by --drop",
}
"""Why a kernel can't read a column that has a role other than that of a feature."""


def columns_of(
    frame: pd.DataFrame, notations: Mapping[str, str], others: Iterable[Column] = ()
) -> Schema:
    """Return the schema of a table whose columns of text have been read in these notations.

    ``others`` are columns of the same file that are not features.
    """
    names = list(map(str, frame.columns))
    identifiers = {*find_identifiers(frame)}
    features = Columns.named(
        names,
        holds=all_held(frame),
        notation=[notations.get(name, AS_READ) for name in names],
        role=["identifier" if name in identifiers else "feature" for name in names],
    )
    return Schema(features + others)


def notations_in(schema: Schema) -> dict[str, str]:
    """Return the notations of the columns that were text, or can't be numbers or dates."""
    columns = schema.columns
    plain = columns.are(holds="numbers") | columns.are(holds="dates")
    written = ~(plain & columns.are(notation=AS_READ))
    notations = columns.values("notation")[written].tolist()
    return dict(zip(schema.names_of(written), notations, strict=True))


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
        columns = _as_held(Schema(schema.columns + new.columns).columns_named(names), frame)
        known = {*names}
        absent = np.array([name not in known for name in schema.columns.values("name")], bool)
        others = schema.columns[absent & schema.columns.are_left_out]
    else:
        frame, notations, notes = settle_notations(written)
        columns = columns_of(frame, notations).columns
        others = Columns()
    schema = attrs.evolve(schema, sources=sources_told(frame, schema.sources))
    check_sources(attrs.evolve(schema, columns=columns + others))
    resolved = _for_sources(frame, attrs.evolve(schema, columns=columns))
    if not schema.columns:
        # Text for its kernel, even if it looks like dates.
        as_written = resolved.are(holds="text") & resolved.are_read
        as_written &= ~_notations_hold(resolved, "text")
        resolved = _with_notation_as_read(resolved, as_written)
        for place in np.flatnonzero(as_written).tolist():
            frame[names[place]] = written[names[place]]
    if resolved.are_left_out.all():
        raise DataError(f"No feature is left: {named(names)} dropped, with {LIKE_IDENTIFIERS}.")
    return frame, attrs.evolve(schema, columns=resolved, settled=True), notes


def _as_held(columns: Columns, frame: pd.DataFrame) -> Columns:
    """Return columns as their values are, which may be other than the schema says."""
    held = columns.changed(holds=all_held(frame))
    misread = ~(held.are(holds="numbers") | held.are(holds="dates"))
    return _with_notation_as_read(held, misread & ~_notations_hold(columns, "text"))


def _notations_hold(columns: Columns, holds: Holds) -> NDArray[np.bool_]:
    """Return which columns (d,) hold this if they are read in their notation."""
    notations = columns.values("notation")
    fitting = [notation for notation in dict.fromkeys(notations) if holds_of(notation) == holds]
    return np.isin(notations.astype(str), fitting)


def _with_notation_as_read(columns: Columns, mask: NDArray[np.bool_]) -> Columns:
    """Return the columns without the notation of those in a mask (d,)."""
    return columns.changed(notation=np.where(mask, AS_READ, columns.values("notation")))


def all_held(frame: pd.DataFrame) -> list[Holds]:
    """Return what each column holds, for an encoder; one without any value counts as numbers."""
    # Tables may be very wide; most of the columns of wide ones have a type of numbers.
    return [
        "numbers" if is_number_type(kind) else _holds(frame.iloc[:, place])
        for place, kind in enumerate(frame.dtypes)
    ]


def _holds(column: pd.Series) -> Holds:
    if is_date(column):
        return "dates"
    if is_numeric(column):
        return "numbers"
    return "text" if is_text(column) else "other values"


def _for_sources(frame: pd.DataFrame, schema: Schema) -> Columns:
    """Return the columns with what kernels read in them, and what becomes of their gaps."""
    names = frame.columns.tolist()
    unchanged = [source for source in schema.sources if source.unchanged]
    words = [
        name for name, kind in frame.dtypes.items() if schema.infer and not is_number_type(kind)
    ]
    free = [name for name in words if is_free_text(frame[name])]
    selectors = [*schema.unchanged, *([free] if free else [])]
    passed = set(passed_on(selectors, names, schema.named(role="identifier")))
    amounts = [source for source in unchanged if source.reads == "amounts"]
    filled = [source.columns for source in amounts if not source.skips_gaps]
    imputed = chosen_columns(filled, names)
    chosen = [(source, chosen_columns([source.columns], names)) for source in unchanged]
    holds: list[Holds] = schema.columns.values("holds").tolist()
    gaps: list[Gaps] = ["median" if of in ("numbers", "dates") else "category" for of in holds]
    reads: list[tuple[Reads, ...]] = [()] * len(names)
    for place in [place for place, name in enumerate(names) if name in passed]:
        name, values = names[place], frame.iloc[:, place]
        numeric = is_numeric(values) or is_bool_dtype(values)
        written = schema.columns.values("notation")[place] == WRITTEN
        holds[place] = "numbers" if numeric and not written else "text"
        readers: list[Any] = [source.reads for source, of_source in chosen if name in of_source]
        reads[place] = tuple(dict.fromkeys(readers)) or ("text",)
        gaps[place] = "median" if name in imputed else "kept"
    return schema.columns.changed(holds=holds, gaps=gaps, reads=reads)


def check_sources(schema: Schema) -> None:
    """Raise a ``DataError`` if a kernel names a column that is dropped, with the reason."""
    columns = schema.columns
    words = columns.are(notation=TEXT) | columns.are(notation=WRITTEN)
    texts = schema.names_of(columns.are(role="identifier") & words)
    others = bool((columns.are(role="feature") & ~words).any())
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
        f"Kernel {quoted(source.label)}: the column {quoted(name)} is dropped, {reason}."
        f" Choose other columns for this kernel{advice}."
    )


def without_unread(features: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the columns in use: identifiers only if a kernel names them."""
    read = chosen_columns(schema.unchanged, features.columns.tolist())
    names = {*features.columns} - read
    return features.drop(columns=[n for n in schema.named(role="identifier") if n in names])
