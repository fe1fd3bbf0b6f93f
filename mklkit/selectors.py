"""Which columns a kernel sees: a glob or list of names, a slice, or positions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, suggest

__all__ = ["resolve_columns"]

_SLICE = re.compile(r"(-?\d+)?:(-?\d+)?")


def resolve_columns(
    selector: Any, n_features: int, names: Sequence[str] | None
) -> NDArray[np.intp] | None:
    """Return the positions of the columns that a selector names, or None for all of them.

    Parameters
    ----------
    selector : None, str, int, slice or sequence of str or int
        A string is a comma-separated list of names, globs (``fou_*``) or slices (``0:10``).
    n_features : int
    names : sequence of str, optional
        The feature names, where the data have any.

    Raises
    ------
    DataError
        If a name or glob fits no column, or a position is out of range.

    Examples
    --------
    >>> resolve_columns("a*,c", 3, ["a1", "b", "c"])
    array([0, 2])
    >>> resolve_columns(slice(0, 2), 3, None)
    array([0, 1])
    """
    if selector is None:
        return None
    everything = np.arange(n_features)
    if isinstance(selector, slice):
        chosen = everything[selector]
    else:
        parts = [selector] if isinstance(selector, (int, np.integer)) else selector
        parts = parts.split(",") if isinstance(parts, str) else list(parts)
        found = [_positions(part, everything, names) for part in parts]
        chosen = np.array([position for part in found for position in part], dtype=np.intp)
    if len(chosen) == 0:
        raise DataError(f"The columns {selector!r} select none of the {n_features} features.")
    if len(set(chosen.tolist())) < len(chosen):
        chosen = np.array(list(dict.fromkeys(chosen.tolist())), dtype=np.intp)
    return None if np.array_equal(chosen, everything) else chosen


def _positions(
    part: Any, everything: NDArray[np.intp], names: Sequence[str] | None
) -> Sequence[int]:
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        if not -len(everything) <= part < len(everything):
            raise DataError(f"Column {part} was asked for, but there are {len(everything)}.")
        return [int(everything[part])]
    text = str(part).strip()
    if names is not None:
        exact = [i for i, name in enumerate(names) if name == text]
        found = exact or [i for i, name in enumerate(names) if fnmatchcase(name, text)]
        if found:
            return found
    match = _SLICE.fullmatch(text)
    if match is not None:
        bounds = (int(bound) if bound else None for bound in match.groups())
        return everything[slice(*bounds)].tolist()
    if text.lstrip("-").isdigit():
        return _positions(int(text), everything, names)
    if names is None:
        raise DataError(
            f"The columns {text!r} are asked for by name, but the data have no feature names:"
            " pass a DataFrame, or select by position (0:10)."
        )
    raise DataError(f"No column is named {text!r}.{suggest(text, names)}")
