"""The features of a side, one view or several scaled views, as columns of blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs
import numpy as np

from mklkit.protocols import Array
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.projections import BackProjection, Projection

__all__ = ["BlockColumns", "InBlocks"]


@attrs.frozen(eq=False)
class BlockColumns:
    """Features √w_m Φ_m side by side, (N, Σp), never as one array.

    Attributes
    ----------
    blocks : FeatureBlocks
    used : sequence of int
        The views.
    roots : sequence of float
        √w_m.
    """

    blocks: FeatureBlocks
    used: Sequence[int]
    roots: Sequence[float]

    @property
    def widths(self) -> list[int]:
        """The number of columns of each view."""
        return [self.blocks.widths[index] for index in self.used]

    def project(self, coefficients: Array) -> Array:
        """Return the products (N,) or (N, k) with coefficients (Σp,) or (Σp, k)."""
        parts = self._parts(coefficients)
        return self.blocks.project(dict(zip(self.used, parts, strict=True)))

    def project_back(self, targets: Array) -> Array:
        """Return the products (Σp,) or (Σp, k) with targets (N,) or (N, k)."""
        return self._joined(self.blocks.project_back(self.used, targets))

    def projection(self, coefficients: Array) -> Projection:
        """Return the products with coefficients as a function of one block of rows."""
        return Projection.of(self.blocks.projectors_of(self.used), self._parts(coefficients))

    def back_projection(self) -> tuple[BackProjection, Callable[[Sequence[Array]], Array]]:
        """Return the sums of one block's products with targets, and what finishes their total."""
        back = BackProjection(self.blocks.projectors_of(self.used))

        def finish(sums: Sequence[Array]) -> Array:
            return self._joined(back.finish(sums))

        return back, finish

    def _parts(self, coefficients: Array) -> list[Array]:
        parts = np.split(coefficients, np.cumsum(self.widths)[:-1])
        return [root * part for root, part in zip(self.roots, parts, strict=True)]

    def _joined(self, products: Sequence[Any]) -> Array:
        scaled = [root * product for root, product in zip(self.roots, products, strict=True)]
        return scaled[0] if len(scaled) == 1 else np.concatenate(scaled)


@runtime_checkable
class InBlocks(Protocol):
    """A training side whose features are read block by block."""

    @property
    def block_columns(self) -> BlockColumns:
        """The features."""
        ...
