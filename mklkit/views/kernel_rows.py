"""Several kernels and their samples, with shared quantities computed once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import BASES, ExponentialSum, distance_exponentials
from mklkit.numerics.sparse_rows import squared_lengths
from mklkit.protocols import Array, FittedKernel, KernelView, Mask, Reader, Rows, Store, zeroed
from mklkit.views.rows import KnownPairs


class FittedScalarKernel(FittedKernel):
    """A kernel that is a scalar function of a base quantity of two samples.

    A subclass names the ``base``, states whether it is ``monotone`` in it, and implements
    :meth:`of`. Kernels with the same base on the same samples are then evaluated together, and the
    quartiles of a monotone kernel are computed from those of its base, because a rank is kept or
    reversed.

    Attributes
    ----------
    base : str
        A key of ``mklkit.numerics.pairwise.BASES``: ``"inner_product"``, ``"squared_distance"`` or
        ``"manhattan_distance"``.
    monotone : {-1, 0, 1}
        +1 if the kernel grows with the base, −1 if it falls, 0, the default, if it does neither.
    rate : float or None
        The c of a kernel exp(c · base), computed together with others like it; None, the default,
        for other functions.

    See Also
    --------
    Kernel : What is fitted.

    Examples
    --------
    The inhomogeneous quadratic kernel (xᵀz + 1)²:

    >>> class Quadratic(FittedScalarKernel):
    ...     base = "inner_product"
    ...     def of(self, base, out):
    ...         return np.square(base + 1, out=out)
    >>> rows = np.array([[1.0], [2.0]])
    >>> Quadratic()(rows, rows).tolist(), Quadratic().diagonal(rows).tolist()
    ([[4.0, 9.0], [9.0, 25.0]], [4.0, 25.0])
    """

    __slots__ = ()

    @property
    def rate(self) -> float | None:
        """The c of a kernel exp(c · base), computed together with others like it; else None."""
        return None

    @abstractmethod
    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values for values of its base quantity.

        Parameters
        ----------
        base : ndarray
            Values of the base quantity.
        out : ndarray
            An array of the same shape to write the values into; it may be ``base`` itself.

        Returns
        -------
        ndarray
            The array ``out``.
        """

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values = BASES[self.base](a, b)
        return self.of(values, values)

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself.

        Parameters
        ----------
        a : ndarray of shape (n, d)
            Samples, restricted to the kernel's own columns.

        Returns
        -------
        ndarray of shape (n,)
            The kernel's values for xᵀx, or for a distance of 0.
        """
        if self.base == "inner_product":
            values = squared_lengths(a)
        else:
            values = np.zeros(a.shape[0], dtype=a.dtype)
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
    """M kernels and their samples; kernels on the same columns share one array.

    ``places`` are the indices of the kernels' arrays (M,) among the distinct ``arrays`` of samples
    (N, d); ``pairs`` has, for each array, the store that contains its base quantities, if there is
    one. ``missing`` says which samples miss each kernel's source, (N, M), None if they have
    everything.

    >>> from mklkit.kernels import RBF, Linear
    >>> rows = np.array([[0.0], [1.0]])
    >>> kernel_rows = KernelRows.of([Linear().fit(rows), RBF(gamma=1.0).fit(rows)], [rows, rows])
    >>> len(kernel_rows), len(kernel_rows.arrays), kernel_rows.n_rows
    (2, 1, 2)
    """

    kernels: tuple[FittedKernel, ...]
    arrays: tuple[Any, ...]
    places: tuple[int, ...]
    pairs: tuple[KnownPairs | None, ...]
    missing: Mask = None

    @classmethod
    def of(
        cls,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        pairs: Sequence[KnownPairs | None] = (),
        missing: Mask = None,
    ) -> Self:
        """Return kernels with their own samples (N, d_m); repeated arrays are shared."""
        arrays = {id(columns): columns for columns in rows}
        order = list(arrays)
        known = dict(zip(map(id, rows), pairs, strict=True)) if pairs else {}
        return cls(
            tuple(kernels),
            tuple(arrays.values()),
            tuple(order.index(id(columns)) for columns in rows),
            tuple(known.get(key) for key in order),
            missing,
        )

    @classmethod
    def reading(
        cls,
        kernels: Sequence[FittedKernel],
        readers: Sequence[Reader],
        rows: Rows,
        pairs: Sequence[KnownPairs | None] = (),
    ) -> Self:
        """Return kernels with what each of their ``readers`` reads in the samples (N, d)."""
        return cls.of(kernels, rows.arrays_of(readers), pairs, rows.missing_of(readers))

    @classmethod
    def joined(cls, parts: Iterable[KernelRows]) -> Self:
        """Return the kernels of several objects on the same samples as one."""
        every = list(parts)
        masks = [part.missing for part in every]
        missing = None
        if any(mask is not None for mask in masks):
            shapes = [(part.n_rows, len(part)) for part in every]
            pairs = zip(masks, shapes, strict=True)
            missing = np.hstack([np.zeros(shape, bool) if m is None else m for m, shape in pairs])
        return cls.of(
            [kernel for part in every for kernel in part.kernels],
            [rows for part in every for rows in part.rows],
            [part.pairs[place] for part in every for place in part.places],
            missing,
        )

    @classmethod
    def of_views(cls, views: Iterable[KernelView]) -> Self:
        """Return the views' own kernels on the training samples, regardless of the feature map."""
        return cls.joined(view.kernel_rows for view in views)

    def __len__(self) -> int:
        """Return the number of kernels M."""
        return len(self.kernels)

    @property
    def rows(self) -> list[Any]:
        """Each kernel's own samples, (N, d_m)."""
        return [self.arrays[place] for place in self.places]

    @property
    def n_rows(self) -> int:
        """The number of samples N."""
        n_rows: int = self.arrays[0].shape[0]
        return n_rows

    def take(self, members: slice | NDArray[np.intp], read: bool = True) -> Self:
        """Return the kernels on some of the samples; those of a store are read now or later."""
        every = isinstance(members, slice) and members == slice(0, self.n_rows)
        if every and all(isinstance(array, np.ndarray) for array in self.arrays):
            return self
        return attrs.evolve(
            self,
            arrays=tuple(
                array.take(members) if isinstance(array, Store) and not read else array[members]
                for array in self.arrays
            ),
            pairs=tuple(known if known is None else known.take(members) for known in self.pairs),
            missing=None if self.missing is None else self.missing[members],
        )

    def only(self, index: int, kernel: FittedKernel | None = None) -> Self:
        """Return a kernel with its samples, optionally with another kernel in its place."""
        place = self.places[index]
        chosen = self.kernels[index] if kernel is None else kernel
        missing = self.missing_of(index)
        mask = None if missing is None else missing[:, None]
        return self.of([chosen], [self.arrays[place]], [self.pairs[place]], mask)

    def missing_of(self, index: int) -> Mask:
        """Return which samples miss the source of one kernel, (N,); None if all have it."""
        missing = None if self.missing is None else self.missing[:, index]
        return missing if missing is not None and missing.any() else None

    def diagonals(self) -> list[Array]:
        """Return each kernel's similarity of each sample with itself, (N,)."""
        pairs = enumerate(zip(self.kernels, self.rows, strict=True))
        return [
            zeroed(np.array(kernel.diagonal(rows)), self.missing_of(index))
            for index, (kernel, rows) in pairs
        ]

    def exponential_sums(self, weights: Array) -> list[ExponentialSum] | None:
        """Return Σ w_m K_m as sums of Gaussians, one for each array; None if it has other terms.

        Nor if samples are sparse, in a store, or miss sources, or their distances are known.
        """
        sums = []
        for place, (array, pairs) in enumerate(zip(self.arrays, self.pairs, strict=True)):
            members = [m for m, of_kernel in enumerate(self.places) if of_kernel == place]
            kernels = [self.kernels[m] for m in members]
            (base, *others) = {kernel.base for kernel in kernels}
            rates = [] if others or base is None else _rates(base, kernels)
            plain = isinstance(array, np.ndarray) and pairs is None and self.missing is None
            if not (plain and rates):
                return None
            sums.append(ExponentialSum.of(array, rates, weights[members]))
        return sums

    def similarities(
        self, others: KernelRows, scratch: Scratch | None = None
    ) -> Iterator[tuple[int, Array]]:
        """Yield each kernel's index, in any order, and similarities (n, m) to others' samples.

        ``others`` are the same kernels on other samples. The caller may modify the values, which
        are in ``scratch`` if given: new memory costs more than an exponential. O(nmd) for each
        distinct base quantity of the same samples, O(nm) per kernel; two tiles of memory if the
        caller keeps none. They are zero where a sample misses the kernel's source.
        """
        for index, values in self._similarities(others, scratch):
            yield index, zeroed(values, self.missing_of(index), others.missing_of(index))

    def _similarities(
        self, others: KernelRows, scratch: Scratch | None
    ) -> Iterator[tuple[int, Array]]:
        """Yield the similarities with medians in place of missing sources."""
        groups: dict[tuple[str, int, int], list[int]] = {}
        for index, place in enumerate(zip(self.places, others.places, strict=True)):
            kernel = self.kernels[index]
            if is_scalar(kernel):
                groups.setdefault((kernel.base, *place), []).append(index)
            else:
                yield index, kernel(self.arrays[place[0]], others.arrays[place[1]])
        for (name, first, second), group in groups.items():
            a, b = self.arrays[first], others.arrays[second]
            shape = (a.shape[0], b.shape[0])
            dtype = np.result_type(a.dtype, b.dtype)
            many = scratch is not None and not scratch.overwrites
            rates = _rates(name, [self.kernels[index] for index in group]) if many else []
            if scratch is not None and rates:
                room = scratch.take((len(group) * shape[0], shape[1]), dtype)
                values = distance_exponentials(a, b, rates, room.reshape(len(group), *shape))
                yield from zip(group, values, strict=True)
                continue
            base = (
                np.empty(shape, dtype) if scratch is None else scratch.take(shape, dtype, base=True)
            )
            known, known_others = self.pairs[first], others.pairs[second]
            if known is None or known_others is None or not known.gather(name, known_others, base):
                BASES[name](a, b, out=base)
            for index in group[:-1]:
                out = np.empty_like(base) if scratch is None else scratch.take(shape, dtype)
                yield index, self.kernels[index].of(base, out)
            yield group[-1], self.kernels[group[-1]].of(base, base)


def _rates(base: str, kernels: Sequence[FittedKernel]) -> list[float]:
    """Return the rates of kernels exp(c‖x − z‖²), none if one has another form."""
    rates = [kernel.rate for kernel in kernels if isinstance(kernel, FittedScalarKernel)]
    known = [rate for rate in rates if rate is not None]
    return known if base == "squared_distance" and len(known) == len(kernels) else []


@attrs.define(eq=False)
class Scratch:
    """Memory that each block of samples reuses: new memory costs more than exponentials.

    If it ``overwrites``, each kernel's values replace those of the previous one.
    """

    overwrites: bool = False
    _arrays: list[Array] = attrs.field(factory=list, init=False)
    _taken: int = attrs.field(default=0, init=False)

    def take(self, shape: tuple[int, int], dtype: Any, base: bool = False) -> Array:
        """Return an uninitialised array (n, m), reserved for the caller until :meth:`reset`.

        ``base`` marks an array for a base quantity, from which the next values are computed.
        """
        size = shape[0] * shape[1]
        place = (0 if base else 1) if self.overwrites else self._taken
        self._taken += 1
        if place == len(self._arrays):
            self._arrays.append(np.empty(size, dtype))
        if self._arrays[place].size < size or self._arrays[place].dtype != dtype:
            self._arrays[place] = np.empty(size, dtype)
        return self._arrays[place][:size].reshape(shape)

    def reset(self) -> None:
        """Release all arrays."""
        self._taken = 0


@attrs.define(eq=False)
class SpareScratch:
    """Memory that several threads use in turn; a copy in another process has none."""

    overwrites: bool = False
    _spare: list[Scratch] = attrs.field(factory=list, init=False)

    @contextmanager
    def lent(self) -> Iterator[Scratch]:
        """Return a context with exclusive memory."""
        try:
            scratch = self._spare.pop()
        except IndexError:
            scratch = Scratch(self.overwrites)
        yield scratch
        self._spare.append(scratch)

    def __reduce__(self) -> tuple[type[SpareScratch], tuple[bool]]:
        return SpareScratch, (self.overwrites,)
