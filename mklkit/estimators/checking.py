"""Checks of training data and of new rows, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype, is_object_dtype
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from mklkit.errors import (
    DataError,
    SpecError,
    quoted,
)
from mklkit.estimators.row_weights import checked_row_weights, counting_rows
from mklkit.protocols import (
    Array,
    Rows,
    RowSource,
)
from mklkit.views.dask.predicting import in_memory
from mklkit.views.dask.recognising import is_dask
from mklkit.views.dask.rows import DaskRows
from mklkit.views.row_parts import check_width
from mklkit.views.stored_rows import StoredRows

__all__ = ["check_new_rows", "check_training_data"]

MULTICLASS = ("ovo", "ovr", "native")


def check_training_data(
    estimator: Any, X: Any, y: Any, multiclass: str, sample_weight: Any = None
) -> tuple[Rows, NDArray[np.intp], Array | None]:
    """Return checked rows, class numbers, and weights of rows, None where all of them are 1.

    Sets ``classes_`` and scikit-learn's own attributes. Rows of weight 0 are left out. Rows that
    are read in parts are checked when they are read.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, one row, continuous targets.
    DataError
        For wrong weights, one class only, rows without a label, NaN, or a frame with columns of
        text or dates or with repeated names.
    """
    if multiclass not in MULTICLASS:
        raise SpecError(
            f"multiclass must be one of {', '.join(map(repr, MULTICLASS))}; got {multiclass!r}."
        )
    y = in_memory(y) if is_dask(y) else y
    _check_no_label_is_missing(y)
    X = _as_source(X)
    if isinstance(X, RowSource):
        y = _check_labels_of_source(estimator, X, y)
    else:
        _check_columns_are_numbers(X)
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


def check_new_rows(estimator: Any, X: Any, first: bool = False) -> Rows:
    """Return checked new rows, with the same columns as the training data.

    ``first``: these are the training data, whose columns are remembered.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses: text, another number of columns.
    DataError
        For NaN, and for a frame in which column names repeat.
    """
    X = _as_source(X)
    if isinstance(X, RowSource):
        if first:
            _remember_columns(estimator, X)
        check_width(estimator.n_features_in_, X.shape[1])
        return X
    with _checking_rows(X):
        rows: Array = validate_data(
            estimator, X, dtype=[np.float64, np.float32], reset=first, order="C"
        )
    return rows


@contextmanager
def _checking_rows(X: Any) -> Iterator[None]:
    """Refuse repeated column names, and explain what to do about NaN where it is found."""
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise DataError(
            f"Column names must be unique, and {quoted(str(repeated))} occurs"
            f" {int((X.columns == repeated).sum())} times: rename the columns."
        )
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


def _check_columns_are_numbers(X: Any) -> None:
    if not isinstance(X, pd.DataFrame):
        return  # scikit-learn detects text in arrays
    other = [
        X.columns[place]
        for place, kind in enumerate(X.dtypes)
        if not (is_numeric_dtype(kind) or _holds_numbers(X.iloc[:, place]))
    ]
    if other:
        more = f" and {len(other) - 1} more" if len(other) > 1 else ""
        holds = "holds" if len(other) == 1 else "hold"
        raise DataError(
            f"Kernels compare numbers, and column {str(other[0])!r}{more} {holds} text, dates or"
            " categories. Encode them first, within the model: make_pipeline(TableEncoder(),"
            " StandardScaler(), MKLClassifier(…)), with 'from mklkit import TableEncoder'."
        )


def _holds_numbers(column: pd.Series) -> bool:
    return is_object_dtype(column) and all(isinstance(each, Number) for each in column.dropna())


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
