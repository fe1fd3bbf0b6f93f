"""The views for combiners and learners: kernels on the training rows of one problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix, Spectrum
from mklkit.protocols.kernel import FittedKernel, FittedMap
from mklkit.protocols.missing_sources import Mask, zeroed
from mklkit.protocols.rows import Array, Reads, Rows

__all__ = [
    "KernelProducts",
    "KernelView",
    "Projector",
    "Quadrant",
    "Quadrants",
    "TrainingView",
    "Views",
]


class TrainingView(Protocol):
    """A learner's input from a view's training rows: features, or a Gram matrix.

    Learners on features use ``normal_matrix``, ``project`` and ``project_back``, each a sum or a
    map over blocks of rows; learners on similarities use the Gram matrix.
    """

    explicit: bool
    n_rows: int

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix (N, N) that a learner sees: of the kernel, or ΦΦᵀ of features.

        It is kept unless ``keep=False``.
        """

    def features(self) -> Array:
        """Return the features Φ (N, p) of the training rows, if ``explicit``."""

    @property
    def n_features(self) -> int:
        """The number of features p, if ``explicit``."""

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, p) of some training rows, if ``explicit``."""

    def restricted(self, members: NDArray[np.intp]) -> TrainingView:
        """Return the features of some training rows as a training side, if ``explicit``."""

    def map_features(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of each block's columns (n, p) or (n, N), joined to (N, ...)."""

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` (p, p) with the features' column sums (p,)."""

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``: (N,), or (N, k) for k columns."""

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``: (p,), or (p, k) for k columns."""

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return counts, sums and products of the features per class, if ``explicit``.

        The classes have labels −1 and +1, in this order; without labels all rows are one class.
        A row of weight 2 counts as two; ``row_weights`` (N,) are above 0. An implicit map raises an
        IncompatibleError.
        """

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ (p, p) and ΦᵀT (p, k) in float64, if ``explicit``.

        ``row_weights`` (N,), the diagonal of W, are not negative; ``targets`` are (N, k). Rows
        whose weight and target are zero are skipped.
        """

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal or Gram matrix, computed once."""


@attrs.frozen
class Quadrant:
    """The values of one block of a Gram matrix: mean μ, standard deviation σ, quartiles.

    ``quartiles()`` returns the lower and the upper one. They cost further passes over the block and
    are computed when first asked for.
    """

    mean: float
    deviation: float
    quartiles: Callable[[], Sequence[float]] = attrs.field(
        repr=False, eq=lambda quartiles: tuple(quartiles())
    )

    @property
    def interquartile_range(self) -> float:
        """The distance of the quartiles (IQR)."""
        lower, upper = self.quartiles()
        return upper - lower


@attrs.frozen
class Quadrants:
    """The blocks of a Gram matrix by class; class 1 is the positive one (paper 003, Figure 1).

    Blocks include their diagonals. The fourth, class 2 × class 1, is the transpose of the second.
    """

    within_positive: Quadrant
    """q₁: class 1 × class 1."""
    between: Quadrant
    """q₂: class 1 × class 2."""
    within_negative: Quadrant
    """q₄: class 2 × class 2."""


@attrs.frozen(eq=False)
class KernelProducts:
    """Inner products of M kernels K_m/s_m with each other and with the labels."""

    products: Array
    """⟨K_k, K_l⟩/(s_k s_l), (M, M); zero for a kernel that is constant up to rounding."""
    with_labels: Array
    """yᵀK_m y/s_m, (M,)."""
    sizes: Array
    """s (M,), about the largest value of each kernel: products of values near 1e200 stay finite."""

    def alignments(self) -> Array:
        """Return ⟨K_k, K_l⟩/(‖K_k‖‖K_l‖) (M, M), 0 for a kernel of zeros."""
        norms = np.sqrt(np.diag(self.products))
        scale = np.outer(norms, norms)
        cosines = np.divide(self.products, scale, where=scale > 0, out=np.zeros_like(scale))
        return np.clip(cosines, -1, 1)

    def label_alignments(self, labels: Array, row_weights: Array | None = None) -> Array:
        """Return ⟨K, yyᵀ⟩/(‖K‖‖y‖²) per kernel (M,), 0 for a kernel of zeros.

        If the products are weighted by rows, ‖y‖² must be too.
        """
        weighted = labels if row_weights is None else row_weights * labels
        norms = np.sqrt(np.diag(self.products)) * float(weighted @ labels)
        return np.divide(self.with_labels, norms, where=norms > 0, out=np.zeros(len(norms)))


@attrs.frozen(eq=False)
class Projector:
    """The part of a view that a fitted model keeps to turn new rows into columns."""

    label: str
    """The kernel's name in results."""
    columns: NDArray[np.intp] | None
    """Its columns; None for all of them."""
    map: FittedMap
    reads: Reads = "numbers"
    allows_gaps: bool = False
    """Whether its columns may have gaps, NaN."""
    missing: Mask = None
    """Which training samples (N,) miss the source, if columns are similarities to these."""

    def transform(self, rows: Array | Rows) -> Array:
        """Return the view's columns (n, p) or (n, N) for new rows (n, d) of all features."""
        rows = Rows.of(rows)
        (array,), missing = rows.arrays_of([self]), rows.missing_of([self])
        columns = self.map.transform(array)
        if missing is None and self.missing is None:
            return columns
        return zeroed(np.array(columns), None if missing is None else missing[:, 0], self.missing)


class KernelView(TrainingView, Protocol):
    """One kernel with one feature map on the training rows.

    Every quantity is computed once, on first use, together with those that other views share.
    """

    label: str
    """The kernel's name in results."""
    kernel: FittedKernel
    rows: Array
    """(N, d): the training rows, restricted to the kernel's own columns."""
    projector: Projector
    kernel_rows: Any
    """The kernel on the training rows, in the form for computing tiles (``KernelRows``)."""

    @property
    def sees_features(self) -> bool:
        """Whether learners see ΦΦᵀ of an explicit map's features instead of the kernel itself."""

    @property
    def members(self) -> NDArray[np.intp] | None:
        """The rows (n,) that have its source; None if all do, or fewer than two."""

    @property
    def present(self) -> KernelView:
        """This view on its members; the view itself if these are None."""

    def restricted(self, members: NDArray[np.intp]) -> KernelView:
        """Return only this view on some of the rows, with the map fitted to all of them."""

    def quadrants(self, y: Array) -> Quadrants:
        """Return the statistics of the Gram matrix's blocks by class."""

    def label_alignment(
        self, y: Array, centered: bool = False, row_weights: Array | None = None
    ) -> float:
        """Return the alignment of the Gram matrix with the label kernel yyᵀ.

        With weights of rows (N,), a row of weight 2 counts as the same row twice.
        """


class Views(Protocol):
    """The views of one problem, a sequence on the same training rows."""

    rows: Any
    """(N, d): the training samples with all columns (``Rows``); an array of numbers for gates."""
    explicit: bool
    """Whether the views have features; otherwise learners see Gram matrices."""

    @property
    def missing(self) -> Mask:
        """Which training samples miss each view's source (N, M); None if they have everything."""

    @property
    def labels(self) -> list[str]:
        """The kernels' names in results."""

    def __len__(self) -> int:
        """Return the number of views M."""

    def __iter__(self) -> Iterator[KernelView]:
        """Iterate over the views."""

    def __getitem__(self, index: int, /) -> KernelView:
        """Return the view at a position."""

    def restricted(self, members: NDArray[np.intp]) -> Views:
        """Return the views on some of the rows."""

    def weighted(self, weights: Array) -> TrainingView:
        """Return the weighted sum of the kernels as one training side."""

    @property
    def learner_kernels(self) -> Any:
        """The kernels that learners work on, on the rows of each (``KernelRows``)."""

    def products(self, y: Array | None = None) -> KernelProducts:
        """Return the centred kernels' inner products, with each other and with labels, if given."""
