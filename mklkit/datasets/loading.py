"""Loading a table for training, or new rows for prediction, from a name or a path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from mklkit.datasets.builtin import BUILTIN_NAMES, ORIGINS, read_builtin
from mklkit.datasets.delimited import DECIMAL
from mklkit.datasets.files import READERS, ending_of, read_file
from mklkit.datasets.numerals import TEXT, WRITTEN
from mklkit.datasets.paths import status, user_path
from mklkit.datasets.points import with_points_as_written
from mklkit.datasets.readings import read_as_text, read_columns
from mklkit.datasets.remarks import remarks, remarks_on_text
from mklkit.datasets.table import NewRows, Table
from mklkit.datasets.target import (
    choose_target,
    class_labels,
    columns_to_drop,
    drop_without_target,
    learned_numbers,
    looks_like_numbers,
    warn_of_numbers,
)
from mklkit.datasets.values import plain_values
from mklkit.datasets.weights import choose_weights, numbers_of_weights
from mklkit.errors import DataError, listed, suggest

__all__ = [
    "TARGET_GAPS",
    "check_needed",
    "check_rows",
    "load_features",
    "load_table",
    "read_features",
    "read_text",
    "target_and_dropped",
    "with_target_read",
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
        learn from it: no feature, a single row or class, a continuous target; or weights are not
        numbers from 0 up.

    Examples
    --------
    >>> load_table("wine").features.shape
    (178, 13)
    """
    frame, notes, name, origin = _read(source)
    check_rows(name, len(frame), least=1)
    counts = None
    if weights is not None:
        column = choose_weights(list(frame.columns), weights, target)
        counts = numbers_of_weights(with_target_read(frame, column, [])[column])
        target = None if target is None else choose_target(list(frame.columns), target)
        frame = frame.drop(columns=column)
    target_name, dropped = target_and_dropped(list(frame.columns), name, target, drop)
    frame = with_target_read(frame.drop(columns=dropped), target_name, notes)
    # Before rows go, so that a message names a row of the file.
    given = frame.drop(columns=target_name)
    written = _as_written(source, given, as_written)
    features, readings, read = read_features(
        given.drop(columns=list(written)), lambda names: _read(source, names)[0]
    )
    features = pd.concat([features, written], axis=1)[list(given)]
    readings |= dict.fromkeys(map(str, written), WRITTEN)
    frame = pd.concat([features, frame[[target_name]]], axis=1)
    if counts is not None:
        counts = counts[frame[target_name].notna()].reset_index(drop=True)
    frame = drop_without_target(frame, target_name, notes)
    check_rows(name, len(frame))
    if task == "auto":
        numbers = looks_like_numbers(frame[target_name])
        task = "regression" if numbers else "classification"
    if task == "regression":
        labels = learned_numbers(frame[target_name])
    else:
        labels = class_labels(frame[target_name])
        warn_of_numbers(labels)
    features = frame.drop(columns=target_name)
    notes += read + remarks(features, frame[target_name])
    notes += remarks_on_text(features[n] for n, way in readings.items() if way == TEXT)
    return Table(
        features, labels, name, origin, notes, dropped, readings, weights=counts, task=task
    )


def _as_written(
    source: str | PathLike[str], frame: pd.DataFrame, globs: Collection[str]
) -> pd.DataFrame:
    """Return the columns that stay text; numbers without leading zeros are numbers."""
    names = [str(n) for n in frame if any(fnmatchcase(str(n), glob) for glob in globs)]
    if not names:
        return frame[[]]
    again = _read(source, names)[0][names]
    padded = (again[name].astype("str").str.fullmatch(r"0\d+").any() for name in names)
    pairs = zip(names, padded, strict=True)
    return again[[name for name, digits in pairs if digits or not is_numeric_dtype(frame[name])]]


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
    readings: Mapping[str, str] | None = None,
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
    readings : mapping of str to str, optional
        How the training table's columns of text were read, as in ``Table.readings``.

    Returns
    -------
    NewRows
        All rows, in the order of the file.

    Raises
    ------
    DataError
        If the data can't be read, have no rows, or lack a feature column.
    """
    readings = {} if readings is None else readings
    frame, notes, name, _ = _read(source, read_as_text(readings))
    if frame.empty:
        raise DataError(f"{name} has no rows.")
    wanted = list(columns if needed is None else needed)
    if _is_libsvm(source):
        # The format omits zeros, and trailing columns that are zero in all rows.
        absent = [column for column in wanted if column not in frame]
        frame = pd.concat([frame, pd.DataFrame(0.0, frame.index, absent)], axis=1)
    check_needed(name, frame.columns.tolist(), wanted, columns)
    labels = None
    if target is not None and target in frame:
        labels = with_target_read(frame, target, [])[target]
    features, _, read = read_text(frame[wanted], readings)
    return NewRows(features.reindex(columns=list(columns)), labels, notes + read)


def check_needed(
    name: str, found: Sequence[str], wanted: Sequence[str], columns: Sequence[str]
) -> None:
    """Refuse new rows without a column that the model needs."""
    missing = [column for column in wanted if column not in found]
    if missing:
        near = suggest(missing[0], [one for one in found if one not in columns])
        raise DataError(
            f"{name} lacks {len(missing)} of the {len(wanted)} columns the model needs:"
            f" {listed(missing)}.{near}"
        )


def check_rows(name: str, count: int, least: int = 2) -> None:
    """Refuse a table without rows, or of a single one."""
    if count == 0:
        raise DataError(f"{name} has no rows.")
    if count < least:
        raise DataError(f"{name} has a single row: at least two, of two classes, are needed.")


def read_features(
    frame: pd.DataFrame, reread: Callable[[Sequence[str]], pd.DataFrame]
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Settle how columns of text are read, with those of numbers that may be grouped by points."""
    if DECIMAL in frame.attrs:
        frame = with_points_as_written(frame, reread)
    return read_text(frame)


def read_text(
    frame: pd.DataFrame, readings: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Read columns of text as numbers or dates; categories of an ARFF file are none."""
    return read_columns(frame, frame.attrs.get(DECIMAL, "."), readings)


def with_target_read(frame: pd.DataFrame, target: str, notes: list[str]) -> pd.DataFrame:
    """Read the target as numbers if all values are; most gap marks may be classes here."""
    if DECIMAL not in frame.attrs:
        return frame
    read, _, said = read_columns(frame[[target]], frame.attrs[DECIMAL], marks=TARGET_GAPS)
    notes += said
    return frame.assign(**{target: read[target]})


def _read(
    source: str | PathLike[str], as_text: Sequence[str] = ()
) -> tuple[pd.DataFrame, list[str], str, str]:
    text = str(source)
    if text in BUILTIN_NAMES:
        return read_builtin(text), [], text, ORIGINS.get(text, "built into scikit-learn")
    path = user_path(text)
    if not path.suffix and status(path) is None:
        raise DataError(
            f"There is no built-in data set and no file {text!r}.{suggest(text, BUILTIN_NAMES)}"
            f" Built in: {', '.join(BUILTIN_NAMES)}. Files: {', '.join(READERS)}."
        )
    frame, notes = read_file(path, as_text)
    frame, plain = plain_values(frame)
    ending = ending_of(path) or ""
    name = path.name[: len(path.name) - len(ending)] or path.name
    return frame, notes + plain, name, f"{READERS[ending][0]} file {path.name}"


def _is_libsvm(source: str | PathLike[str]) -> bool:
    ending = None if str(source) in BUILTIN_NAMES else ending_of(Path(source))
    return ending is not None and READERS[ending][0] == "libsvm"
