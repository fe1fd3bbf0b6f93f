"""The objects in a model, looked at one by one: before it is saved, and before it is first used.

Safe types are not enough. Some of their parameters make a model open files or start processes when
it predicts or is fitted again, and compiled code follows indices that it does not check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mklkit.errors import ModelFileError, quoted

__all__ = ["check_compiled", "check_parameters"]

MOST_JOBS = 256
RESPONSES = "auto predict predict_proba predict_log_proba decision_function transform score_samples"


def _is_response(value: Any) -> bool:
    return all(name in RESPONSES.split() for name in _listed(value) if isinstance(name, str))


def _is_number_of_jobs(value: Any) -> bool:
    return not isinstance(value, int | float | np.number) or abs(float(value)) <= MOST_JOBS


RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    # joblib unpickles what it finds in a cache.
    "memory": ("set memory=None: a cache on this computer is never kept", lambda v: v is None),
    "input": ("texts are never read from files whose names they are", lambda v: v != "filename"),
    "n_jobs": (f"at most {MOST_JOBS} jobs are kept", _is_number_of_jobs),
    # Called on what the steps before return; numpy.ndarray.tofile writes to a path.
    **{
        name: (f"a method has to be {RESPONSES.replace(' ', ', ')}", _is_response)
        for name in ("stack_method", "stack_method_", "response_method", "_response_method")
    },
}
"""For each parameter through which a model would reach outside: a remedy and what is allowed."""
GRIDS = ("param_grid", "param_distributions")
"""Parameters whose values are set as parameters: dictionaries of them, or lists of such."""


def check_parameters(model: Any) -> None:
    """Check all objects in a model for parameters that open files or start processes.

    Raises
    ------
    ModelFileError
        If there is such a parameter, with its name, its value and what is allowed.
    """
    for part in _parts(model):
        for name, value in _attributes(part).items():
            _check(name, [value])
            for grid in _listed(value) if name in GRIDS else ():
                for nested, values in grid.items() if isinstance(grid, dict) else ():
                    _check(str(nested).rpartition("__")[2], _listed(values))


def _check(name: Any, values: list[Any]) -> None:
    if name not in RULES:
        return
    remedy, allowed = RULES[name]
    for value in values:
        if not allowed(value):
            raise ModelFileError(f"a model file can't hold {name}={quoted(value)}; {remedy}.")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set | np.ndarray) else [value]


def check_compiled(model: Any) -> None:
    """Check indices that compiled code would use without a check.

    Raises
    ------
    ValueError
        If a sparse matrix or a spline has indices out of bounds.
    """
    from scipy.interpolate import BSpline, _bsplines
    from scipy.sparse import issparse

    # Since SciPy 1.18 a spline keeps its numbers in another, whose type has no public name.
    splines = (BSpline, vars(_bsplines).get("_BSpline", BSpline))
    for part in _parts(model):
        if issparse(part):
            # Other formats are checked when they are created.
            if part.format in ("csr", "csc"):
                part.check_format(full_check=True)
        elif isinstance(part, splines):
            checked = BSpline(part.t, part.c, part.k)
            if (checked.t.dtype, checked.c.dtype) != (part.t.dtype, part.c.dtype):
                raise ValueError("a spline holds no floating-point numbers")


PLAIN = (str, bytes, float, int, type, np.generic, FunctionType, ModuleType)


def _parts(model: Any) -> Iterator[Any]:
    """Yield an object and all objects that it contains, each once."""
    # Parts are kept with their ids, so that an id can't be reused for another object.
    pending, visited = [model], dict[int, Any]()
    while pending:
        part = pending.pop()
        if id(part) in visited or isinstance(part, PLAIN):
            continue
        visited[id(part)] = part
        yield part
        pending.extend(_attributes(part).values())
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple | set):
            pending.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            # The values under a mask too.
            pending.extend(np.asarray(part).ravel().tolist())


def _attributes(part: Any) -> dict[Any, Any]:
    """Return all attributes of an object; its own methods are not asked, as a file may set them."""
    state = object.__getstate__(part)
    pair = state if isinstance(state, tuple) else (state,)
    return {name: value for names in pair for name, value in (names or {}).items()}
