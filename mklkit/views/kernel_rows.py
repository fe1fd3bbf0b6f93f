"""Several kernels and the rows that each uses, with shared quantities computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Protocol, Self, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import BASES, TILE_COLUMNS, TILE_ROWS, row_blocks, upper_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, FittedKernel
from mklkit.views.known_pairs import KnownPairs
from mklkit.views.row_parts import take_rows

__all__ = [
    "KernelRows",
    "KernelTiles",
    "Scratch",
    "SpareScratch",
    "Tiles",
    "is_scalar",
    "over_tiles",
    "symmetric_tiles",
    "tile_places",
]

Result = TypeVar("Result")

KernelTiles = Iterator[tuple[int, Array]]
"""Every kernel's index and its values on one tile."""

Tiles = Iterator[tuple[slice, slice, KernelTiles]]
"""Rows and columns of each tile, and every kernel's values there."""


class ViewOfRows(Protocol):
    """What is needed of a view."""

    @property
    def own(self) -> KernelRows:
        """Its kernel on the training rows."""
        ...


def is_scalar(kernel: FittedKernel) -> bool:
    """Return whether a kernel is a scalar function of a base quantity known to mklkit."""
    return kernel.base in BASES


@attrs.frozen(eq=False)
class KernelRows:
    """M kernels and their rows; kernels on the same columns share one array.

    Attributes
    ----------
    kernels : tuple of FittedKernel
        M of them.
    arrays : tuple of ndarray
        The distinct arrays of rows, (N, d) each.
    places : tuple of int
        The index of each kernel's array, (M,).
    pairs : tuple of (KnownPairs or None)
        For each array the store of which its base quantities are a part, where there is one.

    Examples
    --------
    >>> from mklkit.kernels import RBF, Linear
    >>> rows = np.array([[0.0], [1.0]])
    >>> seen = KernelRows.of([Linear().fit(rows), RBF(gamma=1.0).fit(rows)], [rows, rows])
    >>> len(seen), len(seen.arrays), seen.n_rows
    (2, 1, 2)
    """

    kernels: tuple[FittedKernel, ...]
    arrays: tuple[Array, ...]
    places: tuple[int, ...]
    pairs: tuple[KnownPairs | None, ...]

    @classmethod
    def of(
        cls,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        pairs: Sequence[KnownPairs | None] = (),
    ) -> Self:
        """Return kernels with their own rows (N, d_m); an array given several times is shared."""
        arrays: list[Array] = []
        kept: list[KnownPairs | None] = []
        places = []
        for index, own in enumerate(rows):
            known = (place for place, array in enumerate(arrays) if array is own)
            place = next(known, len(arrays))
            if place == len(arrays):
                arrays.append(own)
                kept.append(pairs[index] if pairs else None)
            places.append(place)
        return cls(tuple(kernels), tuple(arrays), tuple(places), tuple(kept))

    @classmethod
    def joined(cls, parts: Iterable[KernelRows]) -> Self:
        """Return the kernels of several, on the same rows, together."""
        every = list(parts)
        return cls.of(
            [kernel for part in every for kernel in part.kernels],
            [rows for part in every for rows in part.rows],
            [part.pairs[place] for part in every for place in part.places],
        )

    @classmethod
    def of_views(cls, views: Iterable[ViewOfRows]) -> Self:
        """Return the views' own kernels on the training rows, regardless of the feature map."""
        return cls.joined(view.own for view in views)

    def __len__(self) -> int:
        """Return the number of kernels M."""
        return len(self.kernels)

    @property
    def rows(self) -> list[Array]:
        """Each kernel's own rows, (N, d_m)."""
        return [self.arrays[place] for place in self.places]

    @property
    def n_rows(self) -> int:
        """The number of rows N."""
        return len(self.arrays[0])

    def take(self, members: slice | NDArray[np.intp]) -> Self:
        """Return the kernels on some of the rows."""
        arrays = tuple(array[members] for array in self.arrays)
        return attrs.evolve(self, arrays=arrays, pairs=self._pairs_of(members))

    def _pairs_of(self, members: slice | NDArray[np.intp]) -> tuple[KnownPairs | None, ...]:
        return tuple(None if own is None else own.take(members) for own in self.pairs)

    def take_rows(self, members: NDArray[np.intp]) -> Self:
        """Return the kernels on some of the rows; those of a row source are not read."""
        arrays = tuple(take_rows(array, members) for array in self.arrays)
        return attrs.evolve(self, arrays=arrays, pairs=self._pairs_of(members))

    def only(self, index: int, kernel: FittedKernel | None = None) -> Self:
        """Return one of the kernels with its rows, optionally with another kernel in its place."""
        own = self.kernels[index] if kernel is None else kernel
        place = self.places[index]
        return self.of([own], [self.arrays[place]], [self.pairs[place]])

    def diagonals(self) -> list[Array]:
        """Return each kernel's similarity of each row with itself, (N,)."""
        return [kernel.diagonal(own) for kernel, own in zip(self.kernels, self.rows, strict=True)]

    def similarities(
        self, others: KernelRows, spare: Sequence[Array] = (), scratch: Scratch | None = None
    ) -> Iterator[tuple[int, Array]]:
        """Yield each kernel's similarities of these rows to other rows.

        Parameters
        ----------
        others : KernelRows
            The same kernels on other rows.
        spare : sequence of ndarray, default=()
            None, or two arrays of memory (n · m,), in which each kernel's values replace those of
            the one before: new memory costs more than an exponential.
        scratch : Scratch, optional
            Memory of which each kernel gets its own.

        Yields
        ------
        index : int
            In any order.
        values : ndarray of shape (n, m)
            May be modified by the caller.

        Notes
        -----
        O(nmd) for each different base quantity of the same rows, O(nm) per kernel; two tiles of
        memory if the caller keeps none.
        """
        waiting = dict(enumerate(zip(self.kernels, self.places, others.places, strict=True)))
        while waiting:
            first, (kernel, *places) = next(iter(waiting.items()))
            a, b = self.arrays[places[0]], others.arrays[places[1]]
            if not is_scalar(kernel):
                del waiting[first]
                yield first, kernel(a, b)
                continue
            name = kernel.base
            group = [
                index
                for index, (other, *seen) in waiting.items()
                if is_scalar(other) and other.base == name and seen == places
            ]
            shape = len(a), len(b)
            if len(spare) and a.dtype == b.dtype == spare[0].dtype:
                base, second = (memory[: shape[0] * shape[1]].reshape(shape) for memory in spare)
            elif scratch is not None and a.dtype == b.dtype:
                base, second = scratch.take(shape, a.dtype), None
            else:
                base, second = np.empty(shape, np.result_type(a, b)), None
            known = self.pairs[places[0]], others.pairs[places[1]]
            if known[0] is None or known[1] is None or not known[0].gather(name, known[1], base):
                BASES[name](a, b, out=base)
            for index in group:
                del waiting[index]
                if index == group[-1]:
                    out = base
                elif second is not None:
                    out = second
                elif scratch is not None:
                    out = scratch.take(shape, base.dtype)
                else:
                    out = np.empty_like(base)
                yield index, self.kernels[index].of(base, out)


class Scratch:
    """Memory that is used again for each block of rows: new memory costs more than exponentials."""

    def __init__(self) -> None:
        self._arrays: list[Array] = []
        self._taken = 0

    def take(self, shape: tuple[int, int], dtype: Any) -> Array:
        """Return an array (n, m) of any content, which is nobody else's until :meth:`reset`."""
        size, place = shape[0] * shape[1], self._taken
        self._taken += 1
        if place == len(self._arrays):
            self._arrays.append(np.empty(size, dtype))
        if self._arrays[place].size < size or self._arrays[place].dtype != dtype:
            self._arrays[place] = np.empty(size, dtype)
        return self._arrays[place][:size].reshape(shape)

    def reset(self) -> None:
        """Let all arrays be taken again."""
        self._taken = 0


class SpareScratch:
    """Memory that several threads use one after another; a copy in another process has none."""

    def __init__(self) -> None:
        self._spare: list[Scratch] = []

    def take(self) -> Scratch:
        """Return memory that nobody uses."""
        try:
            return self._spare.pop()
        except IndexError:
            return Scratch()

    def give(self, scratch: Scratch) -> None:
        """Let others use the memory."""
        self._spare.append(scratch)

    def __reduce__(self) -> tuple[type[SpareScratch], tuple[()]]:
        return SpareScratch, ()


def symmetric_tiles(seen: KernelRows) -> Tiles:
    """Yield the tiles on and above the diagonal of all Gram matrices, all kernels at once.

    Parameters
    ----------
    seen : KernelRows
        M kernels and their rows, (N, d_m) each.

    Yields
    ------
    block, other : slice
        Rows and columns of the tile.
    tiles : iterator of (int, ndarray)
        Each kernel's index and its tile.
    """
    for block, other in upper_blocks(seen.n_rows):
        yield block, other, seen.take(block).similarities(seen.take(other))


def over_tiles(
    work: Callable[[slice, slice, KernelTiles], Result],
    seen: KernelRows,
    others: KernelRows | None = None,
) -> Iterator[Result]:
    """Yield what some work makes of each tile, in the order of the tiles, from several threads.

    Parameters
    ----------
    work : callable
        Called with the tile's rows, its columns, and an iterator over each kernel's index and its
        values there, which are overwritten by the next kernel's.
    seen : KernelRows
        M kernels and their rows, (N, d_m) each.
    others : KernelRows, optional
        The same kernels on the rows of the columns; without it, tiles on and above the diagonal
        of the Gram matrices.
    """

    spare: list[tuple[Array, Array]] = []
    every = seen if others is None else others
    size = min(TILE_ROWS, seen.n_rows) * min(TILE_COLUMNS, every.n_rows)

    def one(place: tuple[slice, slice]) -> Result:
        block, other = place
        try:
            memory = spare.pop()
        except IndexError:  # two arrays per thread are enough
            memory = np.empty(size, seen.arrays[0].dtype), np.empty(size, seen.arrays[0].dtype)
        tiles = seen.take(block).similarities(every.take(other), memory)
        result = work(block, other, tiles)
        spare.append(memory)
        return result

    places = tile_places(seen, others)
    first = list(islice(places, 2))
    if len(first) < 2:
        yield from map(one, first)  # threads would cost more
    else:
        yield from each(one, chain(first, places))


def tile_places(
    seen: KernelRows, others: KernelRows | None = None
) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the tiles of which :func:`over_tiles` evaluates the kernels."""
    if others is None:
        yield from upper_blocks(seen.n_rows)
        return
    for block in row_blocks(seen.n_rows, TILE_ROWS):
        for other in row_blocks(others.n_rows, TILE_COLUMNS):
            yield block, other
