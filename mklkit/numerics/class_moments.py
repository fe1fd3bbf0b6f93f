"""Counts, sums and products of feature vectors per class, which add up over blocks of samples."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Self

import attrs
import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled
from mklkit.numerics.gram_tiles import mirror_tile
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.numerics.pairwise import row_blocks

Array = NDArray[np.floating[Any]]

CHUNK_ROWS, CHUNK_BYTES = 2048, 3 << 24


def chunk_rows(width: int, max_memory: int | None = None) -> int:
    """Return the number of samples (·, P) per product, a multiple of 2,048."""
    most = CHUNK_BYTES if max_memory is None else min(CHUNK_BYTES, max_memory // 16)
    return CHUNK_ROWS * min(max(most // (8 * CHUNK_ROWS * max(width, 1)), 1), 8)


@attrs.frozen(eq=False)
class ClassMoments:
    """Counts n_c (C,), sums Σ(φ − o) (C, P) and products Σ(φ − o)(φ − o)ᵀ (C, P, P), in float64.

    The origin o (P,) is a point among the features, so that products keep the digits of a spread
    that is small compared with the mean. With sample weights all of these are weighted, and a
    count is a sum of weights. O(NP²) for N samples in all.

    >>> features = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 5.0]])
    >>> moments = ClassMoments.of(features, np.array([0, 0, 1]), 2, np.zeros(2))
    >>> moments.means.tolist(), moments.covariance(0).tolist()
    ([[2.0, 1.0], [5.0, 5.0]], [[1.0, 1.0], [1.0, 1.0]])
    """

    origin: Array
    counts: Array
    sums: Array
    products: Array

    @classmethod
    def of(
        cls,
        features: Array,
        codes: NDArray[np.intp],
        n_classes: int,
        origin: Array,
        row_weights: Array | None = None,
    ) -> Self:
        """Return the moments of features (N, P) with class numbers (N,)."""
        sums = MomentSums(codes, n_classes, origin, row_weights, chunk_rows(len(origin)))
        for place in row_blocks(len(features), CHUNK_ROWS):
            sums.add(place, [features[place]])
        return cls(origin, *sums.finished)

    def mapped(self, functions: Sequence[tuple[int, Callable[[Array], Array] | None]]) -> Self:
        """Return the moments of features that are linear in these, group by group of columns.

        For each group, its number of columns and a function that returns WᵀS for sums S (n, ·) over
        them, or None if they stay unchanged.
        """
        ends = np.cumsum([count for count, _ in functions]).tolist()

        def on_rows(sums: Array) -> Array:
            parts = np.split(sums, ends[:-1])
            maps = [function for _, function in functions]
            pairs = zip(parts, maps, strict=True)
            return np.concatenate([part if fold is None else fold(part) for part, fold in pairs])

        products = np.array([on_rows(on_rows(product).T) for product in self.products])
        return type(self)(on_rows(self.origin), self.counts, on_rows(self.sums.T).T, products)

    @property
    def sums_only(self) -> list[Array]:
        """The arrays that add up over blocks of samples about the same origin."""
        return [self.counts, self.sums, self.products]

    @property
    def total(self) -> float:
        """The number of samples N, or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def means(self) -> Array:
        """The mean of each class, (C, P); zero for a class without samples."""
        return self.origin * (self.counts > 0)[:, None] + self._offsets

    @property
    def _offsets(self) -> Array:
        counts = self.counts[:, None]
        return np.divide(self.sums, counts, where=counts > 0, out=np.zeros_like(self.sums))

    def covariance(self, code: int) -> Array:
        """Return a class's covariance (P, P), divided by its count."""
        offset = self._offsets[code]
        return self.products[code] / (self.counts[code] or 1) - np.outer(offset, offset)

    def part(self, columns: slice | NDArray[np.intp]) -> ClassMoments:
        """Return the moments of a subset of the features."""
        sums, products = self.sums[:, columns], self.products[:, columns][:, :, columns]
        return ClassMoments(self.origin[columns], self.counts, sums, products)

    def scaled(self, factors: Array) -> ClassMoments:
        """Return the moments of each feature times its factor (P,)."""
        sums, products = self.sums * factors, self.products * np.outer(factors, factors)
        return ClassMoments(self.origin * factors, self.counts, sums, products)

    def stretched(self, factors: Array) -> ClassMoments:
        """Return the moments of each class times its factor (C,), about the same origin."""
        counts, factors = self.counts[:, None], factors[:, None]
        shift, sums = (factors - 1) * self.origin, factors * self.sums
        products = np.square(factors)[:, :, None] * self.products
        for product, total, moved, count in zip(products, sums, shift, counts, strict=True):
            crossed = np.outer(total + count / 2 * moved, moved)
            np.add(product, crossed + crossed.T, out=product)
        return ClassMoments(self.origin, self.counts, sums + counts * shift, products)

    def about(self, origin: Array) -> ClassMoments:
        """Return the same moments about another origin (P,), not far from the features."""
        shift = self.origin - origin
        moved = self.sums[:, :, None] * shift
        square = self.counts[:, None, None] * np.outer(shift, shift)
        products = self.products + moved + moved.transpose(0, 2, 1) + square
        return ClassMoments(origin, self.counts, self.sums + np.outer(self.counts, shift), products)

    def plus(self, moments: ClassMoments) -> ClassMoments:
        """Return the moments of these samples and others."""
        near = moments.about(self.origin)
        pairs = zip(self.sums_only, near.sums_only, strict=True)
        return ClassMoments(self.origin, *(part + more for part, more in pairs))

    def classes(self, members: NDArray[np.intp]) -> ClassMoments:
        """Return the moments of some of the classes."""
        return ClassMoments(self.origin, *(part[members] for part in self.sums_only))

    def merged(self, codes: NDArray[np.intp], n_classes: int) -> ClassMoments:
        """Return the moments of fewer classes, given the new number (C,) of each."""
        sums = [np.zeros((n_classes, *part.shape[1:])) for part in self.sums_only]
        for total, part in zip(sums, self.sums_only, strict=True):
            np.add.at(total, codes, part)
        return ClassMoments(self.origin, *sums)

    def together(self) -> ClassMoments:
        """Return the moments of all classes as one."""
        if len(self.counts) == 1:
            return self
        return ClassMoments(self.origin, *(part.sum(axis=0)[None] for part in self.sums_only))

    def normal_matrix(self) -> NormalMatrix:
        """Return ΦᵀΦ about zero and the column sums Φᵀ1, of all classes together."""
        whole = self.together()
        of_origin = whole.counts[0] * self.origin
        shift = np.outer(whole.sums[0] + of_origin / 2, self.origin)
        products = whole.products[0] + shift
        products += shift.T
        return NormalMatrix(products, whole.sums[0] + of_origin, self.total)


class MomentSums:
    """Sums of class moments over samples with class numbers (N,) that arrive in blocks, in order.

    A chunk of ``n_rows`` samples is copied to float64, class by class, for one product of each
    class: in float32 the rounding of large eigenvalues would be the size of a small ridge. Measured
    on the similarities of three Gaussian kernels to 256 landmarks: mapped float32 sums raise the
    objective of a ridge regression by 1e-4 of itself, and for wider kernels have negative
    eigenvalues.
    """

    def __init__(
        self,
        codes: NDArray[np.intp],
        n_classes: int,
        origin: Array,
        row_weights: Array | None,
        n_rows: int,
    ) -> None:
        self._codes = codes
        self._origin = origin
        self._roots = np.ones(len(codes)) if row_weights is None else np.sqrt(row_weights)
        width = len(origin)
        self._counts = np.bincount(codes, row_weights, minlength=n_classes).astype(np.float64)
        self._sums = np.zeros((n_classes, width))
        self._products = np.zeros((n_classes, width, width))
        self._chunk = np.empty((min(n_rows, len(codes)), width))
        self._rows = np.empty(0, np.intp)
        self._start = self._stop = 0

    def add(self, place: slice, arrays: Iterable[Array]) -> None:
        """Add the samples at a place, whose features (n, ·) are in some arrays side by side."""
        if place.start == self._stop:
            self._start = place.start
            self._stop = place.start + len(self._chunk)
            order = np.argsort(self._codes[self._start : self._stop], kind="stable")
            self._rows = np.empty_like(order)
            self._rows[order] = np.arange(len(order))
        rows = self._rows[place.start - self._start : place.stop - self._start]
        column = 0
        for values in arrays:
            columns = slice(column, column + values.shape[1])
            _copy_about(
                np.require(values, requirements=["C", "W"]),
                self._origin[columns],
                self._roots[place],
                self._codes[place],
                rows,
                self._chunk[:, columns],
                self._sums[:, columns],
            )
            column = columns.stop
        if place.stop in (self._stop, len(self._codes)):
            counts = np.bincount(self._codes[self._start : place.stop])
            for code, of_class in enumerate(np.split(self._chunk[: counts.sum()], counts.cumsum())):
                if len(of_class):
                    _add_products(self._products[code], of_class)

    @property
    def finished(self) -> list[Array]:
        """Counts, sums and products, which add up over blocks of samples about the same origin."""
        for product in self._products:
            mirror_tile(product, 0, len(product), 0, len(product))
        return [self._counts, self._sums, self._products]


@compiled()
def _copy_about(
    values: Array,
    origin: Array,
    roots: Array,
    codes: NDArray[np.intp],
    places: NDArray[np.intp],
    out: Array,
    sums: Array,
) -> None:  # pragma: no cover - compiled
    """Copy samples (n, p) minus an origin, times roots of weights, to their places; sum classes."""
    for i in range(values.shape[0]):
        root, row, total = roots[i], out[places[i]], sums[codes[i]]
        for j in range(values.shape[1]):
            value = values[i, j] - origin[j]
            total[j] += root * root * value
            row[j] = root * value


@cache
def _dsyrk() -> Callable[..., None]:
    """Return BLAS's function of pointers: SciPy's own wrapper keeps the interpreter's lock."""
    address = get_cython_function_address("scipy.linalg.cython_blas", "dsyrk")
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(address)


def _add_products(total: Array, features: Array) -> None:
    """Add ΦᵀΦ to a total (p, p) on and above the diagonal, for Φ (n, p): float64 in C order."""
    width, n_rows = (ctypes.byref(ctypes.c_int(size)) for size in features.shape[::-1])
    unit = ctypes.byref(ctypes.c_double(1.0))
    out = total.ctypes.data
    # BLAS reads columns: its lower triangle is the upper one of samples.
    _dsyrk()(b"L", b"N", width, n_rows, unit, features.ctypes.data, width, unit, out, width)
