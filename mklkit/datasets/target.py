"""The choice of the target and of columns to leave out, and checks of target and weights."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import (
    infer_dtype,
    is_bool_dtype,
    is_float_dtype,
    is_integer_dtype,
    is_numeric_dtype,
)

from mklkit.errors import DataError, MKLKitWarning, counted, cut, listed, quoted, suggest
from mklkit.estimators.training_data import weights_in_range
from mklkit.protocols import Task
from mklkit.protocols.component import AUTO_TASK, TASK
from mklkit.registry.columns import resolve_columns
from mklkit.registry.tasks import all_tasks, task_named

DEFAULT_TARGET = "target"
# A target with more values than this and few rows per value is an identifier or a measurement.
MANY_CLASSES = 20
ROWS_PER_CLASS = 3
# Whole numbers with more different values than this share of the rows are numbers, not classes.
SHARE_OF_ROWS = 0.1
NAMES_SHOWN = 12
OF_NUMBERS = ("integer", "floating", "mixed-integer-float")
"""The kinds of objects that are numbers, as pandas calls them."""
LEARNED = ("string", "integer", "floating", "mixed-integer-float", "boolean", "empty")
"""The kinds of labels that methods learn, as pandas calls them."""


def choose_column(columns: list[str], wanted: str | int, purpose: str) -> str:
    """Return a column's name from a name or a position (also as text; -1 is the last)."""
    if isinstance(wanted, str) and wanted in columns:
        return wanted
    try:
        position = int(wanted)
    except ValueError:
        shown = ", ".join(columns[:NAMES_SHOWN]) + (", …" if len(columns) > NAMES_SHOWN else "")
        raise DataError(
            f"There is no column {quoted(wanted)} {purpose}.{suggest(str(wanted), columns)}"
            f" Columns: {shown}."
        ) from None
    if not -len(columns) <= position < len(columns):
        raise DataError(
            f"There is no column {quoted(position)}: the data have {len(columns)} columns, 0 to"
            f" {len(columns) - 1} (or -1 for the last)."
        )
    return columns[position]


Wanted = str | int | Sequence[str | int] | None
"""Target columns by name or position, one or several; None for the usual one."""


def targets_and_dropped(
    columns: list[str], name: str, target: Wanted, drop: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the target columns and those to leave out, for a table with this name.

    Targets are given by name or position, by default ``target``, else the last column; columns to
    leave out by names, globs or positions, which never match a target.

    >>> columns = ["id", "lab_a", "lab_b", "age", "kind"]
    >>> targets_and_dropped(columns, "wards", None, ["lab_*", "id"])
    (['kind'], ['id', 'lab_a', 'lab_b'])
    """
    if len(columns) < 2:
        raise DataError(
            f"{name} has a single column, {columns[0]!r}: it needs at least one feature and"
            " the target. Fields are separated by comma, semicolon, tab or bar."
        )
    if target is None:
        target = DEFAULT_TARGET if DEFAULT_TARGET in columns else columns[-1]
    wanted = [target] if isinstance(target, str | int) else target
    labels = [choose_column(columns, each, "to take as the target") for each in wanted]
    if len(set(labels)) < len(labels):
        raise DataError(f"The targets must be different columns; got {listed(labels)}.")
    if not drop:
        return labels, []
    for label in labels:
        if label in drop:
            raise DataError(
                f"Column {label!r} is the target and can't be dropped; --target chooses another."
            )
    places = resolve_columns(drop, len(columns), columns)
    matched = set(columns) if places is None else {columns[place] for place in places}
    dropped = [column for column in columns if column in matched and column not in labels]
    if len(dropped) == len(columns) - len(labels):
        raise DataError(
            f"No feature is left: {cut(', '.join(drop))} leaves out all {len(dropped)}."
        )
    return labels, dropped


def wanted_targets(target: Wanted, task: str) -> Wanted:
    """Return the columns to predict: for a task with several, those of its options' names."""
    if target is not None or task == AUTO_TASK:
        return target
    columns = task_named(task).columns
    return [column.name for column in columns] or None


def drop_without_target(
    frame: pd.DataFrame, names: Sequence[str], notes: list[str]
) -> pd.DataFrame:
    """Leave out the rows that lack a target, and note how many."""
    known = frame[list(names)].notna().all(axis=1).to_numpy()
    note_without_target(known, names, notes)
    return frame if known.all() else frame[known].reset_index(drop=True)


def note_without_target(known: NDArray[np.bool_], names: Sequence[str], notes: list[str]) -> int:
    """Return how many rows are ``known`` to have all targets, and note how many lack one."""
    n_known = int(known.sum())
    if not n_known:
        raise DataError(f"The target {listed(names)} has no values at all.")
    if n_known < len(known):
        notes.append(f"{counted(len(known) - n_known, 'sample')} without a target dropped")
    return n_known


def read_targets(columns: pd.DataFrame, task: str) -> tuple[pd.DataFrame, Task]:
    """Return target columns without gaps as their task reads them, and the task.

    ``"auto"`` is the first task, by name, that claims them.
    """
    if task == AUTO_TASK:
        task = task_claiming(columns)
    chosen = task_named(task, [str(name) for name in columns])
    return chosen.read(columns), chosen


def task_claiming(columns: pd.DataFrame) -> str:
    """Return the name of the task that target columns, without gaps, look like."""
    return next((task.name for task in all_tasks() if task.claims(columns)), TASK)


def class_labels(target: pd.Series, n_rows: int | None = None, fewest: int = 2) -> pd.Series:
    """Return the labels as plain text, integers or booleans; mixed types as text.

    They are a column without gaps, or the distinct values of ``n_rows`` rows. Numbers with a
    fraction, less than the ``fewest`` classes, and nearly one class per row raise an error.
    """
    labels = _plain(target)
    n_rows = len(labels) if n_rows is None else n_rows
    n_classes = labels.nunique()
    of_numbers = is_numeric_dtype(labels) and not is_bool_dtype(labels)
    advice = ""
    if of_numbers and n_classes > 1:
        advice = ", or learn the numbers: 'mklkit fit --task regression', or MKLRegressor in Python"
    if is_float_dtype(labels):
        # If all are whole numbers, they are too large to be told apart as classes.
        example = next((value for value in labels if value != round(value)), labels.iloc[0])
        reason = f"is continuous (it holds {example:g}) instead of classes"
    elif n_classes < fewest:
        reason = f"has a single class ({labels.tolist()[0]!r}) in {counted(n_rows, 'sample')}"
    elif n_classes > MANY_CLASSES and n_rows < ROWS_PER_CLASS * n_classes:
        kind = "a measurement" if of_numbers else "an identifier"
        reason = f"has {n_classes} different values in {n_rows} rows: {kind}, not a class"
    else:
        return labels
    raise DataError(
        f"The target {target.name!r} {reason}. Choose a column of at least two classes{advice}."
    )


def looks_like_numbers(target: pd.Series) -> bool:
    """Return whether a target without gaps holds numbers rather than classes.

    Numbers with a fraction are; whole numbers are if there are more than 20 different ones, and
    more than a tenth as many as rows.
    """
    of_numbers = is_numeric_dtype(target) and not is_bool_dtype(target)
    if not of_numbers and infer_dtype(target) not in OF_NUMBERS:
        return False
    values = target.astype("float64")
    if not np.isfinite(values).all() or bool((values != values.round()).any()):
        return True
    n_values = int(values.nunique())
    return n_values > MANY_CLASSES and n_values > SHARE_OF_ROWS * len(values)


def scored_numbers(target: pd.Series) -> pd.Series:
    """Return a target without gaps as numbers in float64, which may all be the same."""
    if not is_numeric_dtype(target) or is_bool_dtype(target):
        raise DataError(
            f"The target {target.name!r} holds {quoted(str(target.iloc[0]))}, not numbers, as"
            " regression needs: choose a column of numbers by --target, or leave out --task"
            " regression."
        )
    return _finite(target)


def learned_numbers(target: pd.Series) -> pd.Series:
    """Return a target without gaps as numbers in float64, of which some must differ."""
    values = scored_numbers(target)
    if values.nunique() < 2:
        raise DataError(
            f"The target {target.name!r} is {values.iloc[0]:g} in all {len(values)} rows: there is"
            " nothing to learn."
        )
    return values


def numbers_of_weights(column: pd.Series) -> pd.Series:
    """Return weights as numbers, which must be finite and not negative."""
    numbers = pd.to_numeric(column, errors="coerce").astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        value = column.iloc[wrong[0]]
        raise DataError(
            f"The column {quoted(str(column.name))} holds the sample weights, which must be"
            f" finite numbers from 0 up; row {wrong[0] + 1} has"
            f" {'nothing' if pd.isna(value) else quoted(value)}."
        )
    if (numbers > 0).any():
        weights_in_range(numbers[numbers > 0].to_numpy())
    return numbers


def warn_of_numbers(labels: pd.Series) -> None:
    """Warn of a target with so many different numbers that it looks like a measurement."""
    n_classes = labels.nunique()
    if n_classes > MANY_CLASSES and is_integer_dtype(labels):
        warnings.warn(
            f"The target {labels.name!r} looks like a number: it has {n_classes} different values,"
            " and each is taken as a class. If that is wrong, choose a column of classes.",
            MKLKitWarning,
            stacklevel=2,
        )


def _plain(target: pd.Series) -> pd.Series:
    if isinstance(target.dtype, pd.CategoricalDtype):
        target = target.astype(target.cat.categories.dtype)
    if target.dtype == object:
        target = target.infer_objects()
    if is_bool_dtype(target):
        return target.astype(bool)
    if is_integer_dtype(target):
        return target.astype("int64")
    if is_float_dtype(target):
        values = _finite(target)
        whole = values.abs().max() < 2**53 and bool((values == values.round()).all())
        return values.astype("int64") if whole else values
    return target.map(str).astype(object)


def _finite(target: pd.Series) -> pd.Series:
    values = target.astype("float64")
    if not np.isfinite(values).all():
        raise DataError(
            f"The target {target.name!r} holds an infinite number. Leave the cell empty if the"
            " value is unknown."
        )
    return values


def check_labels(name: str, labels: NDArray[Any]) -> None:
    """Raise a DataError for labels that no method could learn."""
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise DataError(
            f"{name} has no label in row {missing[0]} (counted from 0), as in {len(missing)} of"
            f" {len(labels)} rows; leave these rows out."
        )
    kind = infer_dtype(labels)
    if kind not in LEARNED or (kind != "string" and not np.isfinite(labels.astype(float)).all()):
        raise DataError(
            f"Labels must be all text, or all finite numbers or booleans; those of {name} are"
            f" {kind}, such as {quoted(labels.tolist()[0])}."
        )
    classes = np.unique(labels).tolist()
    if len(classes) < 2:
        alone = f"the class {quoted(classes[0])} alone" if classes else "no rows"
        raise DataError(f"{name} has {alone}; expected at least two classes.")
