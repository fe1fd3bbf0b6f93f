"""The exponential of many values at once, compiled.

Where the processor has no wide registers, NumPy's exponential of a float64 takes several times as
long, and Gram matrices of Gaussian kernels consist of little else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

__all__ = ["scaled_exp"]

Array = NDArray[np.floating[Any]]

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
"""Values are copied in chunks where they are overwritten: LLVM does not vectorise such a loop."""


def scaled_exp(values: Array, factor: float, out: Array) -> Array:
    """Return exp(factor · values) in ``out``, correct to about one unit in the last place.

    Parameters
    ----------
    values : ndarray
        float64, or float32, which is computed in float32.
    factor : float
    out : ndarray
        As ``values``, which it may be.

    Notes
    -----
    What is too small is zero, what is too large infinite, without a warning; NaN stays NaN.

    Examples
    --------
    >>> import numpy as np
    >>> distances = np.array([0.0, 2.0, np.inf])
    >>> scaled_exp(distances, -0.5, out=distances).round(4)
    array([1.    , 0.3679, 0.    ])
    """
    if not (values.flags.c_contiguous and out.flags.c_contiguous):
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.multiply(values, factor, out=out), out=out)
    inner = _single if values.dtype == np.float32 else _double
    flat, results, scale = values.reshape(-1), out.reshape(-1), values.dtype.type(factor)
    if flat.ctypes.data != results.ctypes.data:
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
        # Two powers of two, as one of them alone may be too small or too large.
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
