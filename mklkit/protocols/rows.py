"""Samples: numbers, columns of text and categories, and which sources each sample has.

Shapes: ``n`` new samples, ``N`` training samples, ``M`` kernels (views), ``p`` columns of a map.

Users pass an array, a data frame, a memory map, a ``RowSource`` such as ``StoredRows``, or a Dask
collection. ``read_rows`` (``estimators/reading.py``) turns each of them into ``Rows`` at the
boundary of an estimator, and no function inside asks where they come from. ``Rows`` consist of

- ``numbers`` (N, d): an array in memory, ``ColumnBlocks`` if some sources are sparse, or a
  ``Store``: ``StorePart`` for a file or another ``RowSource``, ``DaskRows`` for chunks on workers,
  ``GoneNumbers`` for samples that ``partial_fit`` has summed;
- ``others``, the columns that kernels read as text or categories, by position;
- ``medians``, the values for missing values, if samples may have some.

``rows[members]`` are samples in memory, and ``rows.take(members)`` are samples that stay where they
are. ``rows.arrays_of(kernels)`` is what each kernel reads, a plain array in memory, after its
scaling. A kernel that declares ``sparse`` in its traits gets sparse columns as a ``csr_array``,
whose zeros take no memory until the Gram matrix. Kernels with the same columns and scaling get the
same array, which identifies what is computed from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, Self, runtime_checkable

import attrs
import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack, issparse

from mklkit.errors import DataError
from mklkit.numerics.sparse_rows import bytes_of, gaps_filled
from mklkit.protocols.missing_sources import Mask

__all__ = [
    "Array",
    "ColumnBlocks",
    "Reader",
    "Reads",
    "RowSource",
    "Rows",
    "SomeRows",
    "Store",
    "StorePart",
    "Transform",
    "protected",
]

Array = NDArray[np.floating[Any]]
"""The array type of all protocols."""

Reads = Literal["numbers", "amounts", "text", "categories", "row ids"]
"""The kinds of values in the columns of a kernel."""


def protected(array: Any) -> Any:
    """Return a read-only view of an array, for components that share it; others unchanged.

    >>> labels = np.ones(2)
    >>> protected(labels).flags.writeable, labels.flags.writeable
    (False, True)
    """
    if isinstance(array, np.ndarray):
        array = array.view()
        array.flags.writeable = False
    return array


Columns = NDArray[np.intp] | None
"""Positions in the table; None for all of them."""

Members = slice | NDArray[np.intp]
"""Some samples, by a slice or their numbers."""


@runtime_checkable
class RowSource(Protocol):
    """Numbers (N, d) outside of memory that a user passes, such as an array in a file.

    It has the part of an array's interface that reading needs.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(N, d)."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """``float32`` or ``float64``, the type of the blocks."""

    @property
    def column_names(self) -> Sequence[str] | None:
        """The names of the columns, for binding kernels; None if they have none."""

    def __len__(self) -> int:
        """Return the number of samples N."""

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> Array:
        """Return some samples (n, d) as an array in memory."""

    def check_unchanged(self) -> None:
        """Raise a :class:`mklkit.errors.DataError` if the rows have changed since they were opened.

        It is called between passes; an array in a file compares its size and time stamp.
        """


class Store(ABC):
    """Where the numbers (N, d) of :class:`Rows` are if they are not in memory.

    Some of the samples, or some of the columns, are a store too, and nothing is read for them.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    column_names: Sequence[str] | None
    engine: Any = None
    """The engine that works where the numbers are; None for the threads of this machine."""

    def __len__(self) -> int:
        """Return the number of samples N."""
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, members: Members, /) -> Array:
        """Return some samples (n, d) as an array in memory."""

    def take(self, members: Members) -> Store:
        """Return some of the samples."""
        return StorePart(self, np.arange(len(self))[members])

    def cut(self, columns: NDArray[np.intp]) -> Store:
        """Return some of the columns."""
        return StorePart(self, None, columns)

    def check_unchanged(self) -> None:
        """Raise a ``DataError`` if the numbers have changed; by default they never do."""
        return


class Transform(Protocol):
    """What is done to the columns of a kernel, fitted to training samples.

    Two kernels with the same object and columns share the result.
    """

    def transform(self, columns: Array) -> Array:
        """Return the columns (n, k) as the kernel gets them."""


class StorePart(Store):
    """Some samples and columns (None for all) of a user's source or of a store, read on demand.

    Each block is scaled as it is read, if there is a ``scaling``.
    """

    def __init__(
        self,
        source: RowSource | Store,
        members: NDArray[np.intp] | None = None,
        columns: NDArray[np.intp] | None = None,
        scaling: Transform | None = None,
    ) -> None:
        self.source, self.members, self.columns = source, members, columns
        self.scaling = scaling
        n_rows, n_columns = source.shape
        self.dtype = source.dtype
        self.shape = (
            n_rows if members is None else len(members),
            n_columns if columns is None else len(columns),
        )
        names = source.column_names
        if names is not None and columns is not None:
            names = [names[int(column)] for column in columns]
        self.column_names = names

    def __getitem__(self, members: Members, /) -> Array:
        """Return some of the samples."""
        rows = self.source[members if self.members is None else self.members[members]]
        if self.columns is not None:
            rows = np.ascontiguousarray(rows[:, self.columns])
        return rows if self.scaling is None else self.scaling.transform(rows)

    def take(self, members: Members) -> StorePart:
        """Return some of the samples, of the same source."""
        every = np.arange(len(self)) if self.members is None else self.members
        return StorePart(self.source, every[members], self.columns, self.scaling)

    def cut(self, columns: NDArray[np.intp]) -> StorePart:
        """Return some of the columns, of the same source unless these are scaled together."""
        if self.scaling is not None:
            return StorePart(self, None, columns)
        chosen = columns if self.columns is None else self.columns[columns]
        return StorePart(self.source, self.members, chosen)

    def check_unchanged(self) -> None:
        """Check the source."""
        self.source.check_unchanged()


def _are_members(some: SomeRows, _: Any, members: Any) -> None:
    """Reject members that would be more than the samples: a file must not state a large array."""
    if members.ndim != 1 or members.dtype.kind != "i" or len(members) > len(some.rows):
        raise ValueError(f"expected the places of at most {len(some.rows)} samples")


@attrs.frozen(eq=False)
class SomeRows:
    """Some samples of an array that several maps share, read when they are needed.

    Attributes
    ----------
    rows : ndarray of shape (N, d)
        The samples of all maps.
    members : ndarray of int of shape (n,)
        The places of these samples, n ≤ N.

    Examples
    --------
    >>> SomeRows(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0])).read().tolist()
    [[3.0], [1.0]]
    """

    rows: Array
    members: NDArray[np.intp] = attrs.field(validator=_are_members)

    def read(self) -> Array:
        """Return the samples (n, d)."""
        return self.rows[self.members]

    def take(self, places: NDArray[np.intp]) -> SomeRows:
        """Return some of these samples, by their places among them."""
        return SomeRows(self.rows, self.members[places])


@attrs.frozen(eq=False, slots=False)
class ColumnBlocks:
    """Numbers (N, d) in memory, of which some columns are sparse: blocks of columns side by side.

    Attributes
    ----------
    blocks : tuple of ndarray and csr_array of shape (N, k)
        The columns of each source, in one type of numbers. Zeros that are not stored are no gaps.
    missing : tuple of ndarray of bool of shape (N,) or None
        Which samples miss all columns of each sparse block, whose samples are empty there; None if
        all have them, and for arrays, in which gaps are NaN.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> numbers = ColumnBlocks((np.array([[1.0], [2.0]]), csr_array([[0.0, 3.0], [0.0, 0.0]])))
    >>> numbers.shape, numbers.cut(np.array([0, 2])).tolist()
    ((2, 3), [[1.0, 3.0], [2.0, 0.0]])
    >>> type(numbers.cut(np.array([2, 1]))).__name__
    'csr_array'
    """

    blocks: tuple[Any, ...]
    missing: tuple[Mask, ...] = attrs.field(
        default=attrs.Factory(lambda self: (None,) * len(self.blocks), takes_self=True)
    )

    @property
    def shape(self) -> tuple[int, int]:
        """(N, d)."""
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        dtype: np.dtype[Any] = self.blocks[0].dtype
        return dtype

    @property
    def nbytes(self) -> int:
        """The memory of the numbers that are stored."""
        return sum(map(bytes_of, self.blocks))

    @property
    def starts(self) -> list[int]:
        """The position of the first column of each block."""
        return [0, *np.cumsum([block.shape[1] for block in self.blocks])[:-1].tolist()]

    def __len__(self) -> int:
        """Return the number of samples N."""
        return self.shape[0]

    def __getitem__(self, members: Members, /) -> ColumnBlocks:
        """Return some of the samples."""
        return ColumnBlocks(
            tuple(block[members] for block in self.blocks),
            tuple(None if mask is None else mask[members] for mask in self.missing),
        )

    def astype(self, dtype: Any) -> ColumnBlocks:
        """Return the numbers in another type."""
        blocks = tuple(block.astype(dtype) for block in self.blocks)
        return ColumnBlocks(blocks, self.missing)

    def _parts(self, columns: Columns) -> Iterator[tuple[NDArray[np.intp], Any, Mask]]:
        """Yield the columns of each block that are wanted, with their places and who miss them."""
        wanted = np.arange(self.shape[1]) if columns is None else columns
        for start, block, mask in zip(self.starts, self.blocks, self.missing, strict=True):
            place = np.flatnonzero((wanted >= start) & (wanted < start + block.shape[1]))
            within = wanted[place] - start
            if len(within):
                whole = np.array_equal(within, np.arange(block.shape[1]))
                yield place, block if whole else block[:, within], mask

    def gaps_in(self, columns: Columns) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which samples (N,) miss all of some columns, and which miss any."""
        lack_all, lack_some = np.ones(len(self), bool), np.zeros(len(self), bool)
        for _, part, mask in self._parts(columns):
            if issparse(part):
                some = every = np.zeros(len(self), bool) if mask is None else mask
            else:
                gaps = np.isnan(part)
                some, every = gaps.any(axis=1), gaps.all(axis=1)
            lack_all &= every
            lack_some |= some
        return lack_all, lack_some

    def are_sparse(self, columns: Columns) -> bool:
        """Return whether all of some columns are sparse."""
        return all(issparse(part) for _, part, _ in self._parts(columns))

    def cut(self, columns: Columns, fills: Array | None = None) -> Any:
        """Return some columns (N, k): a sparse array if all of them are sparse, else an array.

        Samples that miss a sparse block have the numbers ``fills`` (d,) there, NaN by default.
        """
        n_wanted = self.shape[1] if columns is None else len(columns)
        every = np.full(self.shape[1], np.nan, self.dtype) if fills is None else fills
        filling = every if columns is None else every[columns]
        parts, places = [], []
        for place, part, mask in self._parts(columns):
            parts.append(gaps_filled(part, mask, filling[place]) if issparse(part) else part)
            places.append(place)
        if not all(map(issparse, parts)):
            numbers = np.empty((len(self), n_wanted), self.dtype)
            for place, part in zip(places, parts, strict=True):
                numbers[:, place] = part.toarray() if issparse(part) else part
            return numbers
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(np.concatenate(places))
        return hstack(parts, format="csr")[:, order]

    def filled(self, values: Array) -> ColumnBlocks:
        """Return the numbers with values (d,) in the gaps."""
        blocks = []
        for start, block, mask in zip(self.starts, self.blocks, self.missing, strict=True):
            of_block = values[start : start + block.shape[1]]
            sparse = issparse(block)
            blocks.append(
                gaps_filled(block, mask, of_block) if sparse else _filled(block, of_block)
            )
        return ColumnBlocks(tuple(blocks))


def _filled(numbers: Array, values: Array) -> Array:
    """Return numbers (N, d) with values (d,) in place of NaN."""
    return np.where(np.isnan(numbers), values, numbers).astype(numbers.dtype)


class Reader(Protocol):
    """What reads columns: a kernel that is bound to them, or a projector."""

    @property
    def columns(self) -> Columns:
        """The positions of its columns; None for all of them."""

    @property
    def reads(self) -> Reads:
        """The kind of values in them."""

    @property
    def scaling(self) -> Transform | None:
        """What is done to them; None if they are read as they are."""

    @property
    def sparse(self) -> bool:
        """Whether it takes sparse columns."""


@attrs.frozen(eq=False, slots=False)
class Rows:
    """N samples with d columns, of which each kernel reads its own.

    It has the part of an array's interface that needs no columns: ``shape``, ``dtype``, its
    length, ``rows[members]`` for samples in memory, and conversion to an array of its numbers.

    Attributes
    ----------
    numbers : ndarray of shape (N, d), ColumnBlocks or Store
        The columns of numbers, at their positions, NaN for gaps and 0 in other columns; in memory,
        with some of them sparse or none, or a store that is read in parts.
    others : dict of (str, int) to ndarray of shape (N, L) or (N,)
        The columns that a kernel reads as ``"text"``, or text as ``"row ids"``, by code points as
        :func:`mklkit.registry.readings.text_codes` returns them, or as ``"categories"``, by codes,
        and their positions; NaN for gaps.
    medians : ndarray of shape (d,), optional
        The values for gaps, if samples may have some; NaN in columns whose gaps kernels skip.
        Without medians no sample misses a source.

    All components of a fit share these arrays, so they are read-only.

    Examples
    --------
    >>> codes = np.array([[97.0], [98.0]])
    >>> rows = Rows(np.array([[1.0, 0.0], [np.nan, 0.0]]), {("text", 1): codes}, np.array([1, 0]))
    >>> from collections import namedtuple
    >>> Kernel = namedtuple("Kernel", "columns reads scaling sparse", defaults=[None, False])
    >>> kernels = Kernel(np.array([0]), "numbers"), Kernel(np.array([1]), "text")
    >>> [array.tolist() for array in rows.arrays_of(kernels)]
    [[[1.0], [1.0]], [[97.0], [98.0]]]
    >>> rows.missing_of(kernels).tolist()
    [[False, False], [True, False]]
    """

    numbers: Any = attrs.field(converter=protected)
    others: Mapping[tuple[Reads, int], Array] = attrs.field(factory=dict)
    medians: Array | None = None
    _cuts: dict[Any, tuple[Any, Mask]] = attrs.field(factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return an array in memory, a store or a user's :class:`RowSource` as samples."""
        if isinstance(X, cls):
            return X
        held = isinstance(X, np.ndarray | ColumnBlocks | Store)
        return cls(X if held else StorePart(X))

    @property
    def in_memory(self) -> bool:
        """Whether the numbers are in memory."""
        return not isinstance(self.numbers, Store)

    @property
    def plain(self) -> bool:
        """Whether it is an array of numbers in memory, and nothing else."""
        array = isinstance(self.numbers, np.ndarray)
        return array and not self.others and self.medians is None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and columns."""
        n_rows, n_columns = self.numbers.shape
        return n_rows, n_columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers, and so of labels and Gram matrices."""
        dtype: np.dtype[Any] = self.numbers.dtype
        return dtype

    @property
    def engine(self) -> Any:
        """The engine that works where the numbers are; None for the threads of this machine."""
        return None if self.in_memory else self.numbers.engine

    @property
    def parts(self) -> list[Any]:
        """All arrays in memory that it consists of."""
        return [*([self.numbers] if self.in_memory else []), *self.others.values()]

    @property
    def nbytes(self) -> int:
        """The memory of all columns."""
        return sum(part.nbytes for part in self.parts)

    @cached_property
    def digest(self) -> str:
        """A key that identifies the content of samples in memory."""
        return str(joblib.hash((self.numbers, self.others, self.medians)))

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.numbers)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        numbers = self.numbers
        if isinstance(numbers, ColumnBlocks):
            every = numbers.cut(None)
            numbers = every.toarray() if issparse(every) else every
        return np.asarray(numbers if self.in_memory else numbers[:], dtype)

    def __getitem__(self, members: Members, /) -> Rows:
        """Return some of the samples in memory; reject NaN and infinity in numbers that were read.

        Raises
        ------
        DataError
            If numbers that were read are not finite.
        """
        numbers = self.numbers[members]
        if self.in_memory or np.isfinite(numbers).all():
            return self._with(numbers, members)
        broken = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        number = int(np.arange(len(self))[members][broken])
        raise DataError(
            f"Sample {number} (counted from 0) has NaN or infinity, which kernels can't compare in"
            " samples read in parts. Fill the gaps, leave such samples out, or pass a table in"
            " memory."
        )

    def take(self, members: Members) -> Rows:
        """Return some of the samples: a copy in memory, or a part of the store to read later."""
        return self[members] if self.in_memory else self._with(self.numbers.take(members), members)

    def _with(self, numbers: Any, members: Members) -> Rows:
        others = {key: codes[members] for key, codes in self.others.items()}
        rows = Rows(numbers, others, self.medians)
        if self.in_memory:
            for key, (columns, missing) in self._cuts.items():
                if key[-1] is not None:  # Scaled once for all problems and folds.
                    mask = None if missing is None else rows._mask(missing[members])
                    rows._cuts[key] = protected(columns[members]), mask
        return rows

    def astype(self, dtype: Any) -> Rows:
        """Return the samples with numbers of another type."""
        return attrs.evolve(self, numbers=self.numbers.astype(dtype))

    def filled(self) -> Rows:
        """Return the samples with medians in all gaps, so that none misses a source."""
        if self.medians is None:
            return self
        if isinstance(self.numbers, ColumnBlocks):
            return Rows(self.numbers.filled(self.medians), self.others)
        return Rows(_filled(self.numbers, self.medians), self.others)

    def check_unchanged(self) -> None:
        """Raise a DataError if numbers outside of memory have changed since they were opened."""
        if not self.in_memory:
            self.numbers.check_unchanged()

    def arrays_of(self, kernels: Sequence[Reader]) -> list[Any]:
        """Return what each kernel reads (N, k), or (N, L) for text, with medians in gaps.

        Kernels on the same columns get the same array, which identifies its quantities. Of samples
        in a store, it is a store that is not read yet.
        """
        return [self._read(kernel)[0] for kernel in kernels]

    def missing_of(self, kernels: Sequence[Reader]) -> Mask:
        """Return which samples miss each kernel's source (N, M): all the columns that it reads."""
        if self.medians is None:
            return None
        masks = [self._read(kernel)[1] for kernel in kernels]
        if all(mask is None for mask in masks):
            return None
        every = np.zeros(len(self), bool)
        return np.column_stack([every if mask is None else mask for mask in masks])

    def unfilled(self, kernel: Reader) -> Any:
        """Return the numbers (n, k) in a kernel's columns as they are in memory, NaN for gaps.

        They are sparse if all of them are, and then those of the samples that have any of them, if
        there are such, because gaps would take more memory than the numbers.
        """
        columns, numbers = kernel.columns, self.numbers
        if isinstance(numbers, ColumnBlocks) and numbers.are_sparse(columns):
            missing, _ = numbers.gaps_in(columns)
            if missing.any() and not missing.all():
                return numbers[np.flatnonzero(~missing)].cut(columns)
        return self._numbers_in(columns)

    def gaps_in(self, kernel: Reader) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which samples (N,) in memory miss all of a kernel's numbers, and which any."""
        if isinstance(self.numbers, ColumnBlocks):
            return self.numbers.gaps_in(kernel.columns)
        gaps = np.isnan(self._numbers_in(kernel.columns))
        return gaps.all(axis=1), gaps.any(axis=1)

    def _numbers_in(self, columns: Columns) -> Any:
        if isinstance(self.numbers, ColumnBlocks):
            return self.numbers.cut(columns)
        return self.numbers if columns is None else self.numbers[:, columns]

    def _read(self, kernel: Reader) -> tuple[Any, Mask]:
        columns, reads, scaling = kernel.columns, kernel.reads, kernel.scaling
        words = reads in ("text", "categories", "row ids") and bool(self.others)
        dense = isinstance(self.numbers, ColumnBlocks) and not kernel.sparse
        whole = columns is None and not isinstance(self.numbers, ColumnBlocks)
        if whole and not words and self.medians is None and scaling is None:
            return self.numbers, None
        key = b"" if columns is None else columns.tobytes(), reads if words else "", dense, scaling
        if key not in self._cuts:
            # Of two threads, the first one's array is kept.
            cut, missing = self._cut(columns, reads if words else "numbers")
            if scaling is not None:
                stored = isinstance(cut, Store)
                cut = StorePart(cut, scaling=scaling) if stored else scaling.transform(cut)
            if dense and issparse(cut):
                cut = cut.toarray()
            self._cuts.setdefault(key, (protected(cut), missing))
        return self._cuts[key]

    def _cut(self, columns: Columns, reads: Reads) -> tuple[Any, Mask]:
        """Return what a kernel reads in some columns, and which samples miss all of them."""
        if not self.in_memory:
            return self.numbers if columns is None else self.numbers.cut(columns), None
        if reads == "text":
            assert columns is not None, "a kernel on text is bound to its column"
            codes = self.others["text", int(columns[0])]
            missing = np.isnan(codes[:, 0])
            codes = np.nan_to_num(codes, nan=-1.0) if missing.any() else codes  # an empty text
            return np.ascontiguousarray(codes), self._mask(missing)
        if reads == "row ids":
            words = self.others.get((reads, 0 if columns is None else int(columns[0])))
            if words is not None:
                missing = np.isnan(words[:, 0])
                words = np.nan_to_num(words, nan=-1.0) if missing.any() else words  # no identifier
                return np.ascontiguousarray(words), self._mask(missing)
        if isinstance(self.numbers, ColumnBlocks) and self.numbers.are_sparse(columns):
            missing, _ = self.numbers.gaps_in(columns)
            return self.numbers.cut(columns, self.medians), self._mask(missing)
        numbers = self._numbers_in(columns)
        if reads == "categories":
            numbers = numbers.astype(np.float64)
            for place, column in enumerate(range(numbers.shape[1]) if columns is None else columns):
                codes_read = self.others.get(("categories", int(column)))
                if codes_read is not None:
                    numbers[:, place] = codes_read
        if self.medians is None:
            return np.ascontiguousarray(numbers), None
        gaps = np.isnan(numbers)
        medians = self.medians if columns is None else self.medians[columns]
        values = np.ascontiguousarray(np.where(gaps, medians, numbers), numbers.dtype)
        return values, self._mask(np.asarray(gaps.all(axis=1)))

    def _mask(self, missing: NDArray[np.bool_]) -> Mask:
        return missing if self.medians is not None and missing.any() else None
