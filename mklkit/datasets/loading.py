"""Loading a table for training, or new rows for prediction, from a name or a path."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from os import PathLike

import attrs
import pandas as pd

from mklkit.datasets.builtin import BUILTIN_NAMES, ORIGINS, read_builtin
from mklkit.datasets.files import READERS, ending_of, read_file
from mklkit.datasets.notations import TEXT
from mklkit.datasets.paths import status, user_path
from mklkit.datasets.readings import notes_on, read_as_text, read_later, settle_readings
from mklkit.datasets.remarks import remarks
from mklkit.datasets.table import NewRows, RawTable, Table
from mklkit.datasets.target import (
    choose_target,
    choose_weights,
    class_labels,
    columns_to_drop,
    drop_without_target,
    learned_numbers,
    looks_like_numbers,
    numbers_of_weights,
    warn_of_numbers,
)
from mklkit.datasets.text_columns import ColumnReading, is_text
from mklkit.datasets.values import plain_values
from mklkit.errors import DataError, listed, suggest

__all__ = [
    "check_needed",
    "check_rows",
    "load_features",
    "load_table",
    "new_rows",
    "read_target",
    "remarks_on",
    "target_and_dropped",
]

# A column of numbers may mark a gap so; other marks may be classes.
TARGET_GAPS = frozenset({"none"})


def load_table(
    source: str | PathLike[str],
    target: str | int | None = None,
    drop: Sequence[str] = (),
    as_written: Collection[str] = (),
    weights: str | int | None = None,
    task: str = "classification",
) -> Table:
    """Read a data set with its target.

    Parameters
    ----------
    source : str or path
        A built-in name (``breast_cancer``, ``iris``, ``wine``, ``digits``, ``digits_sources``,
        ``mixed_sources``, ``multiple_features``) or the path of a CSV (also ``.gz``), Parquet,
        ARFF, libsvm or NPZ file.
    target : str or int, optional
        Name or position of the column to predict. Default: ``target``, else the last column.
    drop : sequence of str, optional
        Columns to leave out: names, globs (``lab_*``) or positions. Globs skip the target.
    as_written : collection of str, optional
        Columns that stay text, for kernels on text: globs or names; others are ignored.
    weights : str or int, optional
        Name or position of the column that says how much each row counts, which is no feature.
    task : {"classification", "regression", "auto"}, default="classification"
        What the target is for; ``"auto"``: numbers where it looks like numbers.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If there is no such data set, file or column, it can't be read, or there is nothing to
        learn from it.

    Examples
    --------
    >>> load_table("wine").features.shape
    (178, 13)
    """
    raw, name, origin = _read(source, as_written)
    frame, decimal, notes = raw.frame, raw.decimal, list(raw.notes)
    check_rows(name, len(frame), least=1)
    counts = None
    if weights is not None:
        column = choose_weights(list(frame.columns), weights, target)
        counts = numbers_of_weights(read_target(frame[column], decimal, []))
        target = None if target is None else choose_target(list(frame.columns), target)
        frame = frame.drop(columns=column)
    target_name, dropped = target_and_dropped(list(frame.columns), name, target, drop)
    labels = read_target(frame[target_name], decimal, notes)
    frame = frame.drop(columns=[*dropped, target_name])
    # Before rows go, so that a message names a row of the file.
    features, readings = settle_readings(frame, decimal or ".", written=_written(frame, as_written))
    known = labels.notna()
    frame = pd.concat([features, labels], axis=1)
    frame = drop_without_target(frame, target_name, notes)
    check_rows(name, len(frame))
    features, labels = frame.drop(columns=target_name), frame[target_name]
    if task == "auto":
        task = "regression" if looks_like_numbers(labels) else "classification"
    notes += remarks_on(features, labels, readings)
    labels = learned_numbers(labels) if task == "regression" else class_labels(labels)
    if task == "classification":
        warn_of_numbers(labels)
    if counts is not None:
        counts = counts[known].reset_index(drop=True)
    return Table(
        features, labels, name, origin, notes, dropped, readings, weights=counts, task=task
    )


def _written(frame: pd.DataFrame, globs: Collection[str]) -> list[str]:
    """Return the columns that stay text; numbers without leading zeros are numbers."""
    names = [str(name) for name in frame if any(fnmatchcase(str(name), glob) for glob in globs)]
    texts = {name: frame[name].dropna() for name in names if is_text(frame[name])}
    return [
        name
        for name, values in texts.items()
        if values.str.fullmatch(r"0\d+").any()
        or pd.to_numeric(values, errors="coerce").isna().any()
    ]


def remarks_on(
    features: pd.DataFrame, target: pd.Series, readings: Mapping[str, ColumnReading]
) -> list[str]:
    """Return what is worth saying of a table, and of how its text is read."""
    texts = [name for name, reading in readings.items() if reading.notation == TEXT]
    return notes_on(readings) + remarks(features, target, texts)


def target_and_dropped(
    columns: list[str], name: str, target: str | int | None, drop: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the target column and those to leave out, of a table with this name."""
    if len(columns) < 2:
        raise DataError(
            f"{name} has a single column, {columns[0]!r}: at least one feature and the target are"
            " needed. Fields are separated by comma, semicolon, tab or bar."
        )
    target_name = choose_target(columns, target)
    return target_name, columns_to_drop(columns, drop, target_name)


def load_features(
    source: str | PathLike[str],
    columns: Sequence[str],
    target: str | None = None,
    needed: Sequence[str] | None = None,
    readings: Mapping[str, ColumnReading] | None = None,
) -> NewRows:
    """Read new rows to predict for.

    Parameters
    ----------
    source : str or path
        As for ``load_table``.
    columns : sequence of str
        The feature columns the model was fitted on. Others are ignored.
    target : str, optional
        If the data have a column of this name, it is returned as the true labels.
    needed : sequence of str, optional
        Those of the columns that affect predictions; the others may be absent, and are returned
        without values. All by default.
    readings : mapping of str to ColumnReading, optional
        How the training table's columns of text were read, as in ``Table.readings``.

    Returns
    -------
    NewRows
        All rows, in the order of the file.

    Raises
    ------
    DataError
        If the data can't be read, have no rows, lack a feature column, or hold values unlike those
        of training.
    """
    readings = {} if readings is None else readings
    raw, name, origin = _read(source, read_as_text(readings))
    frame = raw.frame
    check_rows(name, len(frame), least=1)
    wanted = list(columns if needed is None else needed)
    if origin.startswith("libsvm"):
        # The format omits zeros, and trailing columns that are zero in all rows.
        absent = [column for column in wanted if column not in frame]
        frame = pd.concat([frame, pd.DataFrame(0.0, frame.index, absent)], axis=1)
    check_needed(name, frame.columns.tolist(), wanted, columns)
    rows, told = new_rows(frame, columns, wanted, target, readings, raw.decimal)
    return attrs.evolve(rows, notes=raw.notes + notes_on(told))


def new_rows(
    frame: pd.DataFrame,
    columns: Sequence[str],
    wanted: Sequence[str],
    target: str | None,
    readings: Mapping[str, ColumnReading],
    decimal: str | None,
) -> tuple[NewRows, dict[str, ColumnReading]]:
    """Return some rows as training would read them, and how their text is read."""
    labels = None
    if target is not None and target in frame:
        labels = read_target(frame[target], decimal, [])
    features, told = read_later(frame[list(wanted)], readings, decimal or ".")
    return NewRows(features.reindex(columns=list(columns)), labels), told


def check_needed(
    name: str, present: Sequence[str], wanted: Sequence[str], columns: Sequence[str]
) -> None:
    """Refuse new rows without a column that the model needs."""
    missing = [column for column in wanted if column not in present]
    if missing:
        others = [column for column in present if column not in columns]
        raise DataError(
            f"{name} lacks {len(missing)} of the {len(wanted)} columns the model needs:"
            f" {listed(missing)}.{suggest(missing[0], others)}"
        )


def check_rows(name: str, count: int, least: int = 2) -> None:
    """Refuse a table without rows, or with a single one to learn from."""
    if count < least:
        few = "a single row: at least two, of two classes, are needed" if count else "no rows"
        raise DataError(f"{name} has {few}.")


def read_target(column: pd.Series, decimal: str | None, notes: list[str]) -> pd.Series:
    """Read the target as numbers if all values are; most gap marks may be classes here."""
    if decimal is None:
        return column
    frame, readings = settle_readings(column.to_frame(), decimal, marks=TARGET_GAPS)
    notes += notes_on(readings)
    return frame[column.name]


def _read(source: str | PathLike[str], as_text: Collection[str] = ()) -> tuple[RawTable, str, str]:
    """Return a table, its name and its origin."""
    text = str(source)
    if text in BUILTIN_NAMES:
        return RawTable(read_builtin(text)), text, ORIGINS.get(text, "built into scikit-learn")
    path = user_path(text)
    if not path.suffix and status(path) is None:
        raise DataError(
            f"There is no built-in data set and no file {text!r}.{suggest(text, BUILTIN_NAMES)}"
            f" Built in: {', '.join(BUILTIN_NAMES)}. Files: {', '.join(READERS)}."
        )
    raw = read_file(path, as_text)
    frame, notes = plain_values(raw.frame)
    ending = ending_of(path) or ""
    name = path.name[: len(path.name) - len(ending)] or path.name
    raw = attrs.evolve(raw, frame=frame, notes=raw.notes + notes)
    return raw, name, f"{READERS[ending][0]} file {path.name}"
