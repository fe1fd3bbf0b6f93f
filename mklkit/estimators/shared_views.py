"""Views that several fits on the same rows share: Gram matrices and statistics are made once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from mklkit.estimators.training import ProblemViews
from mklkit.protocols import TableRows
from mklkit.views.known_pairs import PairStore
from mklkit.views.memory import memory_limit

__all__ = [
    "SharedViews",
    "made_once",
    "problem_views",
    "remembered_digests",
    "same_key",
    "shared_views",
]

Result = TypeVar("Result")


class SharedViews:
    """Views by the rows, labels and components that they were made of, the latest last.

    Parameters
    ----------
    max_memory : int or str, optional
        What is kept beyond it is forgotten and made again when needed; half of what is free where
        not given.
    """

    def __init__(self, max_memory: int | str | None = None) -> None:
        self.max_memory = memory_limit(max_memory)
        self._made: OrderedDict[Any, ProblemViews] = OrderedDict()
        self._stores: dict[Any, PairStore] = {}
        self._small: dict[Any, Any] = {}
        self._lock = RLock()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let fits within the context take their views from here."""
        token = _SHARED.set(self)
        try:
            yield
        finally:
            _SHARED.reset(token)

    def take(self, key: Any, make: Callable[[], ProblemViews]) -> ProblemViews:
        """Return the views of a key, made if there are none."""
        with self._lock:
            found = self._made.pop(key, None)
            found = make() if found is None else found
            self._made[key] = found
            self._forget_what_is_too_much()
        return found

    def small(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what belongs to a key and takes little memory, made if it is not there."""
        with self._lock:
            if key not in self._small:
                self._small[key] = make()
            return self._small[key]

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


_SHARED: ContextVar[SharedViews | None] = ContextVar("views that fits share", default=None)


@contextmanager
def shared_views(max_memory: int | str | None = None) -> Iterator[None]:
    """Let all fits within the context that learn from the same rows share their views.

    Results are those of separate fits. Within another such context the outer one serves.

    Parameters
    ----------
    max_memory : int or str, optional
        As for :class:`SharedViews`.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with shared_views():
    ...     models = [MKLClassifier(combiner=rule).fit(X, y) for rule in ("dimkl2", "dimkl5")]
    """
    if _SHARED.get() is not None:
        yield
        return
    with SharedViews(max_memory).in_use():
        yield


def problem_views(
    kernels: Any,
    feature_map: Any,
    rows: Any,
    values: Any,
    seed: int,
    bandwidths: str,
    memory: int | None,
    whole: Any = None,
    places: Any = None,
    digest: Callable[[Any], Any] | None = None,
    row_weights: Any = None,
) -> ProblemViews:
    """Return the views of an estimator's problems: those of a former fit where they may be shared.

    Parameters
    ----------
    kernels, feature_map, rows, values, seed, bandwidths, memory
        As for :class:`ProblemViews`.
    whole : ndarray of shape (T, d), optional
        All rows of a search, of which ``rows`` are those at ``places`` (N,).
    digest : callable, optional
        As :func:`remembered_digests` returns it.
    row_weights : ndarray of shape (N,), optional
        As for :class:`ProblemViews`.
    """

    def make(store: PairStore | None = None) -> ProblemViews:
        keep = shared is not None
        given = (kernels, feature_map, rows, values, seed, bandwidths, memory)
        return ProblemViews(*given, keep=keep, store=store, places=places, row_weights=row_weights)

    shared = _SHARED.get()
    if shared is None or not isinstance(rows, np.ndarray | TableRows):
        return make()
    of_kernels = tuple((one.label, same_key(one.kernel), _digest(one.columns)) for one in kernels)
    # Held-out rows are those of the same whole, at other places.
    digest = digest or _digest
    of_data = digest(rows), _digest(values), digest(whole), _digest(places), _digest(row_weights)
    key = (of_kernels, same_key(feature_map), of_data, int(seed), bandwidths, memory)
    return shared.take(key, lambda: make(shared.store(rows, whole)))


def made_once(what: str, rows: Any, codes: Any, columns: Any, make: Callable[[], Result]) -> Result:
    """Return something small that follows from rows, labels and columns, made once."""
    shared = _SHARED.get()
    if shared is None or not isinstance(rows, np.ndarray):
        return make()
    key = (what, _digest(rows), _digest(codes), None if columns is None else tuple(columns))
    found: Result = shared.small(key, make)
    return found


def same_key(value: Any) -> Any:
    """Return what values have in common that may replace each other, of parameters or components.

    The caller keeps values that can't be hashed, such as components with an array: only their
    identity is known.
    """
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def remembered_digests() -> Callable[[Any], Any]:
    """Return a digest of arrays that nobody changes meanwhile, computed once for each."""
    known: dict[int, tuple[Any, Any]] = {}

    def digest(array: Any) -> Any:
        if id(array) not in known:
            known[id(array)] = array, _digest(array)
        return known[id(array)][1]

    return digest


def _digest(array: Any) -> Any:
    if array is None:
        return None
    if isinstance(array, TableRows):
        return tuple(map(_digest, array.parts)), *array.texts, *array.categories
    content = blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
    return array.shape, array.dtype.str, content
