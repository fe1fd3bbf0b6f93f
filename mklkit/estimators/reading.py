"""A table as rows: the numbers, code points and codes that kernels read, as its schema says."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Number
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from mklkit.errors import DataError, quoted, type_name
from mklkit.estimators.binding import as_table, column_holds, only_numbers
from mklkit.estimators.joining import SparseTable
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Array, ColumnBlocks, Reads, Rows, RowSource, Schema
from mklkit.registry.readings import (
    MISSING_CATEGORY,
    category_codes,
    row_id_codes,
    text_codes,
)
from mklkit.views.dask.rows import DaskRows
from mklkit.views.rows import check_width, is_dask
from mklkit.views.stored_rows import StoredRows

FLOATS = [np.float64, np.float32]
MEDIAN_ROWS = 5000
"""The most training samples without gaps, evenly spaced, whose medians fill new samples' gaps."""
MEDIAN_CELLS = 1 << 21
"""The cells whose medians are computed at a time."""

MOST_EXACT = 2**53
"""Larger whole numbers may not be floats."""


class StoresNames(BaseEstimator):
    """An estimator whose column names are one array in a model file, not an object for each."""

    _names: ClassVar[tuple[str, ...]] = ("feature_names_in_",)
    """The attributes that are arrays of names, (d,), of text as Python objects."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with arrays of names as NumPy's text."""
        state = dict(super().__getstate__())
        for attribute in self._names:
            names = state.get(attribute, ())
            # NumPy's text ends before trailing null characters.
            if len(names) and all(type(n) is str and not n.endswith("\0") for n in names):
                state[attribute] = np.array(names, str)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes, with names as objects, which scikit-learn expects."""
        super().__setstate__(state)
        for attribute in self._names:
            names = self.__dict__.get(attribute)
            if isinstance(names, np.ndarray) and names.dtype.kind == "U":
                setattr(self, attribute, names.astype(object))


class TakesGaps(StoresNames):
    """An estimator whose samples may lack values."""

    def __sklearn_tags__(self) -> Any:
        """Declare it."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def as_source(X: Any) -> Any:
    """Return rows to be read in parts, from a memory map's file or Dask; others unchanged.

    A ``DataError`` is raised for sparse matrices.
    """
    refuse_sparse(X)
    if is_dask(X):
        return DaskRows.of(X)
    stored = StoredRows.of_memmap(X) if isinstance(X, np.memmap) else None
    return X if stored is None else stored


def training_rows(estimator: Any, schema: Schema, X: Any) -> tuple[Rows, Schema]:
    """Return training samples, checked, and the schema with the medians that replace gaps.

    The estimator gets scikit-learn's attributes on the columns. No medians are known of samples
    that are read in parts.
    """
    rows = read_rows(estimator, schema, X, first=True)
    if not rows.in_memory:
        return rows, schema
    if rows.medians is not None:
        return rows, schema.with_fills(rows.medians)
    # New samples may have gaps although these have none.
    sample = rows.numbers[:: -(-len(rows) // MEDIAN_ROWS)]
    return rows, schema.with_fills(medians_of(schema, sample))


def read_rows(estimator: Any, schema: Schema, X: Any, first: bool = False) -> Rows:
    """Return samples as kernels read them, with values for gaps if there are any.

    These are the schema's, or if it has none the medians of the samples. The columns of the
    ``first`` samples are recorded by the estimator. Bad data raise a ``ValueError`` if scikit-learn
    rejects them too, else a ``DataError``.
    """
    if isinstance(X, RowSource):
        if first:
            estimator.n_features_in_ = X.shape[1]
            if X.column_names is not None:
                estimator.feature_names_in_ = np.array(X.column_names, dtype=object)
        check_width(estimator.n_features_in_, X.shape[1])
        if (~schema.columns.are(holds="numbers") & schema.columns.are_read).any():
            raise DataError(
                "The model's kernels read text or categories, and samples read in parts hold"
                " numbers only: pass a DataFrame."
            )
        return Rows.of(X)
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        raise DataError(f"Column names must be unique; got {list(X.columns)!r:.100}.")
    # Most tables have no gaps, so rows are searched for them only if the check fails.
    for finite in (True, "allow-nan"):
        try:
            # Numbers that overflow float64 raise an error, so the cast need not warn.
            with np.errstate(over="ignore", invalid="ignore"):
                # scikit-learn would read dates as numbers.
                if isinstance(X, SparseTable):
                    rows = _read_sparse(estimator, schema, X, first, finite)
                elif schema.plain and only_numbers(X):
                    rows = Rows.of(_validated(estimator, X, first, finite))
                else:
                    rows = _read(estimator, schema, X, first, finite)
        except ValueError as error:
            if finite is True and str(error).startswith("Input X contains NaN"):
                continue
            raise
        break
    return rows if finite is True else with_gaps(schema, rows)


def _validated(estimator: Any, X: Any, first: bool, finite: Any) -> Array:
    """Return a table of numbers as an array (n, d), checked by scikit-learn."""
    kind: dict[str, Any] = {"dtype": FLOATS, "order": "C", "ensure_all_finite": finite}
    if isinstance(X, pd.DataFrame) and all(isinstance(each, np.dtype) for each in set(X.dtypes)):
        # scikit-learn would look at each of thousands of columns several times.
        validate_data(estimator, X, skip_check_array=True, reset=first)
        numbers: Array = check_array(X.to_numpy(), input_name="X", estimator=estimator, **kind)
    else:
        numbers = validate_data(estimator, X, reset=first, **kind)
    return numbers


def _read(estimator: Any, schema: Schema, X: Any, first: bool, finite: Any) -> Rows:
    """Return what kernels read in a table that does not hold only numbers."""
    if np.asarray(X).ndim != 2:  # scikit-learn would look for a first sample in a dict.
        raise DataError(
            "Expected new rows as a DataFrame or a 2-D array with the columns of the training"
            f" data, such as pandas.DataFrame({{'text': ['abc']}}); got {type_name(X)}."
        )
    validate_data(estimator, X, skip_check_array=True, reset=first)
    return _checked_rows(schema, X, finite)


def _read_sparse(estimator: Any, schema: Schema, X: SparseTable, first: bool, finite: Any) -> Rows:
    """Return what kernels read in a table of which some columns are sparse."""
    validate_data(estimator, X.header, skip_check_array=True, reset=first)
    frame, places = X.dense
    if not len(places):
        rows = Rows(X.numbers(np.empty((len(X), 0))))
        return with_gaps(schema, rows) if X.has_gaps else rows
    of_frame = Schema(schema.columns[places])
    rows = _checked_rows(of_frame, frame, finite)
    others = {(reads, int(places[place])): codes for (reads, place), codes in rows.others.items()}
    joined = Rows(X.numbers(rows.numbers), others)
    complete = rows.medians is None and not X.has_gaps
    return joined if complete else with_gaps(schema, joined)


def _checked_rows(schema: Schema, X: Any, finite: Any) -> Rows:
    """Return what kernels read in a table, whose numbers must be finite, or gaps."""
    numbers = numbers_in(schema, X)
    # Gaps that kernels skip are no reason to refuse the numbers of other columns.
    known = np.where(kept_gaps(schema, numbers), 0, numbers)
    check_array(known, input_name="X", ensure_all_finite=finite)
    return rows_in(schema, X, numbers)


def numbers_in(schema: Schema, X: Any) -> Array:
    """Return the columns of numbers in their places (n, d), with NaN for gaps and 0 elsewhere.

    A ``DataError`` is raised for a column that holds something else now, and gaps in sample ids.
    """
    frame = as_table(X)
    places = schema.places(holds="numbers").tolist()
    single = bool(places) and all(frame.dtypes.iloc[place] == np.float32 for place in places)
    numbers = np.zeros(frame.shape, dtype=np.float32 if single else np.float64)
    for place in places:
        column = frame.iloc[:, place]
        name, holds = quoted(str(column.name)), column_holds(column)
        try:
            if holds in ("dates", "complex numbers"):  # numbers to pandas
                raise TypeError(holds)
            values = pd.to_numeric(column)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"Column {name} held numbers in the training data and holds something else"
                f" now: {error!s:.100}."
            ) from None
        numbers[:, place] = values.to_numpy(dtype=numbers.dtype, na_value=np.nan)
        if "row ids" in schema.columns[place].reads:
            _refuse_gaps_in_ids(column)
            if np.abs(numbers[:, place]).max(initial=0) > MOST_EXACT:
                raise DataError(
                    f"Column {name} has ids of 16 digits or more, which floats may confuse: turn"
                    " them into text."
                )
    return numbers


def _refuse_gaps_in_ids(column: pd.Series, kind: str = "number") -> None:
    """Raise a ``DataError`` if a sample has no number or identifier."""
    absent = np.flatnonzero(column.isna())
    if len(absent):
        row = row_of(column.index, int(absent[0]))
        raise DataError(
            f"Column {quoted(str(column.name))} has a gap in {row};"
            f" each row needs its {kind} in the matrix."
        )


def kept_gaps(schema: Schema, numbers: Array) -> NDArray[np.bool_]:
    """Return which of these numbers (n, d) are gaps that no median replaces."""
    return np.isnan(numbers) & ~schema.columns.are(gaps="median")


def medians_of(schema: Schema, numbers: Array | ColumnBlocks) -> Array:
    """Return the medians (d,) of numbers (n, d), NaN in columns whose gaps are not filled.

    Samples that miss a sparse block do not count there.
    """
    blocks = [numbers]
    if isinstance(numbers, ColumnBlocks):
        pairs = zip(numbers.blocks, numbers.missing, strict=True)
        blocks = [block if mask is None else block[np.flatnonzero(~mask)] for block, mask in pairs]
    medians = np.concatenate([column_medians(block) for block in blocks])
    medians[~schema.columns.are(gaps="median")] = np.nan
    return medians


def column_medians(numbers: Any) -> Array:
    """Return the medians (d,) of the known numbers (n, d), 0 without any."""
    if issparse(numbers):
        return _sparse_medians(numbers.tocsc())
    medians = np.empty(numbers.shape[1], np.result_type(numbers, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns without values
        # Some columns at a time, because NumPy copies and turns all that it gets.
        for place in row_blocks(numbers.shape[1], max(1, MEDIAN_CELLS // max(1, len(numbers)))):
            part = numbers[:, place]
            # Several times as fast without gaps, as in most fits.
            median = np.nanmedian if np.isnan(part).any() else np.median
            medians[place] = np.nan_to_num(median(part, axis=0))
    return medians


def _sparse_medians(columns: Any) -> Array:
    """Return the medians (d,) of sparse columns: 0 unless half of the known numbers are stored."""
    n_rows, width = columns.shape
    gaps = np.isnan(columns.data)
    n_gaps = np.bincount(_owners(columns)[gaps], minlength=width)
    n_stored = np.diff(columns.indptr) - n_gaps
    medians = np.zeros(width, np.result_type(columns.dtype, np.float32))
    common = np.flatnonzero((2 * n_stored >= n_rows - n_gaps) & (n_stored > 0))
    for place in row_blocks(len(common), max(1, MEDIAN_CELLS // max(1, n_rows))):
        medians[common[place]] = column_medians(columns[:, common[place]].toarray())
    return medians


def _owners(columns: Any) -> NDArray[np.intp]:
    """Return the column of each number that is stored in sparse columns (n, d)."""
    return np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))


def with_gaps(schema: Schema, rows: Rows) -> Rows:
    """Return samples that have gaps, with the schema's values for them, or their own medians."""
    fills = medians_of(schema, rows.numbers) if schema.fills is None else schema.fills
    return attrs.evolve(rows, medians=fills)


def rows_in(schema: Schema, X: Any, numbers: Array) -> Rows:
    """Return everything that kernels read in a table; ``numbers`` are its numbers (n, d)."""
    frame = as_table(X)
    others: dict[tuple[Reads, int], Array] = {}
    for place in schema.places(reads="text").tolist():
        column = frame.iloc[:, place]
        values = column.astype(object).mask(column.isna(), "").tolist()
        wrong = next((value for value in values if not isinstance(value, str)), None)
        if wrong is not None:
            raise DataError(
                f"Column {quoted(str(column.name))} held text in the training data and holds"
                f" {wrong!r:.40} now: turn it into text."
            )
        others["text", place] = codes = text_codes(values)
        codes[column.isna()] = np.nan
    gaps = any(np.isnan(codes[:, 0]).any() for codes in others.values())
    for place in schema.places(reads="categories").tolist():
        own_category = schema.columns[place].gaps == "category"
        if schema.columns[place].holds == "numbers":
            codes = numbers[:, place].astype(np.float64)
            if not (own_category and np.isnan(codes).any()):
                continue
        else:
            codes = category_codes(frame.iloc[:, place].to_numpy(dtype=object))
        if own_category:
            codes = np.where(np.isnan(codes), category_codes([MISSING_CATEGORY]), codes)
        others["categories", place] = codes
    for place in schema.places(reads="row ids").tolist():
        if schema.columns[place].holds != "numbers":
            column = frame.iloc[:, place]
            known = column.astype(object).mask(column.isna(), "").to_numpy(dtype=object)
            others["row ids", place] = codes = row_id_codes(known)
            codes[column.isna()] = np.nan
            gaps |= bool(column.isna().any())
    rows = Rows(numbers, others)
    return with_gaps(schema, rows) if gaps else rows


def with_known_ids(kernels: Sequence[Any], X: Any) -> Any:
    """Return a table with gaps for identifiers that the kernel that reads them can't look up.

    Such samples miss its source. Those of an only kernel stay, since it tells more of them.
    """
    columns: dict[int, list[Any]] = {}
    for bound in kernels if isinstance(X, pd.DataFrame) else ():
        if bound.reads == "row ids":
            place = 0 if bound.columns is None else int(bound.columns[0])
            columns.setdefault(place, []).append(bound.kernel)
    if len(kernels) == 1:
        for place in columns:
            _refuse_gaps_in_ids(X.iloc[:, place], "identifier")
        return X
    for place, looking in columns.items():
        ids = X.iloc[:, place]
        unknown = np.all([kernel.unknown(ids.to_numpy(object)) for kernel in looking], axis=0)
        if (unknown & ids.notna().to_numpy()).any():
            X = X.assign(**{str(X.columns[place]): ids.astype(object).mask(unknown, None)})
    return X


def index_of(X: Any) -> pd.Index | None:
    """Return the index of a table, by which messages name its rows; None if it has none."""
    return X.index if isinstance(X, pd.DataFrame) else None


def row_of(index: pd.Index, position: int) -> str:
    """Name a row by its index label, which is kept in a split, or by position from 1."""
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return f"row {position + 1}"
    label = index[position]
    shown = f"{label}" if isinstance(label, Number) else f"{str(label)!r}"
    return f"the row with index {shown}" if index.name is None else f"{index.name} {shown}"
