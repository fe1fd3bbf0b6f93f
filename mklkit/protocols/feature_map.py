"""Feature maps: how a kernel becomes columns, and what fitted maps may offer to save work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from mklkit.protocols.arrays import Array
from mklkit.protocols.facts import FeatureMapFacts
from mklkit.protocols.kernel import FittedKernel

__all__ = [
    "FeatureMap",
    "FittedMap",
    "FoldedMap",
    "LandmarkMap",
    "MapForAll",
    "OrthogonalFeatures",
    "RememberedFeatures",
    "TrimmableMap",
]


class FittedMap(Protocol):
    """A feature map fitted to training rows."""

    explicit: bool
    """Whether ``transform`` returns features, not similarities to the training rows."""

    def transform(self, rows: Array) -> Array:
        """Return the columns of new rows: (n, p) features or (n, N) similarities."""
        ...


@runtime_checkable
class LandmarkMap(Protocol):
    """A fitted map that evaluates its kernel against landmark rows.

    Kernels of several such maps are evaluated together where they share base quantities.
    """

    kernel: FittedKernel
    landmarks: Array

    def from_similarities(self, values: Array) -> Array:
        """Return the columns, given the similarities to the landmarks."""
        ...


@runtime_checkable
class FoldedMap(LandmarkMap, Protocol):
    """A fitted landmark map whose features Φ = KW are linear in the similarities K.

    Products of features with vectors then need no features: Φw = K(Ww) and Φᵀt = Wᵀ(Kᵀt).
    """

    def on_similarities(self, coefficients: Array) -> Array:
        """Return Ww, the coefficients (p,) or (p, k) of similarities, for those of features."""
        ...

    def from_sums(self, sums: Array) -> Array:
        """Return WᵀS: the sums (r,) or (r, k) over features, for sums S over similarities."""
        ...


@runtime_checkable
class TrimmableMap(Protocol):
    """A fitted implicit map that can be reduced to some training rows, the support vectors."""

    landmarks: Array

    def transform(self, rows: Array) -> Array:
        """Return the similarities (n, N) of new rows to the training rows."""
        ...

    def with_landmarks(self, landmarks: Array) -> Self:
        """Return the same map with these landmarks."""
        ...


@runtime_checkable
class RememberedFeatures(Protocol):
    """A fitted explicit map that has stored the features of its training rows."""

    def training_features(self) -> Array | None:
        """Return the features of the training rows (N, p), or None if not stored."""
        ...


@runtime_checkable
class OrthogonalFeatures(Protocol):
    """A fitted explicit map whose feature columns are orthogonal on the training rows."""

    def squared_lengths(self) -> Array | None:
        """Return the diagonal (p,) of ``features.T @ features``; None where it is not diagonal."""
        ...


class FeatureMap(Protocol):
    """How a kernel becomes columns."""

    name: ClassVar[str]

    @property
    def facts(self) -> FeatureMapFacts:
        """The properties of the map."""
        ...

    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedMap:
        """Return the map fitted on the training rows (N, d)."""
        ...


@runtime_checkable
class MapForAll(Protocol):
    """A feature map whose random draw is shared by all kernels."""

    def fit_all(
        self,
        kernels: Sequence[FittedKernel],
        rows: Sequence[Array],
        random_state: np.random.RandomState,
    ) -> Iterator[FittedMap]:
        """Yield the maps of all kernels, in their order; rows are (N, d_m) for each kernel."""
        ...
