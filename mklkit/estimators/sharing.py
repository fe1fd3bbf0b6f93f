"""Estimators whose fits can share what is computed from the same rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from mklkit.views.cache import Cache


class SharesCache(ABC):
    """An estimator whose fits can share a cache of Gram matrices, features and statistics."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows (N, d), their labels and, optionally, weights and groups, (N,)."""
        return self.fit_sharing(None, X, y, sample_weight, groups)

    @abstractmethod
    def fit_sharing(
        self,
        cache: Cache | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn as ``fit`` does, with a cache that other fits on the same rows use, or None."""
