"""Loading a table for training, or new rows for prediction, from a name or a path."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from os import PathLike

import attrs
import pandas as pd

from mklkit.datasets.files import ChunkedTable, Progress, is_large, read_whole
from mklkit.datasets.readings import (
    ColumnReading,
    is_text,
    read_as_text,
    read_later,
    settle_readings,
)
from mklkit.datasets.remarks import notes_on, remarks
from mklkit.datasets.table import NewRows, Table
from mklkit.datasets.target import (
    choose_column,
    class_labels,
    drop_without_target,
    learned_numbers,
    looks_like_numbers,
    numbers_of_weights,
    target_and_dropped,
    warn_of_numbers,
)
from mklkit.errors import DataError, listed, quoted, suggest

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
    raw = read_whole(source, as_written)
    frame, decimal, notes = raw.frame, raw.decimal, list(raw.notes)
    check_rows(raw.name, len(frame), least=1)
    counts = None
    if weights is not None:
        names = list(frame.columns)
        column = choose_column(names, weights, "to take as the weights of the rows")
        if target is not None:
            target, _ = target_and_dropped(names, raw.name, target, ())
            if target == column:
                raise DataError(
                    f"Column {quoted(column)} is the target and can't hold the weights of the rows"
                    " too."
                )
        counts = numbers_of_weights(read_target(frame.pop(column), decimal, []))
    label, dropped = target_and_dropped(list(frame.columns), raw.name, target, drop)
    labels = read_target(frame[label], decimal, notes)
    frame = frame.drop(columns=[*dropped, label])
    # Before rows go, so that a message names a row of the file.
    features, readings = settle_readings(frame, decimal or ".", written=_written(frame, as_written))
    if counts is not None:
        counts = counts[labels.notna()].reset_index(drop=True)
    frame = drop_without_target(pd.concat([features, labels], axis=1), label, notes)
    check_rows(raw.name, len(frame))
    labels = frame.pop(label)
    if task == "auto":
        task = "regression" if looks_like_numbers(labels) else "classification"
    notes += remarks(frame, labels, readings)
    if task == "regression":
        labels = learned_numbers(labels)
    else:
        labels = class_labels(labels)
        warn_of_numbers(labels)
    return Table(
        frame,
        labels,
        raw.name,
        raw.origin,
        notes,
        dropped,
        readings,
        weights=counts,
        task=task,
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
    raw = read_whole(source, read_as_text(readings))
    frame = raw.frame
    check_rows(raw.name, len(frame), least=1)
    wanted = list(columns if needed is None else needed)
    if raw.origin.startswith("libsvm"):
        # The format omits zeros, and trailing columns that are zero in all rows.
        absent = [column for column in wanted if column not in frame]
        frame = pd.concat([frame, pd.DataFrame(0.0, frame.index, absent)], axis=1)
    _check_needed(raw.name, frame.columns.tolist(), wanted, columns)
    rows, told = _new_rows(frame, columns, wanted, target, readings, raw.decimal)
    return attrs.evolve(rows, notes=raw.notes + notes_on(told))


def load_in_chunks(
    source: str | PathLike[str],
    columns: Sequence[str],
    target: str | None = None,
    needed: Sequence[str] | None = None,
    readings: Mapping[str, ColumnReading] | None = None,
    progress: Progress | None = None,
    chunk_rows: int | None = None,
) -> Iterator[NewRows]:
    """Read new rows as :func:`mklkit.datasets.load_features` does, large files in chunks.

    Small files are one chunk. Of large CSV and Parquet files, globs and folders of them, some
    thousand rows are in memory at a time, and are numbered from 1. Columns that training has not
    read are read in all chunks as in the first that holds some text in them.
    """
    if not is_large(source):
        yield load_features(source, columns, target, needed, readings)
        return
    table = ChunkedTable.opened(source, chunk_rows)
    wanted = list(columns if needed is None else needed)
    _check_needed(table.name, table.columns, wanted, columns)
    table.read_only([*wanted, *([] if target is None else [target])])
    known = {} if readings is None else dict(readings)
    table.as_text |= {*read_as_text(known)}
    n_rows, told, notes = 0, dict[str, ColumnReading](), list(table.notes)
    for chunk in table.chunks(progress, uniform=False):
        # In messages rows are named by their number in the file.
        frame = chunk.set_axis(pd.RangeIndex(n_rows + 1, n_rows + len(chunk) + 1, name="row"))
        n_rows += len(frame)
        rows, now = _new_rows(frame, columns, wanted, target, known, table.decimal)
        notes += notes_on({name: reading for name, reading in now.items() if name not in told})
        told, known = now | told, now | known
        yield attrs.evolve(rows, notes=notes)
        notes = []
    check_rows(table.name, n_rows, least=1)


def _check_needed(
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


def _new_rows(
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
