"""DiMKL 6: weights from the divergence of the classes in feature space (paper 003)."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import scipy.linalg
from attrs.validators import ge, gt, instance_of

from mklkit.combiners.templates.weighting import WeightingCombiner
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.gram_tiles import centred_gram
from mklkit.protocols import Array, CombinerFacts, KernelView, Views
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register

__all__ = ["DiMKL6", "bhattacharyya_of_moments", "rkhs_bhattacharyya"]


@register
@attrs.frozen
class DiMKL6(WeightingCombiner):
    """Bhattacharyya distance of the two classes in the kernel's feature space (003, section 4).

    Each class is a normal distribution with its mean and a covariance that keeps the top
    eigenvectors and has variance ρ in all other directions (Zhou & Chellappa 2006).

    Parameters
    ----------
    rank : int, default=5
        r, the number of eigenvectors kept per class covariance.
    floor : float, default=1e-3
        ρ, the variance in all other directions, in units of the kernel.

    Notes
    -----
    O(N²) for one Gram matrix at a time, and the top r eigenpairs of each class; on p features
    O(Np² + p³) from sums over blocks of rows.
    """

    name: ClassVar[str] = "dimkl6"
    facts: ClassVar[CombinerFacts] = CombinerFacts(from_moments=True, row_weights="learner")

    rank: int = attrs.field(default=5, converter=as_int, validator=[instance_of(int), ge(1)])
    floor: float = attrs.field(default=1e-3, converter=float, validator=[finite_number, gt(0)])

    def weights(self, views: Views, y: Array) -> Array:
        """Return the distances."""
        return np.array([self._distance(view, y) for view in views])

    def _distance(self, view: KernelView, y: Array) -> float:
        if view.sees_features:
            return bhattacharyya_of_moments(view.class_moments(y), self.rank, self.floor)
        return rkhs_bhattacharyya(view.gram(keep=False), y, self.rank, self.floor)


@attrs.frozen
class _ClassSpread:
    """A class covariance V diag(m) Vᵀ + ρI: m (r,), and V as coefficients (n, r) on its rows."""

    excess: Array
    coefficients: Array


def rkhs_bhattacharyya(gram: Array, y: Array, rank: int = 5, floor: float = 1e-3) -> float:
    """Return the Bhattacharyya distance of two classes in a kernel's feature space.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
    y : ndarray of shape (N,)
        −1 and +1.
    rank : int, default=5
        r, the number of eigenpairs kept per class covariance.
    floor : float, default=1e-3
        ρ, shared by both classes: eigenvalues e become max(e − ρ, 0) + ρ.

    Returns
    -------
    float
        ⅛ δᵀΣ⁻¹δ + ½ ln(|Σ|/√(|Σ₁||Σ₂|)) with δ the distance of the class means, Σ = (Σ₁ + Σ₂)/2.

    Notes
    -----
    Everything is computed from class Gram matrices: with B the stacked scaled eigenvectors,
    Σ = ρI + BBᵀ, and its inverse and determinant relative to ρI follow from the eigenpairs of BᵀB,
    of size 2r.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> near, far = rows, rows * [[1.0], [1.0], [2.0], [2.0]]
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> rkhs_bhattacharyya(near @ near.T, y) < rkhs_bhattacharyya(far @ far.T, y)
    True
    """
    n_rows = len(y)
    spreads = []
    for label in (1.0, -1.0):
        members = np.flatnonzero(y == label)
        spread = _class_spread(gram[np.ix_(members, members)], rank, floor)
        coefficients = np.zeros((n_rows, len(spread.excess)))
        coefficients[members] = spread.coefficients
        spreads.append(attrs.evolve(spread, coefficients=coefficients))
    means = np.where(y > 0, 1 / max((y > 0).sum(), 1), -1 / max((y < 0).sum(), 1))
    stacked = np.hstack([s.coefficients * np.sqrt(s.excess / 2) for s in spreads])
    against = gram @ np.column_stack([stacked, means])
    inner = stacked.T @ against[:, :-1]
    cross = stacked.T @ against[:, -1]
    length = float(means @ against[:, -1])
    return _distance(inner, cross, length, np.concatenate([s.excess for s in spreads]), floor)


def bhattacharyya_of_moments(moments: ClassMoments, rank: int = 5, floor: float = 1e-3) -> float:
    """Return :func:`rkhs_bhattacharyya` of ΦΦᵀ from the moments of the features of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> rows, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> moments = ClassMoments.of(rows, (y > 0).astype(int), 2, np.zeros(1))
    >>> bool(np.isclose(bhattacharyya_of_moments(moments), rkhs_bhattacharyya(rows @ rows.T, y)))
    True
    """
    kept, excess = [], []
    size = len(moments.origin)
    for code in (1, 0):
        top = (size - min(rank, size), size - 1)
        variances, vectors = scipy.linalg.eigh(moments.covariance(code), subset_by_index=top)
        above = variances > floor
        excess.append(variances[above] - floor)
        kept.append(vectors[:, above] * np.sqrt(excess[-1] / 2))
    stacked = np.hstack(kept)
    gap = moments.means[1] - moments.means[0]
    every = np.concatenate(excess)
    return _distance(stacked.T @ stacked, stacked.T @ gap, float(gap @ gap), every, floor)


def _distance(inner: Array, cross: Array, length: float, excess: Array, floor: float) -> float:
    """Return the distance for BᵀB, Bᵀδ, δᵀδ and the eigenvalues of both classes less ρ."""
    values, vectors = scipy.linalg.eigh(inner)
    values = np.maximum(values, 0)
    # Divided before it is squared: squares of values near 1e300 would overflow.
    explained = vectors.T @ cross / np.sqrt(floor + values)
    gap = (length - explained @ explained) / floor
    log_both = np.log1p(values / floor).sum()
    log_own = np.log1p(excess / floor).sum()
    # The terms can be negative only by rounding.
    return float(max(gap, 0.0) / 8 + max(log_both - log_own / 2, 0.0) / 2)


def _class_spread(gram: Array, rank: int, floor: float) -> _ClassSpread:
    """Return the top eigenpairs of a class covariance from the class's Gram matrix (n, n)."""
    n_rows = len(gram)
    top = (n_rows - min(rank, n_rows), n_rows - 1)
    values, vectors = scipy.linalg.eigh(centred_gram(gram), subset_by_index=top)
    # The covariance divides by n; its eigenvectors are Φᵀu/√(n·e) of the centred rows.
    variances = values / n_rows
    kept = variances > floor
    scale = 1 / np.sqrt(n_rows * variances[kept])
    coefficients = vectors[:, kept] * scale
    return _ClassSpread(variances[kept] - floor, coefficients - coefficients.mean(axis=0))
