"""Checks of training data and of new rows, before anything is computed."""

from __future__ import annotations

from typing import Any, cast

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mklkit.errors import DataError, type_name
from mklkit.estimators.table_reading import TableReading, needs_reading
from mklkit.estimators.training_data import TrainingData
from mklkit.protocols import Array, Rows, RowSource, Task
from mklkit.views.dask.rows import DaskRows, in_memory
from mklkit.views.rows import check_width, is_dask
from mklkit.views.stored_rows import StoredRows

FLOATS = [np.float64, np.float32]


def check_training(
    estimator: Any,
    task: Task,
    reading: TableReading,
    X: Any,
    y: Any = None,
    row_weights: Array | None = None,
) -> TrainingData:
    """Return checked rows, what is to be learned of them, and their weights.

    That is class numbers, numbers in float64, (N,) or (N, T), or zeros where the task is none. Sets
    scikit-learn's own attributes, and for classes ``classes_``. Rows of weight 0 are left out. Rows
    that are read in parts are checked when they are read. Bad data are a ``ValueError``, where
    scikit-learn refuses them too, or a ``DataError``.
    """
    rows = checked_rows(estimator, reading, X, first=True)
    if len(rows) < 2:
        raise DataError("There is only one sample (row), and at least 2 are needed to learn from.")
    if task == "none":
        return TrainingData(rows, np.zeros(len(rows)), row_weights).counting()
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    y = in_memory(y) if is_dask(y) else y
    values = _numbers(y) if task == "numbers" else _labels(y)
    if len(values) != len(rows):
        raise DataError(
            f"The target must have a value per row; it has {len(values)} for {len(rows)} rows."
        )
    data = TrainingData(rows, values, row_weights)
    if row_weights is not None:
        data = data.counting()
    if task == "numbers":
        return data
    estimator.classes_, codes = np.unique(data.values, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise DataError(
            "A classifier needs rows of at least two classes; there is only one class,"
            f" {estimator.classes_.tolist()[0]!r}"
            f"{'.' if len(data.values) == len(values) else ' (rows of weight 0 do not count).'}"
        )
    return attrs.evolve(data, values=codes)


def _labels(y: Any) -> NDArray[Any]:
    """Return class labels (N,); refuse missing ones and numbers that are no classes."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype == object:
        missing = np.flatnonzero(pd.isna(labels))
        if len(missing):
            raise DataError(
                f"{len(missing)} of {len(labels)} rows have no class label, the first is row"
                f" {missing[0]} (counted from 0): remove them or give them a label."
            )
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return np.asarray(labels)


def _numbers(y: Any) -> Array:
    """Return numbers to be learned, (N,) or (N, T); refuse text and dates."""
    values = np.asarray(y)
    try:
        numeric = values.dtype.kind not in "mM" and values.astype(np.float64) is not None
    except (TypeError, ValueError):
        numeric = False
    if not numeric:
        raise DataError(
            "MKLRegressor learns numbers, and the target holds text or dates: use MKLClassifier for"
            " classes."
        )
    numbers: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    one_column = numbers.ndim == 2 and numbers.shape[1] == 1
    return np.asarray(column_or_1d(numbers, warn=True)) if one_column else numbers


def check_new_rows(estimator: Any, X: Any) -> Rows:
    """Return checked new rows, whose columns must be those of the training data."""
    return checked_rows(estimator, estimator.plan_.reading, as_source(X), first=False)


def checked_rows(estimator: Any, reading: TableReading, X: Any, first: bool) -> Rows:
    """Return rows as their kernels read them; the columns of the ``first`` ones are remembered."""
    if isinstance(X, RowSource):
        if first:
            estimator.n_features_in_ = X.shape[1]
            if X.column_names is not None:
                estimator.feature_names_in_ = np.array(X.column_names, dtype=object)
        check_width(estimator.n_features_in_, X.shape[1])
        if reading.reads_words:
            raise DataError(
                "The model's kernels read text or categories, and rows that are read in parts hold"
                " numbers only: pass a DataFrame."
            )
        return X
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        raise DataError(f"Column names must be unique; got {list(X.columns)!r:.100}.")
    try:
        # Numbers that overflow float64 are refused, so the cast need not warn.
        with np.errstate(over="ignore", invalid="ignore"):
            # scikit-learn would take dates for numbers.
            if reading.plain and not needs_reading((), X):
                rows: Array = validate_data(estimator, X, dtype=FLOATS, reset=first, order="C")
                return rows
            return _read(estimator, reading, X, first)
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN"):
            raise
        raise DataError(
            "Input X contains NaN, which kernels can't compare. Fill the gaps first, within the"
            " model: make_pipeline(SimpleImputer(), StandardScaler(), MKLClassifier(…)), with"
            " 'from sklearn.impute import SimpleImputer'; for tables that also have text or dates,"
            " TableEncoder() instead, with 'from mklkit import TableEncoder'."
        ) from None


def _read(estimator: Any, reading: TableReading, X: Any, first: bool) -> Rows:
    """Return what kernels read in a table that does not hold numbers alone."""
    if np.asarray(X).ndim != 2:  # scikit-learn would look for a first row in a dict.
        raise DataError(
            "New rows are expected as a DataFrame or a 2-D array with the columns of the training"
            f" data, such as pandas.DataFrame({{'text': ['abc']}}); got {type_name(X)}."
        )
    validate_data(estimator, X, skip_check_array=True, reset=first)
    numbers = reading.numbers(X)
    # Gaps that kernels leave out are no reason to refuse the others' numbers.
    check_array(np.where(reading.allowed_gaps(numbers), 0, numbers), input_name="X")
    return cast(Rows, reading.rows(X, numbers))


def as_source(X: Any) -> Any:
    """Return rows to be read in parts: of a memory map's own file, of Dask; others unchanged."""
    if is_dask(X):
        return DaskRows.of(X)
    stored = StoredRows.of_memmap(X) if isinstance(X, np.memmap) else None
    return X if stored is None else stored
