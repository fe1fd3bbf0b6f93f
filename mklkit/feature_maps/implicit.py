"""The implicit map: a sample's columns are its similarities to the training samples."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import attrs
import numpy as np

from mklkit.protocols import Array, FeatureMap, FeatureMapTraits, FittedKernel, FittedMap, SomeRows
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class Implicit(FeatureMap):
    """Similarities to the training samples, without explicit features (implicit kernel map, IKM).

    For learners that work on Gram matrices, such as ``svm`` and ``kmhks``.

    See Also
    --------
    Empirical : Explicit features of any kernel.

    Notes
    -----
    Cost: none to fit; a new sample is compared with all N training samples, O(Nd).

    Source: Z. Wang, S. Chen, T. Sun: MultiK-MHKS: A Novel Multiple Kernel Learning Algorithm. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 30 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.kernels import Linear
    >>> rows = np.array([[1.0], [2.0]])
    >>> fitted = Implicit().fit(Linear().fit(rows), rows, np.random.RandomState(0))
    >>> fitted.transform(np.array([[3.0]]))
    array([[3., 6.]])
    """

    name: ClassVar[str] = "implicit"
    traits: ClassVar[FeatureMapTraits] = FeatureMapTraits(
        explicit=False, instead="empirical", sparse=True
    )

    def fit(
        self, kernel: FittedKernel, rows: Array, random_state: np.random.RandomState
    ) -> FittedImplicit:
        """Return the map on these training samples (N, d), without any computation."""
        return FittedImplicit(kernel, rows)


@register
@attrs.frozen(eq=False)
class FittedImplicit(FittedMap):
    """The kernel with its training samples, an array or a part of an array that maps share."""

    explicit: ClassVar[bool] = False
    from_landmarks: ClassVar[bool] = True

    kernel: FittedKernel
    kept: Any

    @property
    def landmarks(self) -> Array:  # type: ignore[override]
        """The training samples (N, d)."""
        kept: Array = self.kept.read() if isinstance(self.kept, SomeRows) else self.kept
        return kept

    def with_landmarks(self, landmarks: Array) -> Self:
        """Return the map of other training samples."""
        return attrs.evolve(self, kept=landmarks)

    def with_shared(self, some: SomeRows) -> Self:
        """Return the map of some samples of a shared array."""
        return attrs.evolve(self, kept=some)

    def transform(self, rows: Array) -> Array:
        """Return the similarities (n, N) of samples (n, d) to the training samples."""
        return self.kernel(rows, self.landmarks)
