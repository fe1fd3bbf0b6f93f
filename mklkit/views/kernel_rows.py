"""Several kernels and the rows that each uses, with shared quantities computed once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import BASES
from mklkit.protocols import Array, FittedKernel, KernelView
from mklkit.views.known_pairs import KnownPairs
from mklkit.views.rows import take_rows

__all__ = [
    "FittedScalarKernel",
    "InnerProduct",
    "KernelRows",
    "Scratch",
    "SpareScratch",
    "is_scalar",
]


class FittedScalarKernel(FittedKernel):
    """A kernel that is a scalar function of a base quantity of two rows.

    A subclass names the ``base``, states whether it is ``monotone`` in it, and implements ``of``.
    Kernels with the same base on the same rows are then evaluated together, and the quartiles of a
    monotone kernel are computed from those of its base (a rank is kept or reversed).
    """

    __slots__ = ()

    @abstractmethod
    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values at the base's, written into ``out`` (or ``base``)."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values = BASES[self.base](a, b)
        return self.of(values, values)

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        if self.base == "inner_product":
            values = np.einsum("ij,ij->i", a, a)
        else:
            values = np.zeros(len(a), dtype=a.dtype)
        return self.of(values, values)


@attrs.frozen
class InnerProduct(FittedScalarKernel):
    """xᵀz: the linear kernel; on features, the kernel that a feature map represents."""

    base: ClassVar[str] = "inner_product"
    monotone: ClassVar[int] = 1

    def of(self, base: Array, out: Array) -> Array:
        """Return the inner products unchanged."""
        if out is not base:
            out[...] = base
        return out


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
        for index, columns in enumerate(rows):
            known = (place for place, array in enumerate(arrays) if array is columns)
            place = next(known, len(arrays))
            if place == len(arrays):
                arrays.append(columns)
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
    def of_views(cls, views: Iterable[KernelView]) -> Self:
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
        pairs = tuple(known if known is None else known.take(members) for known in self.pairs)
        return attrs.evolve(self, arrays=arrays, pairs=pairs)

    def take_rows(self, members: NDArray[np.intp]) -> Self:
        """Return the kernels on some of the rows; those of a row source are not read."""
        arrays = tuple(take_rows(array, members) for array in self.arrays)
        pairs = tuple(known if known is None else known.take(members) for known in self.pairs)
        return attrs.evolve(self, arrays=arrays, pairs=pairs)

    def only(self, index: int, kernel: FittedKernel | None = None) -> Self:
        """Return one of the kernels with its rows, optionally with another kernel in its place."""
        chosen = self.kernels[index] if kernel is None else kernel
        place = self.places[index]
        return self.of([chosen], [self.arrays[place]], [self.pairs[place]])

    def diagonals(self) -> list[Array]:
        """Return each kernel's similarity of each row with itself, (N,)."""
        return [kernel.diagonal(rows) for kernel, rows in zip(self.kernels, self.rows, strict=True)]

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
                for index, (candidate, *arrays) in waiting.items()
                if is_scalar(candidate) and candidate.base == name and arrays == places
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
