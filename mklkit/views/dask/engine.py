"""The engine whose parts are the chunks of Dask arrays, on the workers of a cluster."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import reduce
from operator import itemgetter
from threading import Lock
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, Rows
from mklkit.views.dask import computed, kept_and_computed, lazily, persisted, unchanged
from mklkit.views.engines import Engine, Sums, added

FAN_IN = 8
"""The number of sums that one task adds."""
LARGE_BYTES = 1 << 15
"""Arrays of at least this size are sent separately from the function that uses them."""
KEPT_BYTES = 1 << 29
"""The total size of the latest arrays that stay with the workers."""


class DaskEngine(Engine):
    """Functions of the chunks of :class:`mklkit.views.dask.rows.DaskRows`, run by Dask.

    Tasks do not modify their inputs, so that those of a lost worker can be repeated. Sums are added
    in a tree whose shape depends only on the chunks. A fit sends its landmarks and its maps'
    weights once, although each pass is a different function.
    """

    local: ClassVar[bool] = False

    def __init__(self) -> None:
        self._sent: dict[str, tuple[Any, int]] = {}
        self._lock = Lock()

    def each(
        self, function: Callable[..., Any], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Iterator[Any]:
        """Yield ``function(rows, *arrays)`` of each part, in order."""
        yield from computed(self._tasks(function, rows, arrays))

    def total(
        self, function: Callable[..., Sums], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Sums:
        """Return the sum over all parts of ``function(rows, *arrays)``."""
        (total,) = computed([_tree(self._tasks(function, rows, arrays))])
        return [_writeable(array) for array in total]

    def states(
        self, function: Callable[..., Any], rows: Rows, arrays: Sequence[NDArray[Any]]
    ) -> Sequence[Any]:
        """Return the states of the parts, which stay on the workers: pairs as from a sweep."""

        def started(*arguments: Any) -> tuple[Any, Sums]:
            return function(*arguments), []

        return persisted(self._tasks(started, rows, arrays))

    def sweep(
        self, function: Callable[..., tuple[Any, Sums]], rows: Rows, states: Sequence[Any]
    ) -> tuple[Sequence[Any], Sums]:
        """Return new states, which stay on the workers, and a sum over all parts."""
        pairs = self._tasks(function, rows, [], states)
        # Only the sums travel; a state stays with its part.
        sums = [lazily(itemgetter(1))(pair) for pair in pairs]
        pairs, (total,) = kept_and_computed(pairs, [_tree(sums)])
        return pairs, [_writeable(array) for array in total]

    def _tasks(
        self,
        function: Callable[..., Any],
        rows: Rows,
        arrays: Sequence[NDArray[Any]],
        states: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Return a task per part: the function with the part's samples, and arrays or a state."""
        store = rows.numbers
        stops = np.cumsum(store.lengths)
        places = [slice(stop - n, stop) for stop, n in zip(stops, store.lengths, strict=True)]
        pieces = [[array[place] for place in places] for array in arrays]
        code, large = packed(function)
        with self._lock:
            known = self._on_workers(large)
        sent, task = lazily(unchanged)(code), lazily(_call if states is None else _call_on_state)
        columns = pieces if states is None else [states]
        return [
            task(sent, known, part, *arguments)
            for part, *arguments in zip(store.parts, *columns, strict=True)
        ]

    def _on_workers(self, arrays: Sequence[NDArray[Any]]) -> list[Any]:
        """Return a reference to each array for tasks, found by its content or sent now."""
        keys = [joblib.hash(array) for array in arrays]
        fresh = {
            key: array for key, array in zip(keys, arrays, strict=True) if key not in self._sent
        }
        if fresh:
            tasks = persisted([lazily(unchanged)(array) for array in fresh.values()])
            for (key, array), task in zip(fresh.items(), tasks, strict=True):
                self._sent[key] = task, array.nbytes
        for key in keys:  # The latest come last.
            self._sent[key] = self._sent.pop(key)
        on_workers = [self._sent[key][0] for key in keys]
        while sum(size for _, size in self._sent.values()) > KEPT_BYTES:
            del self._sent[next(iter(self._sent))]
        return on_workers


def _tree(tasks: Sequence[Any]) -> Any:
    """Return a task that is the sum of others."""
    add = lazily(_sum)
    while len(tasks) > 1:
        tasks = [add(list(tasks[i : i + FAN_IN])) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def _writeable(array: Array) -> Array:
    """Return an array that the caller may write to; received ones may be read-only."""
    return array if array.flags.writeable else array.copy()


# Functions that the workers run.


def _sum(parts: Sequence[Sums]) -> Sums:
    # A copy, because another task may need the first part.
    return reduce(added, parts[1:], [np.array(array) for array in parts[0]])


def _call_on_state(code: bytes, large: Sequence[Array], rows: Array, *arguments: Any) -> Any:
    *arrays, (state, _) = arguments
    return _call(code, large, rows, *arrays, state)


def _call(code: bytes, large: Sequence[Array], rows: Array, *arguments: Any) -> Any:
    # Copies, because the function may change a state that another task may need. Values that are
    # not finite are detected in the decisions.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return unpacked(code, large)(rows, *deepcopy(arguments))


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, large: Sequence[NDArray[Any]]) -> None:
        super().__init__(file)
        self._large = large

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        return self._large[pid]


def packed(function: Callable[..., Any]) -> tuple[bytes, list[NDArray[Any]]]:
    """Return a function as bytes, and the large arrays that it uses."""
    import cloudpickle  # One of Dask's requirements.

    large: dict[int, NDArray[Any]] = {}

    class Packer(cloudpickle.Pickler):
        """Replaces large arrays by their places in a list."""

        def persistent_id(self, value: Any) -> int | None:
            if type(value) is not np.ndarray or value.dtype.hasobject or value.nbytes < LARGE_BYTES:
                return None
            large.setdefault(id(value), value)
            return list(large).index(id(value))

    file = io.BytesIO()
    Packer(file, protocol=5).dump(function)
    return file.getvalue(), list(large.values())


def unpacked(code: bytes, large: Sequence[NDArray[Any]]) -> Callable[..., Any]:
    """Return the function that was packed."""
    return _Unpacker(io.BytesIO(code), large).load()
