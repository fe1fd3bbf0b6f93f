"""The views for combiners and learners: kernels on the training samples of one problem."""

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
from mklkit.protocols.rows import Array, Reads, Rows, Transform

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
    """A learner's input from the training samples of a view: features, or a Gram matrix.

    Learners on features use :meth:`normal_matrix`, :meth:`project` and :meth:`project_back`, each a
    sum or a map over blocks of samples, so that features need not be in memory at once; learners on
    similarities use the Gram matrix. The views that a combiner gets also have ``label``,
    ``kernel``, ``rows`` (the training samples restricted to the kernel's columns), ``members`` (the
    samples that have its source), ``quadrants(y)`` and ``label_alignment(y)``.

    Attributes
    ----------
    explicit : bool
        Whether it has features.
    n_rows : int
        The number of training samples N.
    n_features : int
        The number of features p, if ``explicit``.
    has_gram : bool
        Whether some rows of the Gram matrix cost as much as the whole matrix.

    See Also
    --------
    FeatureSide : Features in memory as such an input.
    GramSide : A Gram matrix as such an input.
    Views.weighted : A weighted sum of kernels as such an input.

    Examples
    --------
    >>> from mklkit.views.sides import FeatureSide
    >>> side = FeatureSide(np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> side.n_features, side.project(np.array([1.0, 0.5])).tolist()
    (2, [1.0, 2.0])
    >>> side.gram().tolist()
    [[1.0, 1.0], [1.0, 5.0]]
    """

    explicit: bool
    n_rows: int

    @property
    def has_gram(self) -> bool:
        """Whether some rows of the Gram matrix cost as much as the whole matrix."""

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix that a learner gets: of the kernel, or ΦΦᵀ of features.

        Parameters
        ----------
        keep : bool, default=True
            Whether the matrix is kept for later calls.

        Returns
        -------
        ndarray of shape (N, N)
            The matrix.
        """

    def some_similarities(self, members: NDArray[np.intp]) -> Array:
        """Return rows of the Gram matrix, for learners that do not need all of them.

        Parameters
        ----------
        members : ndarray of int of shape (n,)
            Positions of training samples.

        Returns
        -------
        ndarray of shape (n, N)
            Their samples, in single precision if only these were computed.
        """

    def own_similarities(self) -> Array:
        """Return the diagonal of the Gram matrix.

        Returns
        -------
        ndarray of shape (N,)
            The similarity of each training sample with itself.
        """

    def features(self) -> Array:
        """Return the features Φ of the training samples.

        Returns
        -------
        ndarray of shape (N, p)
            The features.

        Raises
        ------
        IncompatibleError
            If the view is not ``explicit``.
        """

    @property
    def n_features(self) -> int:
        """The number of features p, if ``explicit``."""

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features of some training samples, if ``explicit``.

        Parameters
        ----------
        members : ndarray of int of shape (n,)
            Positions of training samples.

        Returns
        -------
        ndarray of shape (n, p)
            Their features.
        """

    def restricted(self, members: NDArray[np.intp]) -> TrainingView:
        """Return some training samples as a learner's input, if ``explicit``.

        Parameters
        ----------
        members : ndarray of int of shape (n,)
            Positions of training samples.

        Returns
        -------
        TrainingView
            Their features, by the same map.
        """

    def map_features(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the columns, computed block by block.

        Parameters
        ----------
        function : callable
            Takes the columns of a block, features (n, p) or similarities (n, N), and returns an
            array with one row per sample, such as the ``decide`` of a fitted learner.

        Returns
        -------
        ndarray of shape (N, ...)
            The values of all training samples.

        Raises
        ------
        IncompatibleError
            For a view with an implicit map, whose Gram matrix a :class:`GramSide` maps.
        """

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` with the features' column sums.

        Returns
        -------
        NormalMatrix
            ``products`` (p, p), or (p,) if the matrix is diagonal, and ``sums`` (p,).
        """

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``.

        Parameters
        ----------
        coefficients : ndarray of shape (p,) or (p, k)
            Weights of the features, one column per function.

        Returns
        -------
        ndarray of shape (N,) or (N, k)
            The values of the training samples.
        """

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``.

        Parameters
        ----------
        targets : ndarray of shape (N,) or (N, k)
            Values of the training samples.

        Returns
        -------
        ndarray of shape (p,) or (p, k)
            The products.
        """

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return counts, sums and products of the features per class.

        Parameters
        ----------
        y : ndarray of shape (N,), optional
            Labels −1 and +1, which are the classes in this order; without labels all samples are
            one class.
        row_weights : ndarray of shape (N,), optional
            Weights above 0; a sample of weight 2 counts as two.

        Returns
        -------
        ClassMoments
            ``counts`` (C,), ``means`` (C, p), and sums and products about an origin.

        Raises
        ------
        IncompatibleError
            If the view is not ``explicit``.
        """

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ and ΦᵀT in float64, if ``explicit``.

        Parameters
        ----------
        row_weights : ndarray of shape (N,)
            The diagonal of W, none negative.
        targets : ndarray of shape (N, k)
            T. Samples whose weight and target are zero are skipped.

        Returns
        -------
        products : ndarray of shape (p, p)
            ΦᵀWΦ.
        sums : ndarray of shape (p, k)
            ΦᵀT.
        """

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal matrix, or Gram matrix if implicit.

        Returns
        -------
        Spectrum
            ``values`` (r,), the largest first, and ``vectors``; computed once.
        """


@attrs.frozen
class Quadrant:
    """The statistics of one block of a Gram matrix: mean μ, standard deviation σ, quartiles.

    Parameters
    ----------
    mean : float
        The mean μ of the similarities.
    deviation : float
        Their standard deviation σ.
    quartiles : callable
        Returns the lower and the upper quartile. They cost further passes over the block and are
        computed when first requested.

    Attributes
    ----------
    interquartile_range : float
        The distance of the quartiles (IQR).

    Examples
    --------
    >>> Quadrant(0.5, 0.2, lambda: (0.25, 0.75)).interquartile_range
    0.5
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
    """The blocks of a Gram matrix by class; class 1 is the positive one.

    They are those of Figure 1 of Price et al. 2022, and include their diagonals. The fourth, class
    2 × class 1, is the transpose of the second.

    Parameters
    ----------
    within_positive : Quadrant
        The block q₁: class 1 × class 1.
    between : Quadrant
        The block q₂: class 1 × class 2.
    within_negative : Quadrant
        The block q₄: class 2 × class 2.
    """

    within_positive: Quadrant
    between: Quadrant
    within_negative: Quadrant


@attrs.frozen(eq=False)
class KernelProducts:
    """Inner products of M kernels K_m/s_m with each other and with the labels.

    Parameters
    ----------
    products : ndarray of shape (M, M)
        The products ⟨K_k, K_l⟩/(s_k s_l); zero for a kernel that is constant up to rounding.
    with_labels : ndarray of shape (M,)
        The products yᵀK_m y/s_m.
    sizes : ndarray of shape (M,)
        The sizes s, about the largest value of each kernel: products of values near 1e200 stay
        finite.

    Examples
    --------
    >>> inner = np.array([[4.0, 3.0], [3.0, 9.0]])
    >>> products = KernelProducts(inner, np.array([2.0, 0.0]), np.ones(2))
    >>> products.alignments().tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    products: Array
    with_labels: Array
    sizes: Array

    def alignments(self) -> Array:
        """Return the alignments ⟨K_k, K_l⟩/(‖K_k‖‖K_l‖) of the kernels.

        Returns
        -------
        ndarray of shape (M, M)
            Between −1 and 1; 0 for a kernel of zeros.
        """
        norms = np.sqrt(np.diag(self.products))
        scale = np.outer(norms, norms)
        cosines = np.divide(self.products, scale, where=scale > 0, out=np.zeros_like(scale))
        return np.clip(cosines, -1, 1)

    def label_alignments(self, labels: Array, row_weights: Array | None = None) -> Array:
        """Return the alignment ⟨K, yyᵀ⟩/(‖K‖‖y‖²) of each kernel with the labels.

        If the products are weighted by samples, ‖y‖² must be too.

        Parameters
        ----------
        labels : ndarray of shape (N,)
            Labels −1 and +1, or numbers.
        row_weights : ndarray of shape (N,), optional
            The sample weights by which the products are weighted.

        Returns
        -------
        ndarray of shape (M,)
            The alignments; 0 for a kernel of zeros.
        """
        weighted = labels if row_weights is None else row_weights * labels
        norms = np.sqrt(np.diag(self.products)) * float(weighted @ labels)
        return np.divide(self.with_labels, norms, where=norms > 0, out=np.zeros(len(norms)))


@attrs.frozen(eq=False)
class Projector:
    """The part of a view that a fitted model keeps to turn new samples into columns.

    Parameters
    ----------
    label : str
        The kernel's name in results.
    columns : ndarray of int, or None
        The positions of its columns; None for all of them.
    map : FittedMap
        The fitted feature map.
    reads : {"numbers", "amounts", "text", "categories", "row ids"}, default="numbers"
        What its columns hold.
    allows_gaps : bool, default=False
        Whether its columns may have missing values, NaN.
    missing : ndarray of bool of shape (N,), optional
        Which training samples miss the source, if columns are similarities to these.
    scaling : Transform, optional
        What is done to the columns before the kernel.
    sparse : bool, default=False
        Whether the map takes sparse columns.

    Examples
    --------
    >>> from mklkit.feature_maps import Implicit
    >>> from mklkit.kernels import Linear
    >>> rows = np.array([[1.0], [2.0]])
    >>> fitted = Implicit().fit(Linear().fit(rows), rows, np.random.RandomState(0))
    >>> Projector("second", np.array([1]), fitted).transform(np.array([[9.0, 3.0]])).tolist()
    [[3.0, 6.0]]
    """

    label: str
    columns: NDArray[np.intp] | None
    map: FittedMap
    reads: Reads = "numbers"
    allows_gaps: bool = False
    missing: Mask = None
    scaling: Transform | None = None
    sparse: bool = False

    def transform(self, rows: Array | Rows) -> Array:
        """Return the view's columns for new samples.

        Parameters
        ----------
        rows : Rows or ndarray of shape (n, d)
            Samples with all columns.

        Returns
        -------
        ndarray of shape (n, p) or (n, N)
            Features, or similarities to the training samples; zero where a source is missing.
        """
        rows = Rows.of(rows)
        (array,), missing = rows.arrays_of([self]), rows.missing_of([self])
        columns = self.map.transform(array)
        if missing is None and self.missing is None:
            return columns
        return zeroed(np.array(columns), None if missing is None else missing[:, 0], self.missing)


class KernelView(TrainingView, Protocol):
    """One kernel with one feature map on the training samples.

    Every quantity is computed once, on first use, together with those that other views share.
    """

    label: str
    """The kernel's name in results."""
    kernel: FittedKernel
    rows: Array
    """(N, d): the training samples, restricted to the kernel's own columns."""
    projector: Projector
    kernel_rows: Any
    """The kernel on the training samples, in the form for computing tiles (``KernelRows``)."""

    @property
    def sees_features(self) -> bool:
        """Whether learners see ΦΦᵀ of an explicit map's features instead of the kernel itself."""

    @property
    def members(self) -> NDArray[np.intp] | None:
        """The samples (n,) that have its source; None if all do, or fewer than two."""

    @property
    def present(self) -> KernelView:
        """This view on its members; the view itself if these are None."""

    def restricted(self, members: NDArray[np.intp]) -> KernelView:
        """Return only this view on some of the samples, with the map fitted to all of them."""

    def quadrants(self, y: Array) -> Quadrants:
        """Return the statistics of the Gram matrix's blocks by class."""

    def label_alignment(
        self, y: Array, centered: bool = False, row_weights: Array | None = None
    ) -> float:
        """Return the alignment of the Gram matrix with the label kernel yyᵀ.

        With sample weights (N,), a sample of weight 2 counts as the same sample twice.
        """


class Views(Protocol):
    """The views of one problem: M kernels, each with its feature map, on the same training samples.

    It is a sequence of views. mklkit makes it; a combiner gets it.

    Attributes
    ----------
    rows : Rows
        The N training samples with all columns; for the gates of a :class:`GatingCombiner` an array
        of numbers (N, d).
    explicit : bool
        Whether the views have features; otherwise learners get Gram matrices.
    missing : ndarray of bool of shape (N, M), or None
        Which training samples miss each view's source; None if nothing is missing.
    labels : list of str
        The kernels' names in results.
    learner_kernels : KernelRows
        The kernels that learners work on, with the samples of each.

    See Also
    --------
    TrainingView : One view, or a weighted sum of views.
    Combiner.fit : The method that takes them.

    Examples
    --------
    A weighting reads each view:

    >>> import attrs
    >>> from mklkit import MKLClassifier
    >>> from mklkit.plugin import WeightingCombiner
    >>> @attrs.frozen
    ... class Trace(WeightingCombiner):
    ...     name = "trace"
    ...     def weights(self, views, y):
    ...         return np.array([view.kernel.diagonal(view.rows).sum() for view in views])
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 0, 1, 1]
    >>> model = MKLClassifier(["linear", "rbf(sigma=1)"], combiner=Trace()).fit(X, y)
    >>> model.weights_.tolist()
    [[0.5, 0.5]]
    """

    rows: Any
    explicit: bool

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
        """Return the views on some of the samples.

        Parameters
        ----------
        members : ndarray of int of shape (n,)
            Positions of training samples.

        Returns
        -------
        Views
            Views with the same maps on these samples.
        """

    def weighted(self, weights: Array) -> TrainingView:
        """Return the weighted sum of the kernels, for a learner.

        Parameters
        ----------
        weights : ndarray of shape (M,)
            The weights, none negative.

        Returns
        -------
        TrainingView
            Σ w_m K_m, or the features √w_m φ_m side by side. Samples that miss sources are scaled
            by the weight of those that they have.
        """

    @property
    def learner_kernels(self) -> Any:
        """The kernels that learners work on, on the samples of each (``KernelRows``)."""

    def products(self, y: Array | None = None) -> KernelProducts:
        """Return the centred kernels' inner products, with each other and with labels.

        Parameters
        ----------
        y : ndarray of shape (N,), optional
            Labels −1 and +1, or numbers.

        Returns
        -------
        KernelProducts
            ``products`` (M, M), ``with_labels`` (M,), and from them ``alignments()`` and
            ``label_alignments(y)``.
        """
