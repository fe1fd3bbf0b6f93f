"""Functions as bytes, without the large arrays in them, which are sent once."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SentArrays", "packed", "unpacked"]

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
            places = zip(fresh.items(), self._send(list(fresh.values())), strict=True)
            self._sent.update({key: (place, array.nbytes) for (key, array), place in places})
        for key in keys:
            self._sent.move_to_end(key)
        found = [self._sent[key][0] for key in keys]
        while sum(size for _, size in self._sent.values()) > KEPT_BYTES:
            self._sent.popitem(last=False)
        return found


def _digest(array: NDArray[Any]) -> bytes:
    digest = blake2b(repr((array.shape, array.dtype.str)).encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.digest()
