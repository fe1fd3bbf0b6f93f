"""Compiled base quantities of kernels on two sets of samples: products, distances, exponentials.

Kernels that are scalar functions of one base quantity share it (see ``views.kernel_rows``). On
processors without wide registers, NumPy's exponential of a float64 takes several times as long,
and it dominates Gram matrices of Gaussian kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mklkit.numerics.compiling import compiled
from mklkit.numerics.sparse_rows import in_rows, sparse_products, sparse_squared_distances

Array = NDArray[np.floating[Any]]

TILE_ROWS, TILE_COLUMNS = 256, 1024
"""The shape of a tile: 2 MiB in float64, which fits a core's cache; wide for reading by samples."""

# exp(x) = 2^k exp(r) with k = x/ln 2 rounded and |r| at most ln 2/2 (Cody and Waite): ln 2 is
# subtracted in two parts, the first of them with few digits. exp(r) = 1 + r + r²q(r), where q
# interpolates at Chebyshev nodes. Adding SHIFT rounds to a whole number, and leaves it, with the
# exponent's bias added, in the lowest bits of the sum.
PER_LN2 = 1.4426950408889634
HIGH_LN2 = 0.693147180369123816490
LOW_LN2 = 1.90821492927058770002e-10
SHIFT = 1.5 * 2.0**52 + 1023
LOWEST, HIGHEST = -746.0, 710.0

HIGH_LN2_SINGLE = np.float32(0.693359375)
LOW_LN2_SINGLE = np.float32(-2.12194440e-4)
SHIFT_SINGLE = np.float32(1.5 * 2.0**23 + 127)
LOWEST_SINGLE, HIGHEST_SINGLE = np.float32(-104.0), np.float32(89.0)

CHUNK = 1 << 17
"""Values to be overwritten are copied in chunks: LLVM does not vectorise an in-place loop."""


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield the slices that cut ``n_rows`` samples into blocks."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def upper_blocks(n_rows: int) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the tiles on and above the diagonal of an N × N matrix.

    Squares on the diagonal, and to the right of each, panels of up to four times its width.

    Examples
    --------
    >>> [(block.stop, columns.start, columns.stop) for block, columns in upper_blocks(600)]
    [(256, 0, 256), (256, 256, 600), (512, 256, 512), (512, 512, 600), (600, 512, 600)]
    """
    for block in row_blocks(n_rows, TILE_ROWS):
        yield block, block
        for part in row_blocks(n_rows - block.stop, TILE_COLUMNS):
            yield block, slice(block.stop + part.start, block.stop + part.stop)


def inner_products(a: Any, b: Any, out: Array | None = None) -> Array:
    """Return ``a @ b.T``: (n, m) for samples (n, d) and (m, d), in O(nmd), in ``out`` if given.

    Of sparse samples, in less. In all functions here, either of the two may be sparse, in samples.

    Products beyond the range of floats are infinite, with the right sign: samples whose sums may
    overflow in between, where the result would depend on the order, are scaled first.

    >>> inner_products(np.array([[1e200, 3e200]]), np.array([[2e200, -1e200]]))
    array([[-inf]])
    """
    if issparse(a) or issparse(b):
        _check_widths(a, b)
        return _in(out, sparse_products(in_rows(a), in_rows(b)))
    sizes = [float(max(rows.max(initial=0), -rows.min(initial=0))) for rows in (a, b)]
    if not sizes[0] * sizes[1] * a.shape[1] > np.finfo(np.result_type(a, b)).max:
        return np.matmul(a, b.T, out=out)
    lengths = [np.abs(rows).max(axis=1) for rows in (a, b)]
    near_a, near_b = (
        rows / np.where(length > 0, length, 1)[:, None]
        for rows, length in zip((a, b), lengths, strict=True)
    )
    products: Array = np.matmul(near_a, near_b.T, out=out)
    with np.errstate(over="ignore"):
        products *= lengths[0][:, None]
        products *= lengths[1]
    return products


def squared_distances(a: Any, b: Any, out: Array | None = None) -> Array:
    """Return the squared Euclidean distances of samples: (n, m) for (n, d) and (m, d), in O(nmd).

    One matrix product (‖a‖² + ‖b‖² − 2aᵀb) on rows shifted to the mean of ``b``, which keeps the
    digits of columns far from zero, such as time stamps. Distances that overflow in between, or
    are so much smaller than the samples that half of their digits are lost, are summed from
    differences: equal samples have distance zero at any scale. A distance beyond floats is
    infinite.
    """
    _check_widths(a, b)
    if issparse(a) or issparse(b):
        return _in(out, sparse_squared_distances(a, b))
    if out is None:
        out = np.empty((len(a), len(b)), dtype=np.result_type(a, b, np.float32))
    if len(b):
        _squared_distances(*compilable(out.dtype, a, b), out)
    return out


def distance_exponentials(a: Any, b: Any, factors: Sequence[float], out: Array) -> Array:
    """Return exp(c‖a − b‖²) for some factors c: (M, n, m), in ``out``.

    Distances are computed once, a few samples at a time, and stay in the core's cache: this takes
    half the time of one factor after another, and other threads do not wait for the interpreter.
    """
    _check_widths(a, b)
    if issparse(a) or issparse(b):
        distances = squared_distances(a, b, np.empty(out.shape[1:], out.dtype))
        for factor, values in zip(factors, out, strict=True):
            scaled_exp(distances, factor, values)
    elif len(b):
        a, b, scales = compilable(out.dtype, a, b, np.array(factors))
        _distance_exponentials(a, b, scales, out)
    return out


def _in(out: Array | None, values: Array) -> Array:
    """Return values, in ``out`` if there is one."""
    if out is None:
        return values
    out[...] = values
    return out


def _check_widths(a: Any, b: Any) -> None:
    """Compiled code follows its indices unchecked, and rows may come from an altered model file."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(f"samples of the shapes {a.shape} and {b.shape} have no distances")


def compilable(dtype: Any, *arrays: Array) -> list[Array]:
    """Return arrays for compiled code: of one type, contiguous, and writable for the compiler.

    Components share their samples read-only, for which the code would be compiled again. It only
    reads them, so a writable view is enough, where NumPy allows one.
    """
    return [
        _writable(
            array
            if array.dtype == dtype and array.flags.c_contiguous
            else np.array(array, dtype, order="C")
        )
        for array in arrays
    ]


def _writable(array: Array) -> Array:
    if array.flags.writeable:
        return array
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:  # The memory is not NumPy's, such as that of a file.
        return array.copy()
    return view


MOST_SHARED = 2000
"""The most samples whose distances are kept for several parts of them, such as pairs of classes."""

STRIP_ROWS = 16
STRIP_BYTES = 1 << 17
"""The bytes of distances per block: they and their exponentials stay in a core's cache."""


@compiled()
def _about_mean(rows: Array) -> tuple[Array, Array, Array]:  # pragma: no cover - compiled
    """Return the mean (d,), −2 times the centred samples (m, d), and their squared lengths (m,)."""
    count, width = rows.shape
    center, lengths = np.zeros(width, rows.dtype), np.zeros(count, rows.dtype)
    near = np.empty((count, width), rows.dtype)
    for j in range(width):
        total = 0.0
        for i in range(count):
            total += rows[i, j]
        center[j] = total / count
    for i in range(count):
        for j in range(width):
            gap = rows[i, j] - center[j]
            lengths[i] += gap * gap
            near[i, j] = -2.0 * gap
    return center, near, lengths


@compiled()
def _strip(
    a: Array, b: Array, center: Array, near_b: Array, lengths_b: Array, near_a: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Set the squared distances (n, m) of a few samples, with space (n, d) to centre them."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            near_a[i, j] = a[i, j] - center[j]
    np.dot(near_a, near_b.T, out)
    share = np.sqrt(np.finfo(out.dtype).eps)
    for i in range(a.shape[0]):
        length = near_a.dtype.type(0.0)
        for j in range(a.shape[1]):
            length += near_a[i, j] * near_a[i, j]
        low = out.dtype.type(length * share)
        ordinary = 0
        for j in range(b.shape[0]):
            distance = (out[i, j] + length) + lengths_b[j]
            out[i, j] = distance
            ordinary += (distance > low) & (distance < np.inf)
        if ordinary == b.shape[0]:
            continue
        for j in range(b.shape[0]):
            if not low < out[i, j] < np.inf:
                total = 0.0
                for k in range(a.shape[1]):
                    total += (a[i, k] - b[j, k]) ** 2
                out[i, j] = total


@compiled()
def _squared_distances(a: Array, b: Array, out: Array) -> None:  # pragma: no cover - compiled
    center, near, lengths = _about_mean(b)
    size = max(16, STRIP_BYTES // (b.shape[0] * out.itemsize))
    room = np.empty((size, a.shape[1]), a.dtype)
    for start in range(0, a.shape[0], size):
        rows = a[start : start + size]
        strip = out[start : start + size]
        _strip(rows, b, center, near, lengths, room[: rows.shape[0]], strip)


@compiled()
def _distance_exponentials(
    a: Array, b: Array, factors: Array, out: Array
) -> None:  # pragma: no cover - compiled
    center, near, lengths = _about_mean(b)
    size = max(16, STRIP_BYTES // (b.shape[0] * out.itemsize))
    room = np.empty((size, a.shape[1]), a.dtype)
    distances = np.empty((size, b.shape[0]), a.dtype)
    for start in range(0, a.shape[0], size):
        rows = a[start : start + size]
        strip = distances[: rows.shape[0]]
        _strip(rows, b, center, near, lengths, room[: rows.shape[0]], strip)
        for k in range(factors.size):
            values = out[k, start : start + size].reshape(-1)
            if out.itemsize == 4:
                _single(strip.reshape(-1), factors[k], values)
            else:
                _double(strip.reshape(-1), factors[k], values)


@attrs.frozen(eq=False)
class ExponentialSum:
    """Σ_k w_k exp(c_k‖x − z‖²) of samples x and others z (m, d), dense, which are prepared once.

    ``factors`` are the c_k, none above 0, and ``weights`` the w_k. Distances and exponentials stay
    in the core's cache: this takes half the time of one factor after another.

    >>> rows = np.array([[0.0], [1.0]])
    >>> ones = ExponentialSum.of(rows, [-1.0, -2.0], [0.5, 0.5])
    >>> ones(rows, slice(0, 1), np.empty((2, 1))).round(3).tolist()
    [[1.0], [0.252]]
    """

    others: Array
    factors: Array
    weights: Array
    about_mean: tuple[Array, Array, Array]

    @classmethod
    def of(cls, others: Array, factors: Sequence[float], weights: Sequence[float] | Array) -> Self:
        """Return the sum for some samples z (m, d)."""
        (rows,) = compilable(np.result_type(others, np.float32), others)
        return cls(rows, np.array(factors), np.array(weights), _about_mean(rows))

    def __call__(self, rows: Array, columns: slice, out: Array) -> Array:
        """Return the values (n, ·) of samples (n, d) and some of the others, in ``out``.

        Distances have the type of the others. Exponentials have that of ``out``: single precision
        takes half the time, and is correct to some units in the last place of Σ_k |w_k|.
        """
        others = self.others[columns]
        _check_widths(rows, others)
        (rows,) = compilable(others.dtype, rows)
        center, near, lengths = self.about_mean
        about = center, near[columns], lengths[columns]
        if out.size:
            _exponential_sums(rows, others, *about, self.factors, self.weights, out)
        return out


@compiled()
def _exponential_sums(
    a: Array,
    b: Array,
    center: Array,
    near: Array,
    lengths: Array,
    factors: NDArray[np.float64],
    weights: NDArray[np.float64],
    out: Array,
) -> None:  # pragma: no cover - compiled
    width, size = min(TILE_COLUMNS, b.shape[0]), min(STRIP_ROWS, a.shape[0])
    room, distances = np.empty((size, a.shape[1]), a.dtype), np.empty(size * width, a.dtype)
    exponents, values = np.empty(width, out.dtype), np.empty(width, out.dtype)
    total = np.empty(width, out.dtype)
    # A distance or a factor may be beyond single precision, where their product is not.
    largest, most = np.abs(factors).max(), np.finfo(out.dtype).max
    for start in range(0, a.shape[0], size):
        rows = a[start : start + size]
        for left in range(0, b.shape[0], width):
            ends = slice(left, min(left + width, b.shape[0]))
            count = ends.stop - left
            strip = distances[: rows.shape[0] * count].reshape(rows.shape[0], count)
            parts = near[ends], lengths[ends], room[: rows.shape[0]]
            _strip(rows, b[ends], center, *parts, strip)
            for i in range(rows.shape[0]):
                total[:] = 0
                for j in range(count):
                    exponents[j] = min(strip[i, j] * largest, most)
                for k in range(factors.size):
                    share = out.dtype.type(factors[k] / largest)
                    if out.itemsize == 4:
                        _single(exponents[:count], share, values[:count])
                    else:
                        _double(exponents[:count], share, values[:count])
                    weight = out.dtype.type(weights[k])
                    for j in range(count):
                        total[j] += weight * values[j]
                out[start + i, ends] = total[:count]


@compiled()
def _manhattan(a: Array, b: Array, out: Array) -> None:  # pragma: no cover - compiled
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                total += abs(a[i, k] - b[j, k])
            out[i, j] = total


def manhattan_distances(a: Any, b: Any, out: Array | None = None) -> Array:
    """Return sums of absolute differences of samples: (n, m) for (n, d) and (m, d), in O(nmd)."""
    a, b = (rows.toarray() if issparse(rows) else rows for rows in (a, b))
    if out is None:
        out = np.empty((len(a), len(b)), dtype=np.result_type(a, b))
    _check_widths(a, b)
    _manhattan(*compilable(out.dtype, a, b), out)
    return out


BASES: dict[str, Callable[..., Array]] = {
    "inner_product": inner_products,
    "squared_distance": squared_distances,
    "manhattan_distance": manhattan_distances,
}


def inverse_lengths(squares: Array) -> Array:
    """Return 1/√k(x, x) for each k(x, x), and 0 where it is 0."""
    # Subnormal numbers have lost digits, and cosines computed from them could exceed one.
    large = squares >= np.finfo(squares.dtype).tiny
    roots = np.sqrt(squares, where=large, out=np.ones_like(squares))
    return np.divide(1.0, roots, where=large, out=np.zeros_like(squares))


def scaled_exp(values: Array, factor: float, out: Array) -> Array:
    """Return exp(factor · values) in ``out``, correct to about one unit in the last place.

    float32 stays float32; ``out`` may be ``values``. Results that are too small become zero, too
    large ones infinite, without a warning; NaN stays NaN.
    """
    if not (values.flags.c_contiguous and out.flags.c_contiguous):
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.multiply(values, factor, out=out), out=out)
    inner = _single if values.dtype == np.float32 else _double
    flat, results, scale = values.reshape(-1), out.reshape(-1), values.dtype.type(factor)
    if not np.may_share_memory(flat, results):
        inner(flat, scale, results)
        return out
    chunk = np.empty(min(CHUNK, flat.size), values.dtype)
    for start in range(0, flat.size, CHUNK):
        part = results[start : start + CHUNK]
        copied = chunk[: part.size]
        copied[:] = part
        inner(copied, scale, part)
    return out


@compiled(inexact=["contract"])
def _double(
    values: NDArray[np.float64], factor: np.float64, out: NDArray[np.float64]
) -> None:  # pragma: no cover - compiled
    for i in range(values.size):
        x = values[i] * factor
        x = LOWEST if x < LOWEST else x
        x = HIGHEST if x > HIGHEST else x
        k = (x * PER_LN2 + SHIFT) - SHIFT
        r = (x - k * HIGH_LN2) - k * LOW_LN2
        # Estrin's scheme: pairs of coefficients do not wait for each other.
        square = r * r
        fourth = square * square
        low = (0.5 + 1.6666666666666669e-01 * r) + square * (
            4.1666666666624164e-02 + 8.333333333330065e-03 * r
        )
        middle = (1.3888888917196719e-03 + 1.9841269863040545e-04 * r) + square * (
            2.4801521322368692e-05 + 2.7557268480310024e-06 * r
        )
        high = 2.7620075879983367e-07 + 2.5100375832561234e-08 * r
        q = low + fourth * (middle + fourth * high)
        # Two powers of two, since a single one may be too small or too large.
        first = k * 0.5 + SHIFT
        second = (k - (first - SHIFT)) + SHIFT
        power = np.int64(np.float64(first).view(np.int64) << 52).view(np.float64)
        second_power = np.int64(np.float64(second).view(np.int64) << 52).view(np.float64)
        out[i] = ((square * q + r) + 1.0) * power * second_power


@compiled(inexact=["contract"])
def _single(
    values: NDArray[np.float32], factor: np.float32, out: NDArray[np.float32]
) -> None:  # pragma: no cover - compiled
    unit, half = np.float32(1), np.float32(0.5)
    for i in range(values.size):
        x = values[i] * factor
        x = LOWEST_SINGLE if x < LOWEST_SINGLE else x
        x = HIGHEST_SINGLE if x > HIGHEST_SINGLE else x
        k = (x * np.float32(PER_LN2) + SHIFT_SINGLE) - SHIFT_SINGLE
        r = (x - k * HIGH_LN2_SINGLE) - k * LOW_LN2_SINGLE
        q = np.float32(1.3926176120297405e-03)
        q = q * r + np.float32(8.363173074513711e-03)
        q = q * r + np.float32(4.16665546620451e-02)
        q = q * r + np.float32(1.666657702559799e-01)
        q = q * r + half
        first = k * half + SHIFT_SINGLE
        second = (k - (first - SHIFT_SINGLE)) + SHIFT_SINGLE
        power = np.int32(np.float32(first).view(np.int32) << 23).view(np.float32)
        second_power = np.int32(np.float32(second).view(np.int32) << 23).view(np.float32)
        out[i] = ((r * r) * q + r + unit) * power * second_power
