"""Sources of the same samples, joined into one table, whose columns may be sparse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self, cast

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from mklkit.errors import DataError, counted, listed, quoted
from mklkit.numerics.sparse import is_sparse_frame, refuse_sparse, sparse_frame, sparse_places
from mklkit.numerics.sparse_rows import gaps_filled
from mklkit.protocols import Array, ColumnBlocks, Mask

SEPARATOR = re.compile(r"[_.:/|-]")
"""Characters that separate the name of a source from that of its column."""

MOST_BLOCKS = 100
"""The most blocks of sparse columns with gaps in the same samples."""

Places = dict[str, NDArray[np.intp]]
"""The positions of the columns of each source, by its name."""


@attrs.frozen(eq=False)
class SparseTable:
    """A table of which some columns are sparse: those of several sources, side by side.

    A data frame would hold an array for each of tens of thousands of sparse columns, and
    :class:`ColumnBlocks`, which it becomes when it is read, holds numbers without names.

    Attributes
    ----------
    blocks : tuple of DataFrame and csr_array of shape (N, d)
        The sources, in the order of their columns; sparse ones in float32 or float64.
    columns : Index
        The names of all columns.
    missing : tuple of ndarray of bool of shape (N,) or None
        Which samples miss each sparse block, as in :class:`ColumnBlocks`.
    """

    blocks: tuple[Any, ...]
    columns: pd.Index
    missing: tuple[Mask, ...] = attrs.field(
        default=attrs.Factory(lambda self: (None,) * len(self.blocks), takes_self=True)
    )

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Self:
        """Return a data frame of which some columns are sparse, with equal neighbours together."""
        is_sparse = np.zeros(frame.shape[1], bool)
        is_sparse[sparse_places(frame)] = True
        ends = [0, *(np.flatnonzero(np.diff(is_sparse)) + 1).tolist(), frame.shape[1]]
        parts: list[tuple[Any, Mask]] = []
        for start, stop in pairwise(ends):
            block = frame.iloc[:, start:stop]
            dense = block.reset_index(drop=True), None
            parts += _sparse_blocks("X", block) if is_sparse[start] else [dense]
        return cls.of_parts(parts, frame.columns)

    @classmethod
    def of_parts(cls, parts: Iterable[tuple[Any, Mask]], columns: pd.Index) -> Self:
        """Return blocks of columns, each with the samples that miss it."""
        blocks, missing = zip(*parts, strict=True)
        return cls(blocks, columns, missing)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of samples and columns."""
        return len(self), len(self.columns)

    def __len__(self) -> int:
        """Return the number of samples."""
        return int(self.blocks[0].shape[0])

    def __getitem__(self, names: list[str]) -> SparseTable:
        """Return the columns in another order."""
        wanted = self.columns.get_indexer(pd.Index(names))
        starts = np.cumsum([0, *(block.shape[1] for block in self.blocks)])
        owners = np.searchsorted(starts, wanted, side="right") - 1
        ends = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(wanted)]
        parts = []
        for start, stop in pairwise(ends):
            owner = owners[start]
            block, missing = self.blocks[owner], self.missing[owner]
            places = wanted[start:stop] - starts[owner]
            part = block[:, places] if issparse(block) else block.iloc[:, places]
            parts.append((part, missing))
        return SparseTable.of_parts(parts, pd.Index(names))

    @property
    def has_gaps(self) -> bool:
        """Whether samples miss some sparse block."""
        return any(mask is not None for mask in self.missing)

    @property
    def header(self) -> pd.DataFrame:
        """A table without rows, for scikit-learn's checks of names."""
        return pd.DataFrame(np.empty((0, len(self.columns))), columns=self.columns)

    @property
    def frame(self) -> pd.DataFrame:
        """A data frame with the same columns, sparse ones among them."""
        frames, start = [], 0
        for block, missing in zip(self.blocks, self.missing, strict=True):
            names = self.columns[start : start + block.shape[1]]
            start += block.shape[1]
            table = block
            if issparse(block):
                gaps = np.full(block.shape[1], np.nan, block.dtype)
                table = sparse_frame(gaps_filled(block, missing, gaps), names.tolist())
            frames.append(table.set_axis(names, axis=1))
        return pd.concat(frames, axis=1)

    @property
    def dense(self) -> tuple[pd.DataFrame, NDArray[np.intp]]:
        """The columns that are not sparse, and their positions."""
        places, start = [np.empty(0, np.intp)], 0
        for block in self.blocks:
            if not issparse(block):
                places.append(np.arange(start, start + block.shape[1]))
            start += block.shape[1]
        frames = [block for block in self.blocks if not issparse(block)]
        frame = pd.concat(frames, axis=1) if frames else pd.DataFrame(index=range(len(self)))
        return frame, np.concatenate(places)

    def numbers(self, of_dense: Array) -> ColumnBlocks:
        """Return all columns as numbers, from those of the columns that are not sparse (N, k)."""
        sparse = [block.dtype for block in self.blocks if issparse(block)]
        dtype = np.result_type(*sparse, *([of_dense.dtype] if of_dense.size else []))
        blocks, start = [], 0
        for block in self.blocks:
            if issparse(block):
                blocks.append(block.astype(dtype, copy=False))
            else:
                blocks.append(of_dense[:, start : start + block.shape[1]].astype(dtype, copy=False))
                start += block.shape[1]
        return ColumnBlocks(tuple(blocks), self.missing)


def dense_columns(X: pd.DataFrame | SparseTable) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """Return the columns of a table that are not sparse, and their positions."""
    return X.dense if isinstance(X, SparseTable) else (X, np.arange(X.shape[1]))


def join_sources(sources: Mapping[str, Any]) -> pd.DataFrame:
    """Join the columns of several sources of the same samples into one table.

    ``fit`` of an estimator does this if it gets a mapping; use it where a function of scikit-learn
    needs one table, such as ``cross_validate``.

    Parameters
    ----------
    sources : mapping of str to DataFrame, Series or array-like of shape (N, d) or (N,)
        The sources by name, with the same samples in the same order.

    Returns
    -------
    DataFrame of shape (N, sum of all d)
        Columns are named ``source_column``, by position if they have no names; that of a source
        with one unnamed column is named like the source. If all columns of a source begin with its
        name and a separator, they keep their names. Those of sparse sources are sparse.

    Raises
    ------
    DataError
        If there is no source, a name is no text, or sources differ in their samples: in number, or
        in the index of data frames.

    See Also
    --------
    MKLClassifier.fit : Takes such a mapping.

    Examples
    --------
    >>> table = join_sources({"lab": [[1.0, 2.0], [3.0, 4.0]], "note": ["well", "tired"]})
    >>> list(table.columns)
    ['lab_0', 'lab_1', 'note']
    """
    table, _ = _frame_of(sources)
    return table


def _frame_of(sources: Mapping[str, Any], y: Any = None) -> tuple[pd.DataFrame, Places]:
    table, places = _joined(sources, y)
    return table.frame if isinstance(table, SparseTable) else table, places


def with_absent_sources(table: Any, names: Sequence[str], sources: Iterable[Sequence[str]]) -> Any:
    """Return joined sources with empty columns for each of the sources of which none is there.

    Sources that lack some of their columns are left as they are, and so is a table of none.

    >>> table = pd.DataFrame({"lab_a": [1.0], "age": [30.0]})
    >>> training = ["lab_a", "lab_b", "gene_x", "age"]
    >>> list(with_absent_sources(table, training, [["lab_a", "lab_b"], ["gene_x"]]))
    ['lab_a', 'age', 'gene_x']
    """
    there = {*table.columns}
    if there.isdisjoint(names):
        return table
    absent = {name for source in sources if there.isdisjoint(source) for name in source}
    lost = [name for name in names if name in absent]
    if not lost:
        return table
    sparse = isinstance(table, SparseTable)
    index = pd.RangeIndex(len(table)) if sparse else table.index
    empty = pd.DataFrame(np.nan, index, lost)
    if sparse:
        parts = [*zip(table.blocks, table.missing, strict=True), (empty, None)]
        return SparseTable.of_parts(parts, table.columns.append(empty.columns))
    return pd.concat([table, empty], axis=1)


def in_order_of(table: Any, names: Sequence[str]) -> Any:
    """Return joined sources with their columns in the order of training.

    The sources may come in another order; a ``DataError`` names columns that are absent or unknown.
    """
    absent = [name for name in names if name not in table.columns]
    known = set(names)
    unknown = [str(name) for name in table.columns if name not in known]
    if absent or unknown:
        parts = [f"missing are {listed(absent)}"] if absent else []
        parts += [f"unknown are {listed(unknown)}"] if unknown else []
        raise DataError(
            f"New samples need the sources of training with the same columns; {'; '.join(parts)}."
            " A source that all samples miss has none of its columns; one that some miss has them"
            " without values (NaN)."
        )
    return table[list(names)]


def joined_and_places(X: Any, y: Any = None) -> tuple[Any, Places | None]:
    """Return a mapping of sources as one table, and the columns of each; others unchanged.

    A data frame of which some columns are sparse becomes a table in which they stay so. A
    ``DataError`` is raised for sources, and targets ``y``, whose indices name different samples.
    """
    if isinstance(X, pd.DataFrame) and len(sparse_places(X)):
        return SparseTable.of(X), None
    return _joined(X, y) if _is_mapping(X) else (X, None)


def one_table(X: Any, y: Any = None) -> Any:
    """Return a mapping of sources as one data frame, others unchanged but sparse matrices."""
    return one_table_and_places(X, y)[0]


def one_table_and_places(X: Any, y: Any = None) -> tuple[Any, Places | None]:
    """Return a mapping as one data frame, and the columns of each source, which may be sparse.

    Others are unchanged; a ``DataError`` is raised for sparse matrices, whose columns have no
    names, and sources, and targets ``y``, whose indices name different samples.
    """
    if issparse(X):
        refuse_sparse(X)
    return _frame_of(X, y) if _is_mapping(X) else (X, None)


def _is_mapping(X: Any) -> bool:
    """Return whether rows are a mapping of sources, and no sparse matrix by keys, which is one."""
    return isinstance(X, Mapping) and not issparse(X)


def _joined(sources: Mapping[str, Any], y: Any = None) -> tuple[pd.DataFrame | SparseTable, Places]:
    if not sources:
        raise DataError("Expected at least one source, as in {'mrna': X}; got an empty mapping.")
    blocks: dict[str, list[tuple[Any, Mask]]] = {}
    names: list[Any] = []
    for name, source in sources.items():
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"Sources are named by text, as in {{'mrna': X}}; got {quoted(name)}.")
        sparse = issparse(source) or is_sparse_frame(source)
        blocks[name], columns = _sparse_source(name, source) if sparse else _frame(name, source)
        names += columns
    lengths = {name: parts[0][0].shape[0] for name, parts in blocks.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(f"Sources must have the same samples; their numbers differ: {told}.")
    _check_index(sources, y)
    places: Places = {}
    start = 0
    for name, of_source in blocks.items():
        width = sum(block.shape[1] for block, _ in of_source)
        places[name] = np.arange(start, start + width)
        start += width
    header = pd.Index(names)
    if not header.is_unique:
        repeated = header[header.duplicated()][0]
        raise DataError(
            f"Two columns would be named {quoted(str(repeated))}: rename sources or columns."
        )
    parts = [part for of_source in blocks.values() for part in of_source]
    if any(issparse(block) for block, _ in parts):
        return SparseTable.of_parts(parts, header), places
    table = pd.concat([block for block, _ in parts], axis=1)
    named = next((source for source in sources.values() if _names_samples(source)), None)
    return table if named is None else table.set_axis(named.index), places


def _sparse_source(name: str, source: Any) -> tuple[list[tuple[Any, Mask]], list[str]]:
    """Return a sparse source as blocks of numbers, and its columns' names."""
    blocks = _sparse_blocks(f"Source {quoted(name)}", source)
    suffixes = getattr(source, "columns", range(source.shape[1]))
    return blocks, _names(name, suffixes)


def _sparse_blocks(place: str, source: Any) -> list[tuple[Any, Mask]]:
    """Return sparse columns as numbers in samples, and which samples miss them.

    Neighbouring columns with gaps (NaN) in the same samples are one block. Errors name their place.
    """
    rows = _sparse_rows(place, source)
    gaps = np.isnan(rows.data)
    if not gaps.any():
        return [(rows, None)]
    lacking = csr_array((gaps, rows.indices, rows.indptr), rows.shape).tocsc()
    lacking.eliminate_zeros()
    owners = [lacking.indices[i:j] for i, j in pairwise(lacking.indptr.tolist())]
    starts = [0, *(k for k, pair in enumerate(pairwise(owners), 1) if not np.array_equal(*pair))]
    if len(starts) > MOST_BLOCKS:
        raise DataError(
            f"{place} is sparse and has gaps (NaN) in other rows in each of {len(starts)} groups of"
            " columns. In sparse columns, a sample may miss a source, which is NaN in all of its"
            " columns: set single gaps to 0, or pass an array."
        )
    rows.data[gaps] = 0
    rows.eliminate_zeros()
    blocks: list[tuple[Any, Mask]] = []
    for start, stop in pairwise([*starts, rows.shape[1]]):
        missing = np.zeros(rows.shape[0], bool)
        missing[owners[start]] = True
        block = rows if len(starts) == 1 else rows[:, start:stop]
        blocks.append((block, missing if missing.any() else None))
    return blocks


def _sparse_rows(place: str, source: Any) -> Any:
    """Return sparse columns as numbers in rows, without stored zeros; errors name their place."""
    if isinstance(source, pd.DataFrame):
        try:
            source = cast(Any, source).sparse.to_coo()
        except ValueError as error:
            raise DataError(
                f"{place}: {error}. Turn it into a dense one with .sparse.to_dense()."
            ) from None
    if source.ndim != 2 or not source.shape[1]:
        raise DataError(
            f"{place} must have rows and columns; it is sparse, of shape {source.shape}."
        )
    if source.dtype.kind not in "biuf":
        raise DataError(
            f"{place} is sparse and holds values of type {source.dtype}; expected real numbers, as"
            " in X.astype(float)."
        )
    dtype = np.float32 if source.dtype == np.float32 else np.float64
    rows = csr_array(source, dtype=dtype, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if np.isinf(rows.data).any():
        entry = int(np.flatnonzero(np.isinf(rows.data))[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        raise DataError(f"{place} is sparse and has infinity in sample {row} (counted from 0).")
    return rows


def _frame(name: str, source: Any) -> tuple[list[tuple[Any, Mask]], list[Any]]:
    """Return a source as a table, in which gaps are NaN, and its columns' names."""
    frame = _named_frame(name, source)
    return [(frame.reset_index(drop=True), None)], frame.columns.tolist()


def _names(source: str, columns: Iterable[Any]) -> list[str]:
    """Return the names of a source's columns in the table, which begin with that of the source.

    >>> _names("lab", ["a", "b"]), _names("lab", ["lab_a", "lab_b"]), _names("age", ["age"])
    (['lab_a', 'lab_b'], ['lab_a', 'lab_b'], ['age'])
    """
    names = [str(column) for column in columns]
    rests = [name.removeprefix(source) for name in names if name.startswith(source)]
    if len(rests) == len(names) and all(not rest or SEPARATOR.match(rest) for rest in rests):
        return names
    return [f"{source}_{name}" for name in names]


def _named_frame(name: str, source: Any) -> pd.DataFrame:
    if isinstance(source, pd.DataFrame) and source.shape[1]:
        return source.set_axis(_names(name, source.columns), axis=1)
    if isinstance(source, pd.Series):
        return source.to_frame(name)
    if isinstance(source, np.ma.MaskedArray):
        source = np.ma.filled(source.astype(np.float64), np.nan)
    try:
        array = np.asarray(source)
    except ValueError as error:  # Samples of different lengths.
        raise DataError(f"Source {quoted(name)} is no table: {error}") from error
    if array.ndim == 1 and len(array):
        return pd.DataFrame({name: source if isinstance(source, list) else array})
    if array.ndim != 2 or not array.shape[1]:
        raise DataError(
            f"Source {quoted(name)} must have rows and columns, or a value per sample; got shape"
            f" {array.shape}."
        )
    columns = [f"{name}_{place}" for place in range(array.shape[1])]
    frame = pd.DataFrame(array, columns=columns)
    return frame.infer_objects() if array.dtype == object else frame


def _check_index(sources: Mapping[str, Any], y: Any) -> None:
    """Reject data frames whose indices name other samples, or the same in another order."""
    indexed = {name: source.index for name, source in sources.items() if _names_samples(source)}
    if not indexed:
        return
    first, *others = indexed
    for name in others:
        pair = f"Sources {quoted(first)} and {quoted(name)}"
        _refuse_difference(pair, indexed[first], indexed[name])
    if _names_samples(y) and len(y) == len(indexed[first]):
        _refuse_difference("The sources and the target", indexed[first], y.index)


def _names_samples(values: Any) -> bool:
    """Return whether values have an index that says which sample each row is."""
    return isinstance(values, pd.DataFrame | pd.Series) and not isinstance(
        values.index, pd.RangeIndex
    )


def _refuse_difference(pair: str, index: pd.Index, other: pd.Index) -> None:
    """Raise a ``DataError`` if two indices of as many samples differ."""
    differ = np.flatnonzero(np.asarray(index != other))
    if len(differ):
        row = int(differ[0])
        raise DataError(
            f"{pair} have different indices in {counted(len(differ), 'sample')}: sample"
            f" {row} (counted from 0) is {quoted(index[row])} in the former and"
            f" {quoted(other[row])} in the latter. Put their samples into the same order, as in"
            " X2.loc[X1.index]."
        )
