"""The engine whose parts are the chunks of Dask arrays, on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import reduce
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, Rows
from mklkit.views.dask.recognising import is_dask
from mklkit.views.dask.scheduling import computed, kept_and_computed, lazily, persisted, unchanged
from mklkit.views.dask.shipping import SentArrays, packed, unpacked
from mklkit.views.engines import Sums, added

__all__ = ["DaskEngine"]

FAN_IN = 8
"""The sums that one task adds."""


class DaskEngine:
    """Functions of the chunks of :class:`mklkit.views.dask.rows.DaskRows`, run by Dask.

    Only functions, the parts of arrays that the caller has, and results travel. A task changes
    nothing that it is given, so that those of a worker that was lost can be run again. Sums are
    added in a tree whose shape depends on the chunks alone.
    """

    local = False

    def __init__(self) -> None:
        self._sent = SentArrays(_sent)
        self._lock = Lock()

    def each(
        self, function: Callable[..., Any], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Iterator[Any]:
        """Yield ``function(rows, *arrays)`` of each part, in order."""
        yield from computed(self._tasks(_call, function, rows, _cut(rows, arrays)))

    def total(
        self, function: Callable[..., Sums], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Sums:
        """Return the sum over all parts of ``function(rows, *arrays)``."""
        (total,) = computed([_tree(self._tasks(_call, function, rows, _cut(rows, arrays)))])
        return [_writeable(own) for own in total]

    def states(
        self, function: Callable[..., Any], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Sequence[Any]:
        """Return the states of the parts, which stay on the workers."""
        return persisted(self._tasks(_call, function, rows, _cut(rows, arrays)))

    def sweep(
        self,
        function: Callable[..., tuple[Any, Sums]],
        rows: Rows,
        states: Sequence[Any],
    ) -> tuple[Sequence[Any], Sums]:
        """Return new states, which stay on the workers, and a sum over all parts."""
        pairs = self._tasks(_call_on_state, function, rows, [states])
        kept = [lazily(_first)(pair) for pair in pairs]
        promised = _tree([lazily(_second)(pair) for pair in pairs])
        kept, (total,) = kept_and_computed(kept, [promised])
        return kept, [_writeable(own) for own in total]

    def _tasks(
        self,
        call: Callable[..., Any],
        function: Callable[..., Any],
        rows: Rows,
        arrays: Sequence[Sequence[Any]],
    ) -> list[Any]:
        """Return a task for each part, of the function, the part's rows and its arrays."""
        code, large = packed(function)
        with self._lock:
            known = self._sent.of(large)
        sent, task = lazily(unchanged)(code), lazily(call)
        return [
            task(sent, known, part, *own) for part, *own in zip(_parts(rows), *arrays, strict=True)
        ]


def _parts(rows: Any) -> Sequence[Any]:
    parts: Sequence[Any] = rows.parts
    return parts


def _cut(rows: Any, arrays: Sequence[Any]) -> list[list[Any]]:
    """Return the parts' rows of arrays; those of Dask arrays stay where they are."""
    stops = np.cumsum(rows.lengths)
    places = [slice(stop - n, stop) for stop, n in zip(stops, rows.lengths, strict=True)]
    return [
        list(array.rechunk({0: tuple(rows.lengths)}).to_delayed().ravel())
        if is_dask(array)
        else [array[place] for place in places]
        for array in arrays
    ]


def _tree(tasks: Sequence[Any]) -> Any:
    """Return a task that is the sum of others."""
    add = lazily(_sum)
    while len(tasks) > 1:
        tasks = [add(list(tasks[i : i + FAN_IN])) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def _sent(arrays: list[NDArray[Any]]) -> list[Any]:
    return persisted([lazily(unchanged)(array) for array in arrays])


# What the workers run.


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _sum(parts: Sequence[Sums]) -> Sums:
    first, *others = parts
    # A copy, because another task may need the first part again.
    return reduce(added, others, [np.array(own) for own in first])


def _call(code: bytes, large: Sequence[Array], rows: Array, *arrays: Any) -> Any:
    # Values that are not finite are detected in the decisions.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return unpacked(code, large)(rows, *arrays)


def _call_on_state(code: bytes, large: Sequence[Array], rows: Array, state: Any) -> Any:
    # A copy, because the function may change it, and another task may need it again.
    return _call(code, large, rows, deepcopy(state))


def _writeable(array: Array) -> Array:
    """Return an array that the caller may write to; those received need not be."""
    return array if array.flags.writeable else array.copy()
