"""The weighted sum of views as one training side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from mklkit.numerics.least_squares import NormalMatrix
from mklkit.protocols import Array, FittedKernel
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.sides import Side, weighted_gram

__all__ = ["WeightedViews"]


class SeenView(Protocol):
    """What the sum needs of a view."""

    @property
    def seen(self) -> tuple[FittedKernel, Array]:
        """The kernel that a learner sees, and the rows that it takes."""
        ...

    def features(self) -> Array:
        """Return the features (N, p) of the training rows."""
        ...

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` with the column sums."""
        ...


class SeenViews(Protocol):
    """What the sum needs of all views, such as a ``ViewSet``."""

    rows: Array
    explicit: bool

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> SeenView: ...
    def __iter__(self) -> Iterator[SeenView]: ...


class WeightedViews(Side):
    """The sum Σ w_m K_m as a training side: one Gram matrix, or scaled features side by side.

    Parameters
    ----------
    views : ViewSet
    weights : ndarray of shape (M,)
        Must not be negative where the views are explicit.
    """

    def __init__(self, views: SeenViews, weights: Array) -> None:
        super().__init__()
        self.views = views
        self.weights = np.asarray(weights, dtype=np.float64)
        self.explicit = views.explicit
        self.n_rows = len(views.rows)
        self._gram: Array | None = None
        self._features: Array | None = None

    def gram(self, keep: bool = True) -> Array:
        """Return Σ w_m K_m, (N, N): one matrix, summed tile by tile."""
        if self._gram is not None:
            return self._gram
        used = [m for m in range(len(self.views)) if self.weights[m] != 0]
        if used:
            seen = KernelRows.of(*zip(*(self.views[m].seen for m in used), strict=True))
            gram = weighted_gram(seen, self.weights[used])
        else:
            gram = np.zeros((self.n_rows, self.n_rows))
        if keep:
            self._gram = gram
        return gram

    def features(self) -> Array:
        """Return the features √w_m Φ_m side by side, (N, Σp)."""
        if self._features is None:
            roots = np.sqrt(self.weights)
            used = [(roots[m], view) for m, view in enumerate(self.views) if roots[m] != 0]
            self._features = np.hstack([root * view.features() for root, view in used])
        return self._features

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features``; if one view has all weight, its own."""
        used = np.flatnonzero(self.weights)
        if self._normal is None and len(used) == 1:
            own = self.views[int(used[0])].normal_matrix()
            weight = self.weights[used[0]]
            self._normal = NormalMatrix(
                weight * own.products, np.sqrt(weight) * own.sums, own.n_rows
            )
        return super().normal_matrix()
