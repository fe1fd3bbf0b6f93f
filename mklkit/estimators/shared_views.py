"""Views that several fits on the same rows share: Gram matrices and statistics are made once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from threading import RLock
from typing import Any

import numpy as np

from mklkit.estimators.training import ProblemViews
from mklkit.views.known_pairs import PairStore
from mklkit.views.memory import memory_limit

__all__ = ["problem_views", "shared_views"]


class _Shelf:
    """Views by the rows, labels and components that they were made of, the latest last."""

    def __init__(self, max_memory: int | None) -> None:
        self.max_memory = max_memory
        self._made: OrderedDict[Any, ProblemViews] = OrderedDict()
        self._stores: dict[Any, PairStore] = {}
        self._lock = RLock()

    def take(self, key: Any, make: Callable[[], ProblemViews]) -> ProblemViews:
        """Return the views of a key, made if there are none."""
        with self._lock:
            found = self._made.pop(key, None)
            found = make() if found is None else found
            self._made[key] = found
            self._forget_what_is_too_much()
        return found

    def store(self, rows: Any, whole: Any) -> PairStore | None:
        """Return the pairs of all rows of a search; of others only if these are such rows."""
        with self._lock:
            key = _digest(rows if whole is None else whole)
            if key not in self._stores and whole is not None:
                # The latest alone: searches follow each other on other rows.
                limit = None if self.max_memory is None else self.max_memory // 2
                self._stores = {key: PairStore(whole, limit)}
            return self._stores.get(key)

    def _forget_what_is_too_much(self) -> None:
        if self.max_memory is None:
            return
        sizes = {key: views.n_bytes for key, views in self._made.items()}
        for key in list(self._made)[:-1]:
            if sum(sizes.values()) <= self.max_memory:
                return
            del self._made[key], sizes[key]


_SHELF: ContextVar[_Shelf | None] = ContextVar("views that fits share", default=None)


@contextmanager
def shared_views(max_memory: int | str | None = None) -> Iterator[None]:
    """Let all fits within the context that learn from the same rows share their views.

    Results are those of separate fits. Within another such context the outer one serves.

    Parameters
    ----------
    max_memory : int or str, optional
        What is kept beyond it is forgotten and made again when needed; half of what is free where
        not given.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with shared_views():
    ...     models = [MKLClassifier(combiner=rule).fit(X, y) for rule in ("dimkl2", "dimkl5")]
    """
    if _SHELF.get() is not None:
        yield
        return
    token = _SHELF.set(_Shelf(memory_limit(max_memory)))
    try:
        yield
    finally:
        _SHELF.reset(token)


def problem_views(
    kernels: Any,
    feature_map: Any,
    rows: Any,
    codes: Any,
    seed: int,
    bandwidths: str,
    memory: int | None,
    whole: Any = None,
    places: Any = None,
) -> ProblemViews:
    """Return the views of binary problems: those of a former fit where they may be shared.

    Parameters
    ----------
    kernels, feature_map, rows, codes, seed, bandwidths, memory
        As for :class:`ProblemViews`.
    whole : ndarray of shape (T, d), optional
        All rows of a search, of which ``rows`` are those at ``places`` (N,).
    """

    def make(store: PairStore | None = None) -> ProblemViews:
        keep = shelf is not None
        given = (kernels, feature_map, rows, codes, seed, bandwidths, memory)
        return ProblemViews(*given, keep=keep, store=store, places=places)

    shelf = _SHELF.get()
    if shelf is None or not isinstance(rows, np.ndarray):
        return make()
    of_kernels = tuple((one.label, _same(one.kernel), _digest(one.columns)) for one in kernels)
    of_data = _digest(rows), _digest(codes)
    key = (of_kernels, _same(feature_map), of_data, int(seed), bandwidths, memory)
    return shelf.take(key, lambda: make(shelf.store(rows, whole)))


def _same(component: Any) -> Any:
    """Return what components have in common that may replace each other."""
    try:
        hash(component)
    except TypeError:  # It holds an array; the views hold the component, so that its id stays.
        return id(component)
    return component


def _digest(array: Any) -> Any:
    if array is None:
        return None
    content = blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
    return array.shape, array.dtype.str, content
