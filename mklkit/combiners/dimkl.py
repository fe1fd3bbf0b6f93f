"""DiMKL: weights from the divergence between the classes (Price et al. 2022).

DiMKL 1–5 compare the blocks of a Gram matrix, DiMKL 6 the classes in feature space.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np
from attrs.validators import ge, gt, in_, instance_of

from mklkit.combiners.templates.weighting import WeightingCombiner, weighting_rule
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.eigenpairs import eigh
from mklkit.numerics.gram_tiles import centered_gram
from mklkit.protocols import Array, CombinerTraits, KernelView, Quadrant, Quadrants, Views
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register


def _separation(between: Quadrant, spread: float, within: Quadrant) -> float:
    """Return exp(−(μ₂ − spread₂)²/(2σ₁))."""
    with np.errstate(all="ignore"):
        gap = np.float64(between.mean - spread)
        # Divided before squaring: at 1e200 the square alone would overflow to infinity.
        return float(np.exp(-(gap / (2 * np.float64(within.deviation))) * gap))


@register
@weighting_rule("dimkl1")
def dimkl1(view: KernelView, y: Array) -> float:
    """Class separation without normality, exp(−(μ₂ − IQR₂)²/(2σ₁)) (Price et al. 2022, eq. 5).

    μ₂ and IQR₂ are the mean and interquartile range of the similarities between the classes, σ₁ is
    the standard deviation of those within the positive class.

    See Also
    --------
    dimkl2 : The same under normality.

    Notes
    -----
    Cost: O(N²) per kernel, in a few passes over its tiles for the quartiles.

    References
    ----------
    .. [1] S. R. Price, D. T. Anderson, T. C. Havens and S. R. Price, "Kernel matrix-based heuristic
       multiple kernel learning", Mathematics 10 (2022), 2026.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier(["rbf(sigma='mean')", "rbf(sigma='10*mean')"], combiner="dimkl1")
    >>> weights = model.fit(X, y).weights_[0]
    >>> bool(weights[0] > weights[1])
    True
    """
    blocks = view.quadrants(y)
    return _separation(blocks.between, blocks.between.interquartile_range, blocks.within_positive)


@register
@weighting_rule("dimkl2", from_moments=True)
def dimkl2(view: KernelView, y: Array) -> float:
    """Class separation under normality, exp(−(μ₂ − σ₂)²/(2σ₁)) (Price et al. 2022, eq. 6).

    μ₂ and σ₂ are the mean and standard deviation of the similarities between the classes, σ₁ is the
    standard deviation of those within the positive class.

    See Also
    --------
    dimkl1 : The same without normality.

    Notes
    -----
    Cost: O(N²) per kernel, one pass over its tiles; O(Np²) on p features.

    References
    ----------
    .. [1] S. R. Price, D. T. Anderson, T. C. Havens and S. R. Price, "Kernel matrix-based heuristic
       multiple kernel learning", Mathematics 10 (2022), 2026.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier(["rbf(sigma='mean')", "rbf(sigma='10*mean')"], combiner="dimkl2")
    >>> weights = model.fit(X, y).weights_[0]
    >>> bool(weights[0] > weights[1])
    True
    """
    blocks = view.quadrants(y)
    return _separation(blocks.between, blocks.between.deviation, blocks.within_positive)


@register
@weighting_rule("dimkl3")
def dimkl3(view: KernelView, y: Array) -> float:
    """Weight by |d₁ − d₂|, with d = mean − IQR of similarities (Price et al. 2022, eq. 8).

    The similarities are those within the positive class and between the classes. The printed
    formula lacks its signs; this reading follows the text: "the Euclidean distance between d1 and
    d2", near 1 in the best case.

    See Also
    --------
    dimkl4 : The distance of the means.

    Notes
    -----
    Cost: O(N²) per kernel, in a few passes over its tiles for the quartiles.

    References
    ----------
    .. [1] S. R. Price, D. T. Anderson, T. C. Havens and S. R. Price, "Kernel matrix-based heuristic
       multiple kernel learning", Mathematics 10 (2022), 2026.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier(["rbf(sigma='mean')", "rbf(sigma='10*mean')"], combiner="dimkl3")
    >>> weights = model.fit(X, y).weights_[0]
    >>> bool(weights[0] > weights[1])
    True
    """
    blocks = view.quadrants(y)
    within = blocks.within_positive.mean - blocks.within_positive.interquartile_range
    between = blocks.between.mean - blocks.between.interquartile_range
    return abs(within - between)


@register
@weighting_rule("dimkl4")
def dimkl4(view: KernelView, y: Array) -> float:
    """Distance of the means, |μ₁ − μ₂|/√(IQR₁ + IQR₂) (Price et al. 2022, eq. 9).

    μ and IQR are the mean and interquartile range of the similarities within the positive class (1)
    and between the classes (2).

    See Also
    --------
    dimkl3 : The distance of the overlaps.

    Notes
    -----
    Cost: O(N²) per kernel, in a few passes over its tiles for the quartiles.

    References
    ----------
    .. [1] S. R. Price, D. T. Anderson, T. C. Havens and S. R. Price, "Kernel matrix-based heuristic
       multiple kernel learning", Mathematics 10 (2022), 2026.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier(["rbf(sigma='mean')", "rbf(sigma='10*mean')"], combiner="dimkl4")
    >>> weights = model.fit(X, y).weights_[0]
    >>> bool(weights[0] > weights[1])
    True
    """
    blocks = view.quadrants(y)
    gap = abs(blocks.within_positive.mean - blocks.between.mean)
    spread = blocks.within_positive.interquartile_range + blocks.between.interquartile_range
    with np.errstate(all="ignore"):
        return float(np.float64(gap) / np.sqrt(spread))


@register
@attrs.frozen
class DiMKL5(WeightingCombiner):
    """Bhattacharyya divergence of the blocks of a Gram matrix (Price et al. 2022, eq. 10).

    The weight is (b₁ + b₂)/(b₁ + b₂ + σ₁ + σ₂ + σ₃), with the distances b₁ and b₂ of the
    similarities within each class from those between the classes, and the standard deviations σ of
    the blocks.

    Parameters
    ----------
    distance : {"bhattacharyya", "printed"}, default="bhattacharyya"
        The distance b of two blocks: the Bhattacharyya distance of normal distributions, with ½
        ln[(σ₁²+σ₂²)/(2σ₁σ₂)], or as the paper prints it, with ½ ln[(σ₁²+σ₂²)/(2σ₁²σ₂²)].

    See Also
    --------
    DiMKL6 : The distance of the classes in feature space.

    Notes
    -----
    Cost: O(N²) per kernel.

    The printed logarithm is not a distance: it depends on the scale of the kernel and is not zero
    for equal blocks. With it the weights are within 0.05 of the paper's Tables 7 to 9, while those
    of the distance are up to 0.39 away; the weights of kernels with small standard deviations then
    hardly differ. If it makes b₁ + b₂ negative, the weight is zero.

    References
    ----------
    .. [1] S. R. Price, D. T. Anderson, T. C. Havens and S. R. Price, "Kernel matrix-based heuristic
       multiple kernel learning", Mathematics 10 (2022), 2026.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(["linear", "rbf"], combiner=DiMKL5(distance="printed"))
    >>> model.fit(X, y).weights_.shape
    (3, 2)
    """

    name: ClassVar[str] = "dimkl5"
    traits: ClassVar[CombinerTraits] = CombinerTraits(from_moments=True, row_weights="learner")

    distance: Literal["bhattacharyya", "printed"] = attrs.field(
        default="bhattacharyya", validator=in_(("bhattacharyya", "printed"))
    )

    def weights(self, views: Views, y: Array) -> Array:
        """Return the weights (M,) before they are divided by their sum."""
        return np.array([self._share(view.quadrants(y)) for view in views])

    def _share(self, blocks: Quadrants) -> float:
        distance = bhattacharyya if self.distance == "bhattacharyya" else printed_distance
        divergence = distance(blocks.within_positive, blocks.between) + distance(
            blocks.within_negative, blocks.between
        )
        # σ₃ = σ₂: the third block is the transpose of the second.
        spread = blocks.within_positive.deviation + 2 * blocks.between.deviation
        with np.errstate(all="ignore"):
            return float(np.maximum(divergence, 0.0) / (np.maximum(divergence, 0.0) + spread))


def bhattacharyya(within: Quadrant, between: Quadrant) -> np.float64:
    """Return ¼(μ₁−μ₂)²/(σ₁²+σ₂²) + ½ ln[(σ₁²+σ₂²)/(2σ₁σ₂)], without squares that overflow."""
    with np.errstate(all="ignore"):
        # The second logarithm is ln cosh x with x = ln(σ₁/σ₂). In this form it neither overflows
        # for ratios like 1e600 nor loses digits for ratios near one.
        x = abs(np.log(within.deviation) - np.log(between.deviation))
        return _of_means(within, between) + (x + np.log1p(np.expm1(-2 * x) / 2)) / 2


def printed_distance(within: Quadrant, between: Quadrant) -> np.float64:
    """Return ¼(μ₁−μ₂)²/(σ₁²+σ₂²) + ½ ln[(σ₁²+σ₂²)/(2σ₁²σ₂²)], as printed."""
    with np.errstate(all="ignore"):
        both = np.hypot(within.deviation, between.deviation)
        products = np.log(within.deviation) + np.log(between.deviation)
        return _of_means(within, between) + np.log(both) - np.log(2) / 2 - products


def _of_means(within: Quadrant, between: Quadrant) -> np.float64:
    gap = (within.mean - between.mean) / np.hypot(within.deviation, between.deviation)
    return np.float64(gap * gap / 4)


@register
@attrs.frozen
class DiMKL6(WeightingCombiner):
    """Bhattacharyya distance of the classes in feature space (Price et al. 2022, section 4).

    Each class is a normal distribution with its mean and a covariance that keeps the top
    eigenvectors and has variance ρ in all other directions (Zhou and Chellappa 2006).

    Parameters
    ----------
    rank : int, default=5
        The number r of eigenvectors kept per class covariance, at least 1.
    floor : float, default=1e-3
        The variance ρ in all other directions, in units of the kernel, above 0.

    See Also
    --------
    DiMKL5 : The divergence of the blocks of a Gram matrix.

    Notes
    -----
    Cost: O(N²) for one Gram matrix at a time, and the top r eigenpairs of each class;
    on p features O(Np² + p³) from sums over blocks of samples.

    References
    ----------
    .. [1] S. R. Price, D. T. Anderson, T. C. Havens and S. R. Price, "Kernel matrix-based heuristic
       multiple kernel learning", Mathematics 10 (2022), 2026.
    .. [2] S. K. Zhou and R. Chellappa, "From sample similarity to ensemble similarity:
       probabilistic distance measures in reproducing kernel Hilbert space", IEEE Transactions on
       Pattern Analysis and Machine Intelligence 28 (2006), 917–929.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(["linear", "rbf"], combiner=DiMKL6(rank=2))
    >>> model.fit(X, y).weights_.shape
    (3, 2)
    """

    name: ClassVar[str] = "dimkl6"
    traits: ClassVar[CombinerTraits] = CombinerTraits(from_moments=True, row_weights="learner")

    rank: int = attrs.field(default=5, converter=as_int, validator=[instance_of(int), ge(1)])
    floor: float = attrs.field(default=1e-3, converter=float, validator=[finite_number, gt(0)])

    def weights(self, views: Views, y: Array) -> Array:
        """Return the distances."""
        return np.array([self._distance(view, y) for view in views])

    def _distance(self, view: KernelView, y: Array) -> float:
        if view.sees_features:
            return bhattacharyya_of_moments(view.class_moments(y), self.rank, self.floor)
        return rkhs_bhattacharyya(view.gram(keep=False), y, self.rank, self.floor)


def rkhs_bhattacharyya(gram: Array, y: Array, rank: int = 5, floor: float = 1e-3) -> float:
    """Return the Bhattacharyya distance of two classes in a kernel's feature space.

    With the classes −1 and +1 of y (N,): ⅛ δᵀΣ⁻¹δ + ½ ln(|Σ|/√(|Σ₁||Σ₂|)), with δ the distance of
    the class means and Σ = (Σ₁ + Σ₂)/2, where eigenvalues e of a class covariance become
    max(e − ρ, 0) + ρ, and only the r largest are kept.

    Everything is computed from class Gram matrices: with B the stacked scaled eigenvectors,
    Σ = ρI + BBᵀ, and its inverse and determinant relative to ρI follow from the eigenpairs of BᵀB,
    of size 2r.
    """
    kept, excess = [], []
    for label in (1.0, -1.0):
        members = np.flatnonzero(y == label)
        above, coefficients = _class_spread(gram[np.ix_(members, members)], rank, floor)
        on_all_rows = np.zeros((len(y), len(above)))
        on_all_rows[members] = coefficients * np.sqrt(above / 2)
        kept.append(on_all_rows)
        excess.append(above)
    stacked = np.hstack(kept)
    means = np.where(y > 0, 1 / max((y > 0).sum(), 1), -1 / max((y < 0).sum(), 1))
    against = gram @ np.column_stack([stacked, means])
    inner = stacked.T @ against[:, :-1]
    cross = stacked.T @ against[:, -1]
    length = float(means @ against[:, -1])
    return _distance(inner, cross, length, np.concatenate(excess), floor)


def bhattacharyya_of_moments(moments: ClassMoments, rank: int = 5, floor: float = 1e-3) -> float:
    """Return :func:`rkhs_bhattacharyya` of ΦΦᵀ from the moments of the features of two classes."""
    kept, excess = [], []
    size = len(moments.origin)
    for code in (1, 0):
        top = (size - min(rank, size), size - 1)
        variances, vectors = eigh(moments.covariance(code), subset_by_index=top)
        above = variances > floor
        excess.append(variances[above] - floor)
        kept.append(vectors[:, above] * np.sqrt(excess[-1] / 2))
    stacked = np.hstack(kept)
    gap = moments.means[1] - moments.means[0]
    every = np.concatenate(excess)
    return _distance(stacked.T @ stacked, stacked.T @ gap, float(gap @ gap), every, floor)


def _distance(inner: Array, cross: Array, length: float, excess: Array, floor: float) -> float:
    """Return the distance for BᵀB, Bᵀδ, δᵀδ and the eigenvalues of both classes minus ρ."""
    values, vectors = eigh(inner)
    values = np.maximum(values, 0)
    # Divided before squaring: squares of values near 1e300 would overflow.
    explained = vectors.T @ cross / np.sqrt(floor + values)
    gap = (length - explained @ explained) / floor
    log_both = np.log1p(values / floor).sum()
    log_own = np.log1p(excess / floor).sum()
    # The terms can be negative only by rounding.
    return float(max(gap, 0.0) / 8 + max(log_both - log_own / 2, 0.0) / 2)


def _class_spread(gram: Array, rank: int, floor: float) -> tuple[Array, Array]:
    """Return the top eigenvalues of a class covariance minus ρ (r,), those above it, and its
    eigenvectors as coefficients (n, r) of the class's rows, from its Gram matrix (n, n).
    """
    n_rows = len(gram)
    top = (n_rows - min(rank, n_rows), n_rows - 1)
    values, vectors = eigh(centered_gram(gram), subset_by_index=top)
    # The covariance divides by n; its eigenvectors are Φᵀu/√(n·e) of the centred samples.
    variances = values / n_rows
    kept = variances > floor
    coefficients = vectors[:, kept] / np.sqrt(n_rows * variances[kept])
    return variances[kept] - floor, coefficients - coefficients.mean(axis=0)
