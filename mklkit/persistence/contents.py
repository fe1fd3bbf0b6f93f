"""Checks of what a model file holds once it is read: parameters, and arrays against each other.

Safe types are not enough. Some of their parameters make a model open files or start processes when
it predicts or is refitted, and compiled code follows unchecked indices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import attrs
import numpy as np

from mklkit.errors import ModelFileError, quoted
from mklkit.protocols import Columns

MOST_JOBS = 256
MOST_QUANTIFIERS = 2
RESPONSES = (
    *("auto", "predict", "predict_proba", "predict_log_proba", "decision_function", "transform"),
    "score_samples",
)


def _is_response(value: Any) -> bool:
    return all(name in RESPONSES for name in _listed(value) if isinstance(name, str))


def _is_quick_pattern(value: Any) -> bool:
    """Return whether matching a regular expression takes little more than the square of a text."""
    if not isinstance(value, str):
        return value is None
    quantifiers = re.findall(r"[*+?{]", value.replace("(?", "("))
    return len(quantifiers) <= MOST_QUANTIFIERS and not re.search(r"\)[*+?{]", value)


def _is_number_of_jobs(value: Any) -> bool:
    return not isinstance(value, int | float | np.number) or abs(float(value)) <= MOST_JOBS


RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    # joblib unpickles the content of a cache.
    "memory": ("set memory=None: a path to a local cache is never saved", lambda v: v is None),
    "input": ("texts are never read as names of files", lambda v: v != "filename"),
    "n_jobs": (f"at most {MOST_JOBS} jobs are allowed", _is_number_of_jobs),
    **dict.fromkeys(
        ("token_pattern", "pattern"),
        ("a regular expression may repeat two things, but no group", _is_quick_pattern),
    ),
    # With where=False, NumPy leaves memory as it is.
    **{
        name: ("functions get no arguments", lambda v: v is None or v == {})
        for name in ("kw_args", "inv_kw_args")
    },
    # Called on the output of earlier steps; numpy.ndarray.tofile writes to a path.
    **{
        name: (f"a method must be one of {', '.join(RESPONSES)}", _is_response)
        for name in ("stack_method", "stack_method_", "response_method", "_response_method")
    },
}
"""For each parameter that gives a model outside access: a remedy and a test of allowed values."""
GRIDS = ("param_grid", "param_distributions")
"""Parameters whose values are themselves parameters: dictionaries of them, or lists of these."""


def check_parameters(model: Any) -> None:
    """Raise an error for a model with an object whose parameters open files or start processes."""
    for part in parts_of(model):
        for name, value in attributes(part).items():
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


def check_arrays(model: Any) -> None:
    """Raise a ``ValueError`` for indices that compiled code would follow out of bounds.

    Components and what they fit are validated too; those of mklkit check shapes as they predict.
    """
    from scipy.sparse import issparse

    for part in parts_of(model):
        if issparse(part):
            part.check_format(full_check=True)
        elif isinstance(part, np.random.RandomState):
            _check_random_state(part)
        elif attrs.has(type(part)):
            attrs.validate(part)
        values = attributes(part)
        if "vocabulary_" in values:
            _check_vocabulary(values["vocabulary_"])
        if "_n_features_outs" in values:
            _check_one_hot(values)


def _check_random_state(state: np.random.RandomState) -> None:
    """Check the place of the next number among the numbers of the Mersenne Twister."""
    twister: dict[str, Any] = state.get_state(legacy=False)["state"]
    if not 0 <= twister["pos"] <= len(twister["key"]):
        raise ValueError(f"a random state reads its number {twister['pos']}")


def _check_vocabulary(vocabulary: dict[str, int]) -> None:
    """Check that words have the columns 0, 1, 2 … of the sparse matrix to be made of them."""
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise ValueError(f"{len(vocabulary)} words do not have as many columns")


def _check_one_hot(encoder: dict[str, Any]) -> None:
    """Check the columns of a ``OneHotEncoder``, whose sparse matrix is made without checks."""
    categories, widths = encoder["categories_"], encoder["_n_features_outs"]
    nothing: list[Any] = [None] * len(categories)
    drops = encoder["_drop_idx_after_grouping"]
    drops = nothing if drops is None else drops
    groups = indices = nothing
    if encoder["_infrequent_enabled"]:
        groups, indices = encoder["_default_to_infrequent_mappings"], encoder["_infrequent_indices"]
    if not len(categories) == encoder["n_features_in_"]:
        raise ValueError(f"an encoder has the categories of {len(categories)} columns")
    for values, width, drop, group, rare in zip(
        categories, widths, drops, groups, indices, strict=True
    ):
        size = len(values)
        is_sorted = values.dtype == object or values.dtype.kind in "US" or _is_increasing(values)
        if not is_sorted or (group is None) != (rare is None):
            raise ValueError("the categories of an encoder are not in order")
        if group is not None:
            if len(group) != size or min(group) < 0:
                raise ValueError("an encoder groups categories that it does not have")
            size = int(max(group)) + 1
        if drop is not None:
            if not 0 <= drop < size:
                raise ValueError("an encoder drops a category that it does not have")
            size -= 1
        if width != size:
            raise ValueError(f"an encoder has {width} columns for {size} categories")


def _is_increasing(values: np.ndarray[Any, Any]) -> bool:
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return bool((known[1:] > known[:-1]).all())


# Columns have text and numbers only, which are checked as they are made.
PLAIN = (str, bytes, float, int, type, np.generic, FunctionType, ModuleType, Columns)


def parts_of(model: Any) -> Iterator[Any]:
    """Yield an object and all objects that it contains, each once."""
    # Parts are kept with their ids, so that an id can't be reused for another object.
    pending = [model]
    visited = dict[int, Any]()
    while pending:
        part = pending.pop()
        if id(part) in visited or isinstance(part, PLAIN):
            continue
        visited[id(part)] = part
        yield part
        pending.extend(attributes(part).values())
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple | set):
            pending.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            # The values under a mask too.
            pending.extend(np.asarray(part).ravel().tolist())


def attributes(part: Any) -> dict[Any, Any]:
    """Return all attributes of an object without calling its methods, which a file may set."""
    state = object.__getstate__(part)
    pair = state if isinstance(state, tuple) else (state,)
    return {name: value for names in pair for name, value in (names or {}).items()}
