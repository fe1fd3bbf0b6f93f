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


class CheckFailure(AssertionError):
    """A failed check: a component violates a requirement of mklkit.

    See Also
    --------
    check_component : The function that raises it.

    Examples
    --------
    >>> from mklkit.plugin import weighting_rule
    >>> from mklkit_authors.testing import check_component
    >>> @weighting_rule("negative")
    ... def negative(view, y):
    ...     '''Weight each kernel by minus one.'''
    ...     return -1.0
    >>> try:
    ...     check_component(negative)
    ... except CheckFailure as failure:
    ...     print("checks failed" in str(failure))
    True
    """


class NotApplicable(SkipTest):
    """A check that does not concern a component; pytest and unittest report it as skipped.

    See Also
    --------
    Check : A check, which raises it.

    Examples
    --------
    >>> from unittest import SkipTest
    >>> issubclass(NotApplicable, SkipTest)
    True
    """


def expect(holds: Any, expected: str, came: object, advice: str) -> None:
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
    expect(floats, expected, f"dtype {value.dtype}", "Return float64, or the dtype of the samples.")
    n_bad = int((~np.isfinite(value)).sum())
    advice = "Guard divisions and logarithms, or raise an MKLKitError that explains the problem."
    expect(n_bad == 0, f"{label} to be finite", f"{n_bad} values that are NaN or infinite", advice)


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
    """Expect that a use of some arrays, by name, writes nothing into them."""
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

    If mklkit rejected what the component returned, the place is the component's class.
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
    except (OSError, TypeError):  # The class was created by a function, or typed at a prompt.
        return f"the class {cls.__qualname__} of {cls.__module__}"


def same(value: Any, usual: Any) -> bool:
    """Return whether two parameter values, or states, are the same; arrays by their elements."""
    try:
        np.testing.assert_equal(value, usual)
    except AssertionError:
        return False
    return True


def state_of(component: Any) -> dict[str, Any]:
    """Return a component's state: its parameters and any other attributes."""
    state = dict(vars(component)) if "__dict__" in dir(component) else {}
    if attrs.has(type(component)):
        parameters = attrs.asdict(
            component, recurse=False, filter=lambda field, value: bool(field.init)
        )
        state.update(parameters)
    return state
