"""Failures of checks, with the expected and the actual result and a remedy."""

from __future__ import annotations

from typing import Any
from unittest import SkipTest

import attrs
import numpy as np

__all__ = [
    "CheckFailure",
    "NotApplicable",
    "expect",
    "expect_array",
    "expect_close",
    "same",
]


class CheckFailure(AssertionError):
    """A component does not do what mklkit relies on."""


class NotApplicable(SkipTest):
    """A check does not apply to this component; pytest and unittest report it as skipped."""


def expect(holds: bool, expected: str, came: object, advice: str) -> None:
    """Raise a :class:`CheckFailure` unless a condition holds."""
    if not holds:
        raise CheckFailure(f"Expected {expected}; got {came}. {advice}")


def expect_array(
    value: Any, shape: tuple[int, ...], what: str, advice: str = "Return one of that shape."
) -> None:
    """Expect a NumPy array of finite floats of a given shape."""
    called = f"{what} as a float array of shape {shape}"
    expect(isinstance(value, np.ndarray), called, f"a {type(value).__name__}", advice)
    expect(value.shape == shape, called, f"shape {value.shape}", advice)
    floats = np.issubdtype(value.dtype, np.floating)
    expect(floats, called, f"dtype {value.dtype}", "Return float64, or the dtype of the rows.")
    n_bad = int((~np.isfinite(value)).sum())
    expect(
        n_bad == 0,
        f"{what} to be finite",
        f"{n_bad} of {value.size} values that are NaN or infinite",
        "Guard divisions and logarithms, or raise an MKLKitError that explains the problem.",
    )


def expect_close(values: Any, others: Any, what: str, advice: str, tolerance: float = 1e-9) -> None:
    """Expect two arrays to agree, to a tolerance relative to the largest of the values."""
    values, others = np.asarray(values), np.asarray(others)
    expect(values.shape == others.shape, what, f"shapes {values.shape} and {others.shape}", advice)
    scale = max(float(np.abs(others).max(initial=0)), 1e-12)
    gap = float(np.abs(values - others).max(initial=0)) / scale
    expect(gap <= tolerance, what, f"a difference of {gap:.2g} of the largest value", advice)


def same(value: Any, other: Any) -> bool:
    """Return whether two parameter values, or states, are the same; arrays by their elements."""
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(value), np.asarray(other))
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[k], other[k]) for k in value)
    if isinstance(value, (list, tuple)) and isinstance(other, (list, tuple)):
        pairs = zip(value, other, strict=False)
        return len(value) == len(other) and all(same(v, o) for v, o in pairs)
    if attrs.has(type(value)) and type(value) is type(other):
        return same(attrs.asdict(value, recurse=False), attrs.asdict(other, recurse=False))
    return value is other or bool(value == other)
