"""Fits that share what is computed from the same samples, and keep groups of samples together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from mklkit.estimators.groups import fit_in_groups
from mklkit.views.cache import Cache


class SharesCache(ABC):
    """An estimator whose fits can share a cache of Gram matrices, features and statistics."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from samples and their labels.

        Parameters
        ----------
        X : array-like, DataFrame, StoredRows, memmap or Dask collection of shape (N, d)
            The training samples.
        y : array-like of shape (N,)
            Their class labels.
        sample_weight : array-like of shape (N,), optional
            How much each sample counts, as for :meth:`mklkit.MKLClassifier.fit`.
        groups : array-like of shape (N,), optional
            The group of each sample, such as its patient.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
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
        """Learn as ``fit`` does, sharing views with other fits on the same samples.

        Parameters
        ----------
        cache : Cache or None
            The cache of Gram matrices, features and statistics; None for a cache of its own.
        X, y, sample_weight, groups : array-like
            As for ``fit``.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """


def fit_on(
    model: Any,
    X: Any,
    y: Any,
    params: Mapping[str, Any],
    groups: Any = None,
    cache: Cache | None = None,
) -> Any:
    """Fit a model on samples (N, d), without dividing groups in its own splits, and return it.

    ``params`` are more arguments of its ``fit``. A model that shares views takes them from the
    cache.
    """
    if cache is not None and isinstance(model, SharesCache):
        return model.fit_sharing(cache, X, y, groups=groups, **params)
    return model.fit(X, y, **params, **fit_in_groups(model, X, y, groups))
