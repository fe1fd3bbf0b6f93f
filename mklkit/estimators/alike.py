"""Many objects of few types as few arrays, in which a fitted model is stored.

One-vs-one, 27 classes are 351 decisions. Written one by one, they are mostly names of fields, and
repeat what they share. Here the values of a field are one array or list for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

PLAIN = (str, int, bool, type(None))
"""Types whose equal values are one value; others are one only if they are one object."""


def stacked(values: Sequence[Any]) -> dict[str, Any]:
    """Return values as groups of one type each, and the place of each value among them.

    Objects of ``attrs`` classes with slots become one object, whose fields have the stacked values
    of all. An object that occurs several times is stored once.

    >>> packed = stacked([1.5, "a", 2.5, "a"])
    >>> packed["places"].tolist(), packed["groups"]
    ([0, 2, 1, 2], [{'numbers': array([1.5, 2.5])}, {'each': ['a']}])
    >>> unstacked(packed)
    [1.5, 'a', 2.5, 'a']
    """
    first: dict[Hashable, int] = {}
    for place, value in enumerate(values):
        first.setdefault(_identity(value), place)
    kinds: dict[Hashable, list[int]] = {}
    for place in first.values():
        kinds.setdefault(_kind(values[place]), []).append(place)
    order = {place: number for number, place in enumerate(chain.from_iterable(kinds.values()))}
    return {
        "places": np.array([order[first[_identity(value)]] for value in values], np.intp),
        "groups": [_group([values[place] for place in places]) for places in kinds.values()],
    }


def unstacked(packed: dict[str, Any]) -> list[Any]:
    """Return the values that :func:`stacked` packed.

    Raises
    ------
    ValueError
        If numbers of values do not fit each other, as in a damaged file.
    """
    values = [value for group in packed["groups"] for value in _ungrouped(group)]
    places: NDArray[np.intp] = packed["places"]
    if places.ndim != 1 or places.dtype.kind != "i" or places.min(initial=0) < 0:
        raise ValueError("expected the places of stacked values")
    return [values[place] for place in places.tolist()]


def _identity(value: Any) -> Hashable:
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    # All objects of a class without fields are equal.
    return (kind,) if attrs.has(kind) and not attrs.fields(kind) else id(value)


def _kind(value: Any) -> Hashable:
    kind: Any = type(value)
    if isinstance(value, np.ndarray):
        return kind, value.dtype, value.shape[1:], value.ndim
    return kind


def _group(values: list[Any]) -> dict[str, Any]:
    """Return different values of one kind in the shortest form that they have."""
    value = values[0]
    kind = type(value)
    if kind is float:
        return {"numbers": np.array(values)}
    if kind is np.ndarray and value.ndim and value.dtype.kind in "fiub" and _in_order(values):
        return {"arrays": np.concatenate(values), "lengths": np.array(list(map(len, values)))}
    if kind in (list, tuple):
        lengths = np.array(list(map(len, values)))
        items = stacked(list(chain.from_iterable(values)))
        return {"items": items, "lengths": lengths, "fixed": kind is tuple}
    if _has_fields(value):
        names = [field.name for field in attrs.fields(kind)]
        states = [item.__getstate__() for item in values]
        return {"like": _made(kind, {n: stacked([state[n] for state in states]) for n in names})}
    return {"each": values}


def _ungrouped(group: dict[str, Any]) -> list[Any]:
    if "numbers" in group:
        numbers: list[Any] = group["numbers"].tolist()
        return numbers
    if "arrays" in group:
        # A copy is aligned in memory as the array was, so that sums round in the same way.
        return [part.copy() for part in _parts(group["arrays"], group["lengths"])]
    if "items" in group:
        lists = _parts(unstacked(group["items"]), group["lengths"])
        return list(map(tuple, lists)) if group["fixed"] else lists
    if "like" in group:
        kind = type(group["like"])
        columns = {name: unstacked(c) for name, c in group["like"].__getstate__().items()}
        rows = zip(*columns.values(), strict=True)
        return [_made(kind, dict(zip(columns, row, strict=True))) for row in rows]
    return list(group["each"])


def _in_order(values: list[Any]) -> bool:
    return all(value.flags.c_contiguous for value in values)


def _has_fields(value: Any) -> bool:
    """Return whether an object's state is its fields: it has slots, and no state of its own."""
    kind = type(value)
    if not attrs.has(kind) or not attrs.fields(kind) or hasattr(value, "__dict__"):
        return False
    state = value.__getstate__()
    names = [field.name for field in attrs.fields(kind)]
    if not isinstance(state, dict) or [*state] != names:
        return False
    return all(state[name] is getattr(value, name) for name in names)


def _made(kind: Any, state: dict[str, Any]) -> Any:
    instance = kind.__new__(kind)
    instance.__setstate__(state)
    return instance


def _parts(joined: Any, lengths: NDArray[np.intp]) -> list[Any]:
    """Return the parts of an array or a list, one after another, of these lengths."""
    ends = np.cumsum(lengths).tolist()
    if lengths.min(initial=0) < 0 or (ends[-1] if ends else 0) != len(joined):
        raise ValueError(f"{len(joined)} values are not the sum of their parts")
    return [joined[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
