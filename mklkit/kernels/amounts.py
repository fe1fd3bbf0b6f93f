"""Kernels on amounts, such as counts and histograms."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from attrs.validators import instance_of
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel

from mklkit.errors import DataError
from mklkit.kernels.bandwidth import Bandwidth
from mklkit.protocols import Array, FittedKernel, FixedKernel, Kernel, KernelTraits
from mklkit.registry.hookspecs import register

CHI2_RULES = ("mean",)


def amounts(name: str, rows: Array) -> Array:
    """Return samples (n, q) in float64; raise an error that names the kernel if any is negative."""
    if rows.size and not rows.min() >= 0:
        raise DataError(
            f"{name} compares amounts, such as counts or shares, which are zero or above; got"
            f" {float(rows.min()):g}: choose unscaled columns of amounts for it."
        )
    return np.asarray(rows, dtype=np.float64)


def shares(rows: Array) -> Array:
    """Return amounts (n, q) divided by their sum in each sample; zeros stay unchanged."""
    sums = rows.sum(axis=1, dtype=np.float64)[:, None]
    return np.divide(rows, sums, where=sums > 0, out=np.zeros(rows.shape))


def ratio(common: Array, total: Array) -> Array:
    """Return ``common / total``, and 1 where the total is 0: two empty samples are equal."""
    return np.divide(common, total, where=total > 0, out=np.ones(np.shape(total)))


@attrs.frozen
class AmountKernel(FixedKernel):
    """Template: a kernel on amounts, numbers that are zero or above, that needs no training.

    A subclass implements :meth:`similar`; it is 1 for equal samples unless it overrides
    ``diagonal``. Negative numbers raise an error.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : KernelTraits
        With ``reads="amounts"``.

    See Also
    --------
    HistogramKernel : The template for kernels on the shares of each sample's sum.

    Examples
    --------
    >>> @attrs.frozen
    ... class SameZeros(AmountKernel):
    ...     name = "same-zeros"
    ...     def similar(self, a, b):
    ...         return ((a[:, None] == 0) == (b[None] == 0)).mean(axis=2)
    >>> rows = np.array([[0.0, 2.0], [0.0, 0.0]])
    >>> SameZeros().fit(rows)(rows, rows).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    traits: ClassVar[KernelTraits] = KernelTraits(reads="amounts")

    def fit(self, rows: Array) -> Self:
        """Return the kernel, if the samples are amounts.

        Parameters
        ----------
        rows : ndarray of shape (N, d)
            The training samples.

        Returns
        -------
        AmountKernel
            The kernel itself.

        Raises
        ------
        DataError
            If a number is negative.
        """
        amounts(self.name, rows)
        return self

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        return self.similar(self.prepared(a), self.prepared(b))

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each sample."""
        return np.ones(len(a))

    def prepared(self, rows: Array) -> Array:
        """Return the amounts to compare.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n, d)
            The same numbers.

        Raises
        ------
        DataError
            If a number is negative.
        """
        return amounts(self.name, rows)

    @abstractmethod
    def similar(self, a: Array, b: Array) -> Array:
        """Return the similarities of prepared samples.

        Parameters
        ----------
        a : ndarray of shape (n, d)
            Samples.
        b : ndarray of shape (m, d)
            Other samples.

        Returns
        -------
        ndarray of shape (n, m)
            The kernel's values.
        """


@attrs.frozen
class HistogramKernel(AmountKernel):
    """Template: a kernel on histograms, with k(x, x) the sum of a sample's amounts.

    Parameters
    ----------
    normalize : bool, default=True
        Whether the amounts of each sample are first divided by their sum, so that k(x, x) = 1.

    See Also
    --------
    AmountKernel : The base, with the method to implement.

    Examples
    --------
    The histogram intersection kernel:

    >>> @attrs.frozen
    ... class Intersection(HistogramKernel):
    ...     name = "intersection"
    ...     def similar(self, a, b):
    ...         return np.minimum(a[:, None], b[None]).sum(axis=2)
    >>> rows = np.array([[1.0, 3.0], [1.0, 1.0]])
    >>> Intersection().fit(rows)(rows, rows).tolist()
    [[1.0, 0.75], [0.75, 1.0]]
    """

    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def prepared(self, rows: Array) -> Array:
        """Return the amounts (n, q) to compare: counts, or shares of their sum."""
        counts = amounts(self.name, rows)
        return shares(counts) if self.normalize else counts

    def diagonal(self, a: Array) -> Array:
        """Return the sum of each sample: (n,)."""
        return self.prepared(a).sum(axis=1)


@register
@attrs.frozen
class Hellinger(HistogramKernel):
    """Bhattacharyya's coefficient of two samples of counts, k(x, z) = Σ_c √(x_c z_c).

    The linear kernel of the roots of the counts, whose variance hardly depends on their size.

    Parameters
    ----------
    normalize : bool, default=True
        Whether each sample is first divided by its sum, so that k(x, x) = 1. Samples of zeros stay
        as they are and have similarity zero to all samples.

    See Also
    --------
    Chi2 : An exponential of another distance of counts.

    Notes
    -----
    Cost: O(nmq) for q columns, one matrix product. Source: T. Jebara, R. Kondor:
    Bhattacharyya and expected likelihood kernels. COLT 2003.

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> Hellinger().fit(rows)(rows, rows).round(3)
    array([[1.   , 0.966],
           [0.966, 1.   ]])
    """

    name: ClassVar[str] = "hellinger"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="amounts")

    def similar(self, a: Array, b: Array) -> Array:
        """Return the inner products of the roots."""
        return np.sqrt(a) @ np.sqrt(b).T


@register
@attrs.frozen
class MinMax(AmountKernel):
    """Common share of two samples of amounts, k(x, z) = Σ_c min(x_c, z_c)/Σ_c max(x_c, z_c).

    For columns of 0 and 1 this is Jaccard's index. Two samples of zeros have similarity one.

    See Also
    --------
    Hellinger : Similarity of counts by their roots.
    TokenSet : The same for sets in text.

    Notes
    -----
    Cost: O(nmq) for q columns. Also known as Ruzicka's similarity or generalised
    Jaccard. Source: L. Ralaivola, S. Swamidass, H. Saigo, P. Baldi: Graph kernels for chemical
    informatics. Neural Networks 18 (2005).

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> MinMax().fit(rows)(rows, rows)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    name: ClassVar[str] = "min-max"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="amounts")

    def similar(self, a: Array, b: Array) -> Array:
        """Return the sums of the lesser values over those of the greater ones."""
        # The sum of both samples is Σ min + Σ max, and their distance Σ max − Σ min.
        distances = cdist(a, b, "cityblock")
        sums = a.sum(axis=1)[:, None] + b.sum(axis=1)
        return ratio(np.maximum(sums - distances, 0), sums + distances)


def _valid_gamma(instance: object, attribute: Any, gamma: float | str) -> None:
    Bandwidth.parse(gamma, "gamma", CHI2_RULES)


@register
@attrs.frozen
class Chi2(Kernel):
    """Similarity that falls with the χ² distance, k(x, z) = exp(−γ Σ_c (x_c − z_c)²/(x_c + z_c)).

    Parameters
    ----------
    gamma : float or str, default="mean"
        The factor γ, a number above zero, or ``"mean"``: the inverse of the mean χ² distance of the
        training samples, of 1,000 of them if there are more; optionally with a factor,
        ``"0.5*mean"``.

    See Also
    --------
    Hellinger : Similarity of counts by their roots.

    Notes
    -----
    Cost: O(nmq) for q columns, and O(N²q) to fit. The kernel is scikit-learn's
    ``chi2_kernel``. Source: J. Zhang, M. Marszałek, S. Lazebnik, C. Schmid: Local features and
    kernels for classification of texture and object categories. International Journal of Computer
    Vision 73 (2007).

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> Chi2(gamma=1.0).fit(rows)(rows, rows).round(3)
    array([[1.   , 0.587],
           [0.587, 1.   ]])
    """

    name: ClassVar[str] = "chi2"
    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="amounts", search_space={"gamma": ("0.25*mean", "mean", "4*mean")}
    )

    gamma: float | str = attrs.field(default="mean", validator=_valid_gamma)

    def fit(self, rows: Array) -> FittedChi2:
        """Return the kernel with γ as a number."""
        return self.fit_weighted(rows, np.ones(len(rows)))

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedChi2:
        """Return the kernel with γ as a number, from samples that count by their weights (N,)."""
        checked = amounts(self.name, rows)
        width = Bandwidth.parse(self.gamma, "gamma", CHI2_RULES)
        if width.rule is None:
            return FittedChi2(width.factor)
        places = slice(None, None, max(-(-len(rows) // 1000), 1))
        some, counts = checked[places], row_weights[places]
        # Without the distance of each sample to itself.
        pairs = counts.sum() * (counts.sum() - 1)
        mean = -counts @ _minus_chi2(some, some) @ counts / pairs if pairs > 0 else 0.0
        return FittedChi2(width.factor / float(mean) if mean > 0 else width.factor)


def _minus_chi2(a: Array, b: Array) -> Array:
    # scikit-learn's loop needs arrays that can be written to; samples from a memory map can't.
    return additive_chi2_kernel(*(np.require(rows, requirements="W") for rows in (a, b)))


@register
@attrs.frozen
class FittedChi2(FittedKernel):
    """The exponential chi-squared kernel with its γ, ready to evaluate."""

    gamma: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        values = _minus_chi2(amounts("chi2", a), amounts("chi2", b))
        values *= self.gamma
        return np.exp(values, out=values)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each sample."""
        return np.ones(len(a))
