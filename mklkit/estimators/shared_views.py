"""Views of problems and quantities of pairs, shared by several fits on the same rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Any, Self

import joblib

from mklkit.estimators.plan import Plan, ProblemViews
from mklkit.estimators.training_data import TrainingData
from mklkit.views.memory import memory_limit
from mklkit.views.rows import PairStore


class SharedViews:
    """Views by the rows, labels and components that they were made from, the latest last.

    A search or a comparison passes them to its fits; results equal those of separate fits. Views
    beyond ``max_memory`` (by default half of the free memory) are dropped and made again.
    """

    def __init__(self, max_memory: int | str | None = None) -> None:
        self.max_memory = memory_limit(max_memory)
        self._views: OrderedDict[Any, ProblemViews] = OrderedDict()
        self._stores: dict[Any, PairStore] = {}
        self._small: dict[Any, Any] = {}
        self._lock = RLock()

    def of(self, plan: Plan, data: TrainingData, seed: int) -> ProblemViews:
        """Return the views of an estimator's problems, those of an earlier fit if there are any."""
        if not data.rows.in_memory:
            return ProblemViews(plan, data, seed)
        kernels = tuple((k.label, same_key(k.kernel), joblib.hash(k.columns)) for k in plan.kernels)
        parts = same_key(plan.feature_map), same_key(plan.missing)
        settings = *parts, int(seed), plan.bandwidths, plan.max_memory
        key = kernels, settings, data.digest
        with self._lock:
            views = self._views.pop(key, None)
            if views is None:
                views = ProblemViews(plan, data, seed, keep=True, store=self._store(data))
            self._views[key] = views
            if self.max_memory is not None:
                sizes = {key: kept.n_bytes for key, kept in self._views.items()}
                while len(self._views) > 1 and sum(sizes.values()) > self.max_memory:
                    oldest, _ = self._views.popitem(last=False)
                    del sizes[oldest]
        return views

    def small(self, key: Any, data: TrainingData, make: Callable[[], Any]) -> Any:
        """Return a small quantity of the data, computed if it is not there."""
        if not data.rows.plain:
            return make()
        with self._lock:
            whole_key = key, data.digest[:2], data.digest[-1]
            if whole_key not in self._small:
                self._small[whole_key] = make()
            return self._small[whole_key]

    def _store(self, data: TrainingData) -> PairStore | None:
        """Return the pairs of all rows of a search, or None if these rows are no part of one."""
        key = data.digest[0 if data.whole is None else 3]
        if key not in self._stores and data.whole is not None:
            # Only the latest: the next search has other rows.
            limit = None if self.max_memory is None else self.max_memory // 2
            self._stores = {key: PairStore(data.whole, limit)}
        return self._stores.get(key)


class SharesViews(ABC):
    """An estimator that can take its views from a store that several fits share."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows (N, d), their labels and, optionally, weights and groups, (N,)."""
        return self.fit_sharing(None, X, y, sample_weight, groups)

    @abstractmethod
    def fit_sharing(
        self,
        shared_views: SharedViews | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn as ``fit`` does, with views shared by other fits on the same rows, or None."""


def same_key(value: Any) -> Any:
    """Return a key that is equal for interchangeable parameters or components.

    The caller keeps values that can't be hashed, such as components with an array: these are
    compared by identity.
    """
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
