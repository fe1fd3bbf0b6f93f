"""Checks of training data and of new rows, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_X_y,
    column_or_1d,
    validate_data,
)

from mklkit.errors import DataError, SpecError, quoted
from mklkit.estimators.column_kinds import check_texts_have_a_column
from mklkit.estimators.row_weights import checked_row_weights, counting_rows
from mklkit.estimators.table_reading import TableReading, check_is_table, needs_reading, reads_text
from mklkit.protocols import Array, Rows, RowSource
from mklkit.registry.composing import are_proposed, bind_kernels
from mklkit.views.dask.predicting import in_memory
from mklkit.views.dask.recognising import is_dask
from mklkit.views.dask.rows import DaskRows
from mklkit.views.row_parts import check_width
from mklkit.views.stored_rows import StoredRows

__all__ = ["check_new_rows", "check_numbers", "check_training_data"]

MULTICLASS = ("ovo", "ovr", "native")


def check_training_data(
    estimator: Any, X: Any, y: Any, multiclass: str, *banks: Any, sample_weight: Any = None
) -> tuple[Rows, NDArray[np.intp], Array | None]:
    """Return checked rows, class numbers, and weights of rows, None where all of them are 1.

    Sets ``classes_`` and scikit-learn's own attributes. ``banks`` are the kernels that read the
    rows, as the user gave them; a search may have several. Rows of weight 0 are left out. Rows that
    are read in parts are checked when they are read.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, one row, continuous targets.
    DataError
        For wrong weights, one class only, rows without a label, NaN, columns that a kernel can't
        read, such as text for one on numbers, or a frame with repeated names.
    """
    if multiclass not in MULTICLASS:
        raise SpecError(
            f"multiclass must be one of {', '.join(map(repr, MULTICLASS))}; got {multiclass!r}."
        )
    y = in_memory(y) if is_dask(y) else y
    _check_no_label_is_missing(y)
    X = _as_source(X)
    reading = estimator._table_reading = _reading_of(X, banks)
    if isinstance(X, RowSource):
        y = _check_labels_of_source(estimator, X, y)
    elif reading is not None:
        validate_data(estimator, X, skip_check_array=True)
        X, y = _read_rows(reading, X, y)
    else:
        with _checking_rows(X):
            X, y = validate_data(
                estimator, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2, order="C"
            )
    check_classification_targets(y)
    n_given = len(y)
    X, y, row_weights = counting_rows(X, y, checked_row_weights(sample_weight, len(y)))
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise DataError(
            "A classifier needs rows of at least two classes; there is only one class,"
            f" {estimator.classes_.tolist()[0]!r}"
            f"{'.' if len(y) == n_given else ' (rows of weight 0 do not count).'}"
        )
    return X, codes, row_weights


def _reading_of(X: Any, banks: Sequence[Any]) -> TableReading | None:
    """Return how the kernels read a table, None if all that they read is plain numbers.

    Raises
    ------
    DataError
        If a kernel can't read its columns, or rows that are read in parts.
    """
    # What is proposed reads numbers, like the kernels that are taken by default.
    given = [None if are_proposed(bank) else bank for bank in banks]
    kernels = [kernel for bank in given for kernel in bind_kernels(bank)]
    if isinstance(X, RowSource):
        label = reads_text(kernels)
        if label is not None:
            raise DataError(
                f"Kernel {quoted(label)} reads text, and rows that are read in parts (files, Dask,"
                " memory maps) hold numbers only: pass a DataFrame."
            )
        return None
    _check_names_are_unique(X)
    if reads_text(kernels) is not None:
        check_texts_have_a_column(X)
    if not needs_reading(kernels, X) or np.asarray(X).ndim != 2:
        return None  # Of other shapes scikit-learn says what is wrong.
    return TableReading.of(X, given)


def _read_rows(reading: TableReading, X: Any, y: Any = None) -> Any:
    """Return a table as its kernels read it, with its labels where there are any."""
    numbers = reading.numbers(X)
    # Gaps that kernels leave out are no reason to refuse the others' numbers.
    filled = np.where(reading.allowed_gaps(numbers), 0, numbers)
    with _checking_rows(X):
        if y is None:
            check_array(filled, input_name="X")
            return reading.rows(X, numbers)
        _, y = check_X_y(filled, y, ensure_min_samples=2)
    return reading.rows(X, numbers), y


def check_numbers(
    estimator: Any, X: Any, y: Any, kernels: Any, sample_weight: Any = None
) -> tuple[Rows, Array, Array | None]:
    """Return checked rows, the numbers to be learned, and weights of rows or None.

    Numbers are (N,) or (N, T), in float64. Sets scikit-learn's own attributes. Rows of weight 0 are
    left out.

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
    X = _as_source(X)
    reading = estimator._table_reading = _reading_of(X, [kernels])
    if isinstance(X, RowSource):
        y = _numbers_of(X, y)
        _remember_columns(estimator, X)
    elif reading is not None:
        validate_data(estimator, X, skip_check_array=True)
        X, y = _read_rows(reading, X), _numbers_of(X, y)
    else:
        with _checking_rows(X):
            X, y = validate_data(
                estimator,
                X,
                y,
                dtype=[np.float64, np.float32],
                ensure_min_samples=2,
                order="C",
                multi_output=True,
                y_numeric=True,
            )
    y = np.asarray(y, np.float64)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    return counting_rows(X, y, checked_row_weights(sample_weight, len(y)))


def _numbers_of(X: Any, y: Any) -> Array:
    """Return the numbers of rows that scikit-learn does not check together with them."""
    check_consistent_length(X, y)
    if len(X) < 2:
        raise DataError(f"At least 2 rows are needed to learn from; there are {len(X)}.")
    found: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    return found


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


def _as_source(X: Any) -> Any:
    """Return rows to be read in parts: of a memory map's own file, of Dask; others unchanged."""
    if is_dask(X):
        return DaskRows.of(X)
    stored = StoredRows.of_memmap(X) if isinstance(X, np.memmap) else None
    return X if stored is None else stored


def _check_labels_of_source(estimator: Any, X: RowSource, y: Any) -> NDArray[Any]:
    """Return the labels of rows that are read in parts; sets scikit-learn's own attributes."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if len(labels) != len(X):
        raise DataError(f"There must be one label per row; got {len(labels)} for {len(X)} rows.")
    if len(labels) < 2:
        raise DataError(f"At least 2 rows are needed to learn from; there are {len(labels)}.")
    _remember_columns(estimator, X)
    return labels


def _remember_columns(estimator: Any, X: RowSource) -> None:
    estimator.n_features_in_ = X.shape[1]
    if X.column_names is not None:
        estimator.feature_names_in_ = np.array(X.column_names, dtype=object)


def check_new_rows(estimator: Any, X: Any, *banks: Any) -> Rows:
    """Return checked new rows, with the same columns as the training data.

    ``banks``: these are the first rows for these kernels, whose columns are remembered.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, another number of columns.
    DataError
        For NaN, and for a frame in which column names repeat.
    """
    X, first = _as_source(X), bool(banks)
    if first:
        estimator._table_reading = _reading_of(X, banks)
    reading = estimator._table_reading
    if isinstance(X, RowSource):
        if first:
            _remember_columns(estimator, X)
        check_width(estimator.n_features_in_, X.shape[1])
        if reading is not None and reading.reads_words:
            raise DataError(
                "The model's kernels read text or categories, and rows that are read in parts hold"
                " numbers only: pass a DataFrame."
            )
        return X
    if reading is None and needs_reading((), X):
        # scikit-learn would take dates for numbers.
        reading = TableReading(("numbers",) * np.shape(X)[1])
    if reading is not None:
        check_is_table(X)
        validate_data(estimator, X, skip_check_array=True, reset=first)
        return cast(Rows, _read_rows(reading, X))
    with _checking_rows(X):
        rows: Array = validate_data(
            estimator, X, dtype=[np.float64, np.float32], reset=first, order="C"
        )
    return rows


@contextmanager
def _checking_rows(X: Any) -> Iterator[None]:
    """Refuse repeated column names, and explain what to do about NaN where it is found."""
    _check_names_are_unique(X)
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


def _check_names_are_unique(X: Any) -> None:
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise DataError(
            f"Column names must be unique, and {quoted(str(repeated))} occurs"
            f" {int((X.columns == repeated).sum())} times: rename the columns."
        )


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
