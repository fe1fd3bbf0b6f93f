"""Views: kernels with a feature map on the training rows.

A view computes each quantity once. Gram matrices, tile statistics and eigendecompositions are all
taken from the view, so that methods, grids and folds can share them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.protocols import (
    Array,
    FittedKernel,
    Projector,
    Quadrants,
)
from mklkit.views.block_columns import BlockColumns
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import InnerProduct, KernelRows
from mklkit.views.memory import check_gram_fits
from mklkit.views.rows import rows_at
from mklkit.views.sides import Side
from mklkit.views.statistics import SharedStatistics
from mklkit.views.tiles import weighted_gram

__all__ = ["View"]


class View(Side):
    """One kernel through one feature map on the training rows.

    Attributes
    ----------
    label : str
        The kernel's name in results.
    kernel : FittedKernel
    own : KernelRows
        The kernel on the training rows, restricted to its own columns.
    rows : ndarray or RowSource of shape (N, d)
        The training rows, restricted to the kernel's own columns.
    """

    def __init__(
        self,
        projector: Projector,
        kernel: FittedKernel,
        rows: Any,
        shared: SharedStatistics,
        of_features: FeatureStatistics | None,
        index: int,
    ) -> None:
        self.own = shared.seen.only(index)
        self.label = projector.label
        self.projector = projector
        self.kernel = kernel
        self.rows = rows
        self.n_rows = len(rows)
        self.explicit = projector.map.explicit
        self._shared = shared
        self._of_features = of_features
        self._index = index
        self._gram: Array | None = None

    @cached_property
    def seen(self) -> KernelRows:
        """The kernel that a learner works on, on its rows (N, ·).

        On an explicit map that is ΦΦᵀ, the inner product of the features. Where the features
        reproduce the view's own kernel, as on a full empirical map, it is that kernel, which takes
        less time and shares work with others.
        """
        if self.sees_features:
            return KernelRows.of([InnerProduct()], [self.features()])
        return self.own

    @cached_property
    def sees_features(self) -> bool:
        """Whether :attr:`seen` is the inner product of the features."""
        return self.explicit and not self._reproduces_kernel()

    def _reproduces_kernel(self) -> bool:
        features = self.of_features.blocks.remembered(self._index)
        if features is None:
            return False
        # The part of a positive semi-definite kernel that a map drops is positive semi-definite,
        # and zero where its diagonal is zero.
        diagonal = self.kernel.diagonal(rows_at(self.rows, slice(0, self.n_rows)))
        gap = np.abs(np.einsum("ij,ij->i", features, features) - diagonal).max()
        return bool(gap <= np.sqrt(np.finfo(features.dtype).eps) * np.abs(diagonal).max())

    @property
    def of_features(self) -> FeatureStatistics:
        """The features of all views, and their statistics.

        Raises
        ------
        IncompatibleError
            If the map is implicit.
        """
        if self._of_features is None:
            raise IncompatibleError("This view has no features: its feature map is implicit.")
        return self._of_features

    @property
    def n_bytes(self) -> int:
        """The memory of the Gram matrix and its eigenvectors, where they are kept."""
        spectrum = 0 if self._spectrum is None else self._spectrum.vectors.nbytes
        return spectrum + (0 if self._gram is None else self._gram.nbytes)

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix (N, N) that a learner sees: of the kernel, or ΦΦᵀ of features.

        Parameters
        ----------
        keep : bool, default=True
            Whether the view keeps it. Combiners that use each kernel once pass False, so
            that no more than one matrix is in memory at a time.
        """
        if self._gram is not None:
            return self._gram
        if self.explicit:  # Estimators check it in advance on implicit maps.
            check_gram_fits(self.n_rows, self.rows.dtype.itemsize)
        gram = weighted_gram(self.seen, np.ones(1))
        if keep:
            self._gram = gram
        return gram

    def features(self) -> Array:
        """Return the features (N, p) of the training rows, in one array."""
        return self.of_features.blocks.features(self._index)

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, p) of some training rows."""
        return self.of_features.blocks.some_features(self._index, members)

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features``; for orthogonal features only its diagonal, in O(p)."""
        if self._normal is None:
            fitted, whole = self.projector.map, not self.of_features.blocks.is_part
            diagonal = fitted.squared_lengths() if whole else None
            if diagonal is not None:
                self._normal = NormalMatrix(diagonal, self.features().sum(axis=0), self.n_rows)
            else:
                self._normal = self.of_features.normal_matrix(self._index)
        return self._normal

    @property
    def n_features(self) -> int:
        """The number of features p."""
        return self.of_features.blocks.widths[self._index]

    @property
    def block_columns(self) -> BlockColumns:
        """The features, block by block."""
        return BlockColumns(self.of_features.blocks, [self._index], [1.0])

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``, block by block, in O(Np)."""
        return self.of_features.blocks.project({self._index: coefficients})

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``, block by block, in O(Np)."""
        return self.of_features.blocks.project_back([self._index], targets)[0]

    def map_features(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the features, applied block by block."""
        return self.of_features.blocks.map(function, self._index)

    def restricted(self, members: NDArray[np.intp]) -> View:
        """Return this view alone on some of its rows, whose features are made block by block."""
        blocks = None
        if self._of_features is not None:
            blocks = FeatureStatistics(self.of_features.blocks.only(self._index).take(members))
        kernel_rows = self.own.take_rows(members)
        shared = SharedStatistics(kernel_rows)
        return View(self.projector, self.kernel, kernel_rows.arrays[0], shared, blocks, 0)

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ and ΦᵀT, block by block, in O(np²) for n rows of non-zero weight."""
        return self.of_features.blocks.weighted_products([self._index], row_weights, targets)

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return the moments of the features, by class for labels −1 and +1, in O(Np²)."""
        return self.of_features.class_moments([self._index], y, row_weights)

    def quadrants(self, y: Array) -> Quadrants:
        """Return the statistics of the blocks by class, computed once for all kernels together.

        On features, means and deviations are exact, from one pass over the rows; quartiles are
        those of a sample of at most 20,000 rows per class.
        """
        if self.sees_features:
            return self.of_features.quadrants(y)[self._index]
        return self._shared.quadrants(y)[self._index]

    def label_alignment(
        self, y: Array, centered: bool = False, row_weights: Array | None = None
    ) -> float:
        """Return the alignment with the label kernel, computed once for all kernels together.

        On features in O(Np²).
        """
        if self.sees_features:
            return self.of_features.alignment(self._index, y, centered, row_weights)
        return self._shared.alignments(y, centered, row_weights)[self._index]
