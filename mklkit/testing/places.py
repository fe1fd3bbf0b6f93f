"""The place in an author's own code where an error occurred."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mklkit.protocols import Array
from mklkit.testing.expectations import CheckFailure

__all__ = ["expect_untouched", "place_of"]


def place_of(error: BaseException, component: Any) -> str:
    """Return the file and line, in the component's own package, that an error comes from.

    If mklkit refused what the component returned, the place is the component's class.
    """
    cls: Any = component if isinstance(component, type) else type(component)
    package = cls.__module__.partition(".")[0]
    own = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
    ]
    if own:
        return f"{own[-1][0]}, line {own[-1][1]}"
    try:
        return f"{inspect.getsourcefile(cls)}, line {inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):  # The class was made by a function, or typed at a prompt.
        return str(getattr(inspect.getmodule(cls), "__file__", None) or cls.__module__)


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
