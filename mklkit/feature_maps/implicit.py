"""The implicit map: a row's columns are its similarities to the training rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np

from mklkit.protocols import Array, FeatureMapFacts, FittedKernel
from mklkit.protocols.component import Component
from mklkit.registry.hookspecs import hookimpl

__all__ = ["FittedImplicit", "Implicit"]


@attrs.frozen
class Implicit(Component):
    """Similarities to the training rows, without explicit features (implicit kernel map, IKM).

    For learners that work on Gram matrices, such as ``svm`` and ``kmhks``.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.kernels.linear import Linear
    >>> rows = np.array([[1.0], [2.0]])
    >>> fitted = Implicit().fit(Linear().fit(rows), rows, np.random.RandomState(0))
    >>> fitted.transform(np.array([[3.0]]))
    array([[3., 6.]])
    """

    name: ClassVar[str] = "implicit"
    facts: ClassVar[FeatureMapFacts] = FeatureMapFacts(explicit=False, instead="empirical")

    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedImplicit:
        """Return the map on these training rows (N, d), without any computation."""
        return FittedImplicit(kernel, rows)


@attrs.frozen(eq=False)
class FittedImplicit:
    """The kernel with its training rows."""

    explicit: ClassVar[bool] = False

    kernel: FittedKernel
    landmarks: Array

    def transform(self, rows: Array) -> Array:
        """Return the similarities (n, N) of rows (n, d) to the training rows."""
        return self.kernel(rows, self.landmarks)

    def from_similarities(self, values: Array) -> Array:
        """Return the columns, given the similarities to the landmarks: themselves."""
        return values

    def with_landmarks(self, landmarks: Array) -> FittedImplicit:
        """Return the map on other rows, such as the support vectors alone."""
        return FittedImplicit(self.kernel, landmarks)


@hookimpl
def mklkit_feature_maps() -> Iterable[type]:
    """Register the map."""
    return [Implicit]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the types that it stores in a model file."""
    return [FittedImplicit]
