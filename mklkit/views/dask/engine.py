"""The engine whose parts are the chunks of Dask arrays, on the workers of a cluster."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import reduce
from hashlib import blake2b
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, Rows
from mklkit.views.dask import is_dask
from mklkit.views.dask.scheduling import computed, kept_and_computed, lazily, persisted, unchanged
from mklkit.views.engines import Engine, Sums, added

__all__ = ["DaskEngine", "SentArrays", "packed", "unpacked"]

FAN_IN = 8
"""The sums that one task adds."""


class DaskEngine(Engine):
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
        return [_writeable(array) for array in total]

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
        return kept, [_writeable(array) for array in total]

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
            task(sent, known, part, *pieces)
            for part, *pieces in zip(_parts(rows), *arrays, strict=True)
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
    return reduce(added, others, [np.array(array) for array in first])


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


LARGE_BYTES = 1 << 15
"""Arrays of this size and above are sent apart from the function that uses them."""
KEPT_BYTES = 1 << 29
"""Arrays sent before stay with the workers up to this size together, the latest ones."""


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


class SentArrays:
    """Arrays that the workers have, found again by their contents.

    A fit sends its landmarks and its maps' weights once, although each pass is another function.

    Parameters
    ----------
    send : callable
        Takes arrays and returns what stands for each of them in tasks.
    """

    def __init__(self, send: Callable[[list[NDArray[Any]]], list[Any]]) -> None:
        self._send = send
        self._sent: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()

    def of(self, arrays: Sequence[NDArray[Any]]) -> list[Any]:
        """Return what stands for each array, sent before or now."""
        keys = [_digest(array) for array in arrays]
        fresh = {
            key: array for key, array in zip(keys, arrays, strict=True) if key not in self._sent
        }
        if fresh:
            sent = zip(fresh.items(), self._send(list(fresh.values())), strict=True)
            self._sent.update({key: (place, array.nbytes) for (key, array), place in sent})
        for key in keys:
            self._sent.move_to_end(key)
        places = [self._sent[key][0] for key in keys]
        while sum(size for _, size in self._sent.values()) > KEPT_BYTES:
            self._sent.popitem(last=False)
        return places


def _digest(array: NDArray[Any]) -> bytes:
    digest = blake2b(repr((array.shape, array.dtype.str)).encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.digest()
