"""Checks of training data and of new rows, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import attrs
import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_X_y,
    column_or_1d,
    validate_data,
)

from mklkit.errors import DataError, type_name
from mklkit.estimators.table_reading import TableReading, needs_reading
from mklkit.estimators.training_data import TrainingData
from mklkit.protocols import Array, Rows, RowSource
from mklkit.views.dask.rows import DaskRows, in_memory
from mklkit.views.rows import check_width, is_dask
from mklkit.views.stored_rows import StoredRows

__all__ = [
    "as_source",
    "check_classes",
    "check_new_rows",
    "check_numbers",
    "check_rows_alone",
    "checked_rows",
]

FLOATS = [np.float64, np.float32]


def check_classes(
    estimator: Any, reading: TableReading, X: Any, y: Any, row_weights: Array | None = None
) -> TrainingData:
    """Return checked rows, their class numbers, and their weights.

    Sets ``classes_`` and scikit-learn's own attributes. Rows of weight 0 are left out. Rows that
    are read in parts are checked when they are read.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, one row, continuous targets.
    DataError
        For wrong weights, one class only, rows without a label, NaN, or a frame with repeated
        names.
    """
    y = in_memory(y) if is_dask(y) else y
    _check_no_label_is_missing(y)
    if isinstance(X, RowSource):
        y = column_or_1d(y, warn=True)
        _remember_columns(estimator, X)
        _check_rows_of_target(X, y)
    elif reading.plain:
        with _nan_explained():
            X, y = validate_data(estimator, X, y, dtype=FLOATS, ensure_min_samples=2, order="C")
    else:
        validate_data(estimator, X, skip_check_array=True)
        X, y = _read_rows(reading, X, y)
    check_classification_targets(y)
    data = TrainingData(X, y, row_weights)
    if row_weights is not None:
        data = data.counting()
    estimator.classes_, codes = np.unique(data.values, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise DataError(
            "A classifier needs rows of at least two classes; there is only one class,"
            f" {estimator.classes_.tolist()[0]!r}"
            f"{'.' if len(data.values) == len(y) else ' (rows of weight 0 do not count).'}"
        )
    return attrs.evolve(data, values=codes)


def check_numbers(
    estimator: Any, reading: TableReading, X: Any, y: Any, row_weights: Array | None = None
) -> TrainingData:
    """Return checked rows, the numbers to be learned in float64, (N,) or (N, T), and weights.

    Sets scikit-learn's own attributes. Rows of weight 0 are left out.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, one row, NaN among the numbers.
    DataError
        As for a classifier's rows, and for a target that holds no numbers.
    """
    y = in_memory(y) if is_dask(y) else y
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    _check_target_is_numbers(y)
    if isinstance(X, RowSource) or not reading.plain:
        if isinstance(X, RowSource):
            _remember_columns(estimator, X)
        else:
            validate_data(estimator, X, skip_check_array=True)
            X = _read_rows(reading, X)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        _check_rows_of_target(X, y)
    else:
        with _nan_explained():
            X, y = validate_data(
                estimator,
                X,
                y,
                dtype=FLOATS,
                ensure_min_samples=2,
                order="C",
                multi_output=True,
                y_numeric=True,
            )
    y = np.asarray(y, np.float64)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    return TrainingData(X, y, row_weights).counting()


def check_rows_alone(
    estimator: Any, reading: TableReading, X: Any, y: Any = None, row_weights: Array | None = None
) -> TrainingData:
    """Return checked training rows without labels; sets scikit-learn's own attributes.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses, or one row only.
    DataError
        For NaN, repeated column names, or wrong weights.
    """
    rows = checked_rows(estimator, reading, X, first=True)
    if len(rows) < 2:
        raise DataError("There is only one sample (row), and at least 2 are needed to learn from.")
    return TrainingData(rows, np.zeros(len(rows)), row_weights).counting()


def check_new_rows(estimator: Any, X: Any) -> Rows:
    """Return checked new rows, with the same columns as the training data.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, another number of columns.
    DataError
        For NaN, and for a frame in which column names repeat.
    """
    return checked_rows(estimator, estimator.plan_.reading, as_source(X), first=False)


def checked_rows(estimator: Any, reading: TableReading, X: Any, first: bool) -> Rows:
    """Return rows; the ``first`` ones are those whose columns are remembered."""
    if isinstance(X, RowSource):
        if first:
            _remember_columns(estimator, X)
        check_width(estimator.n_features_in_, X.shape[1])
        if reading.reads_words:
            raise DataError(
                "The model's kernels read text or categories, and rows that are read in parts hold"
                " numbers only: pass a DataFrame."
            )
        return X
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        raise DataError(f"Column names must be unique; got {list(X.columns)!r:.100}.")
    # scikit-learn would take dates for numbers.
    if reading.plain and not needs_reading((), X):
        with _nan_explained():
            rows: Array = validate_data(estimator, X, dtype=FLOATS, reset=first, order="C")
        return rows
    if np.asarray(X).ndim != 2:  # scikit-learn would look for a first row in a dict.
        raise DataError(
            "New rows are expected as a DataFrame or a 2-D array with the columns of the training"
            f" data, such as pandas.DataFrame({{'text': ['abc']}}); got {type_name(X)}."
        )
    validate_data(estimator, X, skip_check_array=True, reset=first)
    return cast(Rows, _read_rows(reading, X))


def _read_rows(reading: TableReading, X: Any, y: Any = None) -> Any:
    """Return a table as its kernels read it, with its labels where there are any."""
    numbers = reading.numbers(X)
    # Gaps that kernels leave out are no reason to refuse the others' numbers.
    filled = np.where(reading.allowed_gaps(numbers), 0, numbers)
    with _nan_explained():
        if y is None:
            check_array(filled, input_name="X")
            return reading.rows(X, numbers)
        _, y = check_X_y(filled, y, ensure_min_samples=2)
    return reading.rows(X, numbers), y


def as_source(X: Any) -> Any:
    """Return rows to be read in parts: of a memory map's own file, of Dask; others unchanged."""
    if is_dask(X):
        return DaskRows.of(X)
    stored = StoredRows.of_memmap(X) if isinstance(X, np.memmap) else None
    return X if stored is None else stored


def _remember_columns(estimator: Any, X: RowSource) -> None:
    estimator.n_features_in_ = X.shape[1]
    if X.column_names is not None:
        estimator.feature_names_in_ = np.array(X.column_names, dtype=object)


def _check_rows_of_target(X: Any, y: Any) -> None:
    """Check a target of rows that scikit-learn does not check together with it."""
    if len(y) != len(X):
        raise DataError(f"The target must have a value per row; it has {len(y)} for {len(X)} rows.")
    if len(X) < 2:
        raise DataError(f"At least 2 rows are needed to learn from; there are {len(X)}.")


def _check_target_is_numbers(y: Any) -> None:
    values = np.asarray(y)
    try:
        if values.dtype.kind in "mM":
            raise TypeError("times and dates")
        if values.dtype.kind in "OUS":
            values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "MKLRegressor learns numbers, and the target holds text or dates: use MKLClassifier for"
            " classes."
        ) from None


@contextmanager
def _nan_explained() -> Iterator[None]:
    """Say what to do about NaN where scikit-learn finds it."""
    try:
        # Numbers that overflow float64 are refused, so the cast need not warn.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN"):
            raise
        raise DataError(
            "Input X contains NaN, which kernels can't compare. Fill the gaps first, within the"
            " model: make_pipeline(SimpleImputer(), StandardScaler(), MKLClassifier(…)), with"
            " 'from sklearn.impute import SimpleImputer'; for tables that also have text or dates,"
            " TableEncoder() instead, with 'from mklkit import TableEncoder'."
        ) from None


def _check_no_label_is_missing(y: Any) -> None:
    labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return  # scikit-learn detects NaN among numbers
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise DataError(
            f"{len(missing)} of {len(labels)} rows have no class label, the first is row"
            f" {missing[0]} (counted from 0): remove them or give them a label."
        )
