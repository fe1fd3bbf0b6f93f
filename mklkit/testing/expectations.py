"""Failures of checks, with the expected and the actual result, the place and a remedy."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from typing import Any
from unittest import SkipTest

import attrs
import numpy as np

from mklkit.protocols import Array
from mklkit.protocols.component import parameter_names

__all__ = [
    "CheckFailure",
    "NotApplicable",
    "expect",
    "expect_array",
    "expect_close",
    "expect_untouched",
    "place_of",
    "same",
    "state_of",
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
    value: Any, shape: tuple[int, ...], label: str, advice: str = "Return one of that shape."
) -> None:
    """Expect a NumPy array of finite floats of a given shape."""
    expected = f"{label} as a float array of shape {shape}"
    expect(isinstance(value, np.ndarray), expected, f"a {type(value).__name__}", advice)
    expect(value.shape == shape, expected, f"shape {value.shape}", advice)
    floats = np.issubdtype(value.dtype, np.floating)
    expect(floats, expected, f"dtype {value.dtype}", "Return float64, or the dtype of the rows.")
    n_bad = int((~np.isfinite(value)).sum())
    expect(
        n_bad == 0,
        f"{label} to be finite",
        f"{n_bad} of {value.size} values that are NaN or infinite",
        "Guard divisions and logarithms, or raise an MKLKitError that explains the problem.",
    )


def expect_close(
    values: Any, usual: Any, expected: str, advice: str, tolerance: float = 1e-9
) -> None:
    """Expect two arrays to agree, to a tolerance relative to the largest of the values."""
    values, usual = np.asarray(values), np.asarray(usual)
    shapes = f"shapes {values.shape} and {usual.shape}"
    expect(values.shape == usual.shape, expected, shapes, advice)
    scale = max(float(np.abs(usual).max(initial=0)), 1e-12)
    gap = float(np.abs(values - usual).max(initial=0)) / scale
    expect(gap <= tolerance, expected, f"a difference of {gap:.2g} of the largest value", advice)


def expect_untouched(
    arrays: Mapping[str, Array], use: Callable[[], object], component: Any
) -> None:
    """Expect that nothing is written into some arrays; otherwise report the place.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        By the name that messages use.
    use : callable
        Lets the component work on these arrays themselves.
    component : component or component class
    """
    before = {name: array.copy() for name, array in arrays.items()}
    use()
    touched = [name for name, array in arrays.items() if not np.array_equal(array, before[name])]
    if not touched:
        return
    for name in touched:
        arrays[name][...] = before[name]
        arrays[name].flags.writeable = False
    where = ""
    try:
        use()
    except ValueError as error:  # NumPy's, at the line that writes.
        where = f", written at {place_of(error, component)}"
    raise CheckFailure(
        f"Expected {', '.join(arrays)} to be unchanged; got other values in"
        f" {' and '.join(touched)}{where}. The arrays are shared: work on copies."
    )


def place_of(error: BaseException, component: Any) -> str:
    """Return the file and line, in the component's own package, that an error comes from.

    If mklkit refused what the component returned, the place is the component's class.
    """
    cls: Any = component if isinstance(component, type) else type(component)
    package = cls.__module__.partition(".")[0]
    lines = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
    ]
    if lines:
        return lines[-1]
    try:
        return f"{inspect.getsourcefile(cls)}, line {inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):  # The class was made by a function, or typed at a prompt.
        return str(getattr(inspect.getmodule(cls), "__file__", None) or cls.__module__)


def same(value: Any, usual: Any) -> bool:
    """Return whether two parameter values, or states, are the same; arrays by their elements."""
    if isinstance(value, np.ndarray) or isinstance(usual, np.ndarray):
        return np.array_equal(np.asarray(value), np.asarray(usual))
    if isinstance(value, dict) and isinstance(usual, dict):
        return value.keys() == usual.keys() and all(same(value[k], usual[k]) for k in value)
    if isinstance(value, (list, tuple)) and isinstance(usual, (list, tuple)):
        pairs = zip(value, usual, strict=False)
        return len(value) == len(usual) and all(same(left, right) for left, right in pairs)
    if attrs.has(type(value)) and type(value) is type(usual):
        return same(attrs.asdict(value, recurse=False), attrs.asdict(usual, recurse=False))
    return value is usual or bool(value == usual)


def state_of(component: Any) -> dict[str, Any]:
    """Return a component's state: its parameters and any other attributes."""
    held = dict(getattr(component, "__dict__", {}))
    try:
        names = parameter_names(component)
    except (TypeError, ValueError):  # not an attrs class
        return held
    return held | {name: getattr(component, name) for name in names}
