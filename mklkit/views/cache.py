"""One cache for everything that is computed from samples: a budget in bytes, one rule of eviction.

It holds the views of a problem, Gram matrices, eigenpairs, features, class moments, statistics, and
base quantities of all pairs. The budget is the estimator's ``max_memory`` or half of the free
memory, and the least recently used quantity beyond it is dropped. A dropped quantity is computed
again with the same result. A quantity belongs to its object, such as a view, and goes with it
(``Quantities``), or is identified by the content of the samples. If several threads want the same
quantity, the first one computes it.

A fit makes its own cache. A search makes one for its folds and points, and a comparison makes one
per split for all methods; both pass it on explicitly. Two things that look like caches are not in
it: a ``RowBlock`` keeps the columns of its samples while they are decided, and the Dask engine
tracks the arrays that it has sent to workers, whose memory is not this machine's.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar
from weakref import finalize

import attrs
import numpy as np
from scipy.sparse import issparse

from mklkit.numerics.sparse_rows import bytes_of
from mklkit.views.memory import memory_limit

Value = TypeVar("Value")

LEAST_BYTES = 64
"""What a quantity counts at least."""

ABSENT = object()
NOT_THERE = ABSENT, 0


class Cache:
    """Quantities computed from samples; the least recently used ones are dropped beyond a budget.

    What is dropped is computed again when it is needed, with the same result. A fit has its own
    cache. A search or a comparison passes one to its fits, which then share Gram matrices, base
    quantities of pairs, features, statistics and eigenpairs of the same rows.

    Parameters
    ----------
    max_memory : int or str, optional
        The budget, as for :func:`mklkit.views.memory.memory_given`; by default half of the free
        memory. The latest quantity is kept even if it is larger.

    Examples
    --------
    >>> cache = Cache("1MB")
    >>> [cache.of(name, lambda: np.zeros(100_000)).size for name in ("first", "second", "first")]
    [100000, 100000, 100000]
    >>> "first" in cache, "second" in cache, cache.nbytes
    (True, False, 800000)
    """

    def __init__(self, max_memory: int | str | None = None) -> None:
        self.budget = memory_limit(max_memory)
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._nbytes = 0
        self._making: dict[Hashable, Any] = {}
        self._gone: deque[object] = deque()
        self._lock = RLock()

    @property
    def nbytes(self) -> int:
        """The memory of what is kept."""
        with self._lock:
            self.drop_forgotten()
            return self._nbytes

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._entries

    def of(
        self,
        key: Hashable,
        make: Callable[[], Value],
        size: Callable[[Value], int] | None = None,
    ) -> Value:
        """Return a quantity, which one thread makes if it is not there; others wait for it.

        ``size`` returns its bytes, by default those of its arrays.
        """
        with self._lock:
            value: Any = self._entries.get(key, NOT_THERE)[0]
            if value is not ABSENT:
                self._entries.move_to_end(key)
                return value
            making = self._making.setdefault(key, RLock())
        with making:
            with self._lock:
                self.drop_forgotten()
                value = self._entries.get(key, NOT_THERE)[0]
            if value is ABSENT:
                try:
                    value = make()
                    self.keep(key, value, (size or size_of)(value))
                finally:
                    with self._lock:
                        self._making.pop(key, None)
        return value

    def known(self, key: Hashable) -> Any:
        """Return a quantity that is there, else None; it is then the one used most recently."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def keep(self, key: Hashable, value: Any, nbytes: int | None = None) -> None:
        """Keep a quantity, in place of an earlier one."""
        size = max(LEAST_BYTES, size_of(value) if nbytes is None else nbytes)
        with self._lock:
            self.drop_forgotten()
            self._drop(key)
            self._entries[key] = value, size
            self._nbytes += size
            while self.budget is not None and self._nbytes > self.budget and len(self._entries) > 1:
                self._drop(next(iter(self._entries)))

    def forget(self, owner: object) -> None:
        """Drop the quantities whose keys begin with an owner, at the next use of the cache.

        Python may call this at any time, also while an entry is looked up.
        """
        self._gone.append(owner)

    def drop_forgotten(self) -> None:
        """Drop the quantities of owners that are gone."""
        with self._lock:
            while self._gone:
                owner = self._gone.popleft()
                for key in list(self._entries):
                    if isinstance(key, tuple) and key[0] is owner:
                        self._drop(key)

    def _drop(self, key: Hashable) -> None:
        _, size = self._entries.pop(key, (None, 0))
        self._nbytes -= size


class Quantities:
    """The quantities of one object in a cache, by their names; they are dropped with the object."""

    def __init__(self, cache: Cache, owner: object) -> None:
        self.cache = cache
        self._token = object()
        finalize(owner, cache.forget, self._token).atexit = False

    def of(
        self,
        name: Hashable,
        make: Callable[[], Value],
        size: Callable[[Value], int] | None = None,
    ) -> Value:
        """Return a quantity, made if it is not there, as :meth:`Cache.of` does."""
        return self.cache.of((self._token, name), make, size)

    def known(self, name: Hashable) -> Any:
        """Return a quantity that is there, else None."""
        return self.cache.known((self._token, name))

    def keep(self, name: Hashable, value: Any) -> None:
        """Keep a quantity."""
        self.cache.keep((self._token, name), value)

    def clear(self) -> None:
        """Drop all of them."""
        self.cache.forget(self._token)
        self.cache.drop_forgotten()


def size_of(value: Any) -> int:
    """Return the bytes of the arrays that a value consists of.

    >>> size_of([np.zeros(3), {"a": np.zeros((2, 2))}, None])
    56
    """
    if isinstance(value, np.ndarray) or issparse(value):
        return bytes_of(value)
    if isinstance(value, (list, tuple)):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    if attrs.has(type(value)):
        return sum(size_of(getattr(value, field.name)) for field in attrs.fields(type(value)))
    return 0
