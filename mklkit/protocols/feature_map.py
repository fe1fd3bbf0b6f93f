"""Feature maps: how a kernel becomes columns, and what fitted maps may offer to save work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import attrs
import numpy as np

from mklkit.protocols.component import Component
from mklkit.protocols.kernel import FittedKernel
from mklkit.protocols.rows import Array

__all__ = ["FeatureMap", "FittedMap"]


class FittedMap(ABC):
    """A feature map fitted to training rows.

    ``transform`` is enough. The other methods save work: mklkit calls those on similarities where
    ``from_landmarks`` is True, and those on sums where ``linear`` is True too.
    """

    __slots__ = ()

    explicit: ClassVar[bool]
    """Whether ``transform`` returns features, not similarities to the training rows."""

    from_landmarks: ClassVar[bool] = False
    """Whether columns follow from the similarities to ``landmarks`` alone. Kernels of several such
    maps are evaluated together where they share base quantities."""

    linear: ClassVar[bool] = False
    """Whether the features Φ = KW are linear in these similarities K. Products of features with
    vectors then need no features: Φw = K(Ww) and Φᵀt = Wᵀ(Kᵀt)."""

    kernel: FittedKernel
    landmarks: Array

    @abstractmethod
    def transform(self, rows: Array) -> Array:
        """Return the columns of new rows: (n, p) features or (n, N) similarities."""

    def from_similarities(self, values: Array) -> Array:
        """Return the columns, given the similarities to the landmarks: themselves by default."""
        return values

    def with_landmarks(self, landmarks: Array) -> Self:
        """Return an implicit map on some of its training rows, the support vectors."""
        return attrs.evolve(self, landmarks=landmarks)  # type: ignore[misc]

    def on_similarities(self, coefficients: Array) -> Array:
        """Return Ww, the coefficients (p,) or (p, k) of similarities, for those of features."""
        raise NotImplementedError

    def from_sums(self, sums: Array) -> Array:
        """Return WᵀS: the sums (r,) or (r, k) over features, for sums S over similarities."""
        raise NotImplementedError

    def training_features(self) -> Array | None:
        """Return the features of the training rows (N, p), where ``fit`` has stored them."""
        return None

    def squared_lengths(self) -> Array | None:
        """Return the diagonal (p,) of ``features.T @ features``; None where it is not diagonal."""
        return None


class FeatureMap(Component, ABC):
    """How a kernel becomes columns; its ``facts`` are a :class:`mklkit.plugin.FeatureMapFacts`."""

    __slots__ = ()

    @abstractmethod
    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedMap:
        """Return the map fitted on the training rows (N, d)."""

    def fit_all(
        self,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        random_state: np.random.RandomState,
    ) -> Iterator[FittedMap]:
        """Yield the maps of all kernels, in their order; rows are (N, d_m) for each kernel.

        For maps whose random draw is shared by all kernels.
        """
        for kernel, columns in zip(kernels, rows, strict=True):
            yield self.fit(kernel, columns, random_state)
