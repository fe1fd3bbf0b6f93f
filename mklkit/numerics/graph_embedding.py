"""Graph embedding by trace ratio: max tr(WᵀZᵀBZW) / tr(Wᵀ(ZᵀLZ + γI)W) over WᵀW = I.

Z (N, r) are orthogonal coordinates of the rows, ZᵀZ = diag(d): those of a Gram matrix G = ZZᵀ, with
W = Z⁺GA, or the features of a full empirical map. For one component the ratio is that of paper
001, tr(AᵀGBGA)/tr(Aᵀ(GLG + γG)A); for several, orthonormal W excludes directions in the null space
of G, which orthonormal A would allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklkit.numerics.eigenpairs import dense_top, top_of_low_rank

__all__ = [
    "DiscriminantPencil",
    "Graphs",
    "TraceRatio",
    "climb",
    "discriminant_graphs",
    "trace_ratio",
]

Array = NDArray[np.floating[Any]]
Apply = Callable[[Array], Array]


@attrs.frozen(eq=False)
class Graphs:
    """The two graphs of an embedding, as functions that apply them to columns (N, k).

    Attributes
    ----------
    similarity : callable
        L of the similarity graph, whose quadratic form is minimised.
    constraint : callable
        B of the constraint graph, whose quadratic form is maximised.
    classes : ndarray of shape (N, C), optional
        E with orthonormal columns where L = I − EEᵀ and B = I − 11ᵀ/N: discriminant analysis,
        which then needs no dense matrix.
    unit : ndarray of shape (N,), optional
        1/√N where rows have no weights; else the roots of their shares of the weight, in B's place
        of 1/√N. Graphs of rows with weights v take columns that are multiplied by √v.
    """

    similarity: Apply
    constraint: Apply
    classes: Array | None = None
    unit: Array | None = None

    @property
    def share(self) -> Array:
        """Eᵀ1/√N: the roots of the classes' shares of the rows, (C,)."""
        assert self.classes is not None, "discriminant graphs have classes"
        if self.unit is not None:
            return self.unit @ self.classes
        return self.classes.sum(axis=0) / np.sqrt(len(self.classes))


def discriminant_graphs(labels: NDArray[Any], row_weights: Array | None = None) -> Graphs:
    """Return the graphs of linear discriminant analysis for labels (N,).

    L = I − W with W_ij = 1/n_c within a class; B = I − 11ᵀ/N (paper 001, section 3.2). With weights
    v of rows, for columns that are multiplied by √v: W_ij = √(v_i v_j)/n_c with n_c the weight of a
    class, and √(v_i v_j)/Σv in the place of 1/N.

    Examples
    --------
    >>> import numpy as np
    >>> graphs = discriminant_graphs(np.array([0, 0, 1]))
    >>> graphs.similarity(np.array([[1.0], [3.0], [5.0]])).ravel().round(12)
    array([-1.,  1.,  0.])
    """
    _, codes = np.unique(labels, return_inverse=True)
    members = np.zeros((len(codes), codes.max() + 1))
    roots = np.ones(len(codes)) if row_weights is None else np.sqrt(row_weights)
    members[np.arange(len(codes)), codes] = roots
    members /= np.linalg.norm(members, axis=0)
    unit = None if row_weights is None else roots / np.linalg.norm(roots)

    def within(columns: Array) -> Array:
        return columns - members @ (members.T @ columns)

    def total(columns: Array) -> Array:
        if unit is None:
            return columns - columns.mean(axis=0)
        return columns - np.outer(unit, unit @ columns)

    return Graphs(within, total, members, unit)


@attrs.frozen(eq=False)
class TraceRatio:
    """An embedding, its trace ratio and the history of the ratio.

    Attributes
    ----------
    weights : ndarray of shape (r, K)
        W, orthonormal columns.
    ratio : float
        λ.
    history : tuple of float
        λ after each step; never decreasing.
    """

    weights: Array
    ratio: float
    history: tuple[float, ...]


def trace_ratio(
    coordinates: Array,
    lengths: Array,
    graphs: Graphs,
    regularization: float,
    n_components: int,
    offset: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> TraceRatio:
    """Maximise the trace ratio over orthonormal weights of the given coordinates.

    Parameters
    ----------
    coordinates : ndarray of shape (N, r)
        Z, orthogonal columns.
    lengths : ndarray of shape (r,)
        d, their squared lengths, above zero.
    graphs : Graphs
    regularization : float
        γ.
    n_components : int
        K; at most r are returned.
    offset : float, default=0.0
        A constant added to the denominator, from a prior.
    tol, max_iter
        Stop when the ratio grows by at most this fraction of itself.

    Returns
    -------
    TraceRatio

    Notes
    -----
    Each step computes the top K eigenvectors of S_B − λS_L, and then their ratio λ (Wang et al.
    2007), which increases to its maximum. For discriminant graphs that matrix is diagonal plus one
    whose rank is the number of classes, so a step costs O(rC) products with vectors, and one
    component has a closed form but for a number, the root of the secular equation; for other
    graphs two dense (r, r) matrices are formed once and a step costs O(r³).
    """
    if graphs.classes is not None:
        cross = coordinates.T @ graphs.classes
        pencil = DiscriminantPencil(lengths, cross, graphs.share, regularization)
        return climb(pencil, n_components, offset, tol, max_iter)
    return climb(
        _DensePencil(coordinates, graphs, regularization), n_components, offset, tol, max_iter
    )


def climb(
    pencil: _DensePencil | DiscriminantPencil,
    n_components: int,
    offset: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> TraceRatio:
    """Maximise the trace ratio of S_B and S_L + γI; parameters as for :func:`trace_ratio`."""
    n_components = min(n_components, pencil.size)
    ratio = 0.0
    history: list[float] = []
    weights: Array = np.eye(pencil.size, n_components)
    candidate = pencil.start(n_components)
    for _ in range(max_iter):
        if candidate is None:
            candidate = pencil.top(ratio, n_components)
        numerator, denominator = pencil.traces(candidate)
        now = numerator / (denominator + offset) if denominator + offset > 0 else 0.0
        if history and now <= ratio:
            break
        grown, weights, ratio = now - ratio, candidate, now
        history.append(ratio)
        if grown <= tol * abs(ratio):
            break
        candidate = None
    return TraceRatio(weights, ratio, tuple(history))


class _DensePencil:
    """S_B and S_L as matrices, for any graphs."""

    def __init__(self, coordinates: Array, graphs: Graphs, regularization: float) -> None:
        self._upper = coordinates.T @ graphs.constraint(coordinates)
        self._lower = coordinates.T @ graphs.similarity(coordinates)
        self._lower[np.diag_indices_from(self._lower)] += regularization
        self.size = len(self._upper)

    def start(self, n_components: int) -> None:
        """Begin with the top eigenvectors of S_B."""

    def top(self, ratio: float, n_components: int) -> Array:
        size = self.size
        matrix = self._upper - ratio * self._lower
        _, vectors = scipy.linalg.eigh(
            (matrix + matrix.T) / 2, subset_by_index=(size - n_components, size - 1)
        )
        return vectors[:, ::-1]

    def traces(self, weights: Array) -> tuple[float, float]:
        return (
            float(np.vdot(weights, self._upper @ weights)),
            float(np.vdot(weights, self._lower @ weights)),
        )


class DiscriminantPencil:
    """S_B − λS_L = −diag((λ − 1)d + λγ) + V Vᵀ with V = ZᵀE R, RRᵀ = λI − eeᵀ, e = Eᵀ1/√N.

    Parameters
    ----------
    lengths : ndarray of shape (r,)
        d.
    cross : ndarray of shape (r, C)
        ZᵀE.
    share : ndarray of shape (C,)
        e, the roots of the classes' shares of the rows.
    regularization : float
        γ.
    """

    def __init__(self, lengths: Array, cross: Array, share: Array, regularization: float) -> None:
        self.size = len(lengths)
        self._lengths = lengths
        self._regularization = regularization
        self._cross = cross
        self._share = share

    def start(self, n_components: int) -> Array | None:
        """Return the span of (S_L + γI)⁻¹ZᵀE less the mean, which is nearly optimal.

        With K = 1 and γ = 0 it is optimal. None for more components than it has directions.
        """
        rank = len(self._share)
        if n_components >= rank or not self.size:
            return None
        differences = scipy.linalg.qr(self._share[:, None])[0][:, 1 : n_components + 1]
        ridge = max(self._regularization, 1e-9 * float(self._lengths.max()))
        # (D − CCᵀ)⁻¹C = D⁻¹C(I − CᵀD⁻¹C)⁻¹ with D = diag(d) + γI
        plain = self._cross / (self._lengths + ridge)[:, None]
        small = np.eye(rank) - self._cross.T @ plain
        directions = plain @ np.linalg.lstsq(small, differences, rcond=None)[0]
        return scipy.linalg.qr(directions, mode="economic")[0]

    def traces(self, weights: Array) -> tuple[float, float]:
        every = float(np.einsum("r,rk->", self._lengths, weights**2))
        by_class = weights.T @ self._cross
        between = float((by_class**2).sum())
        mean = float(((by_class @ self._share) ** 2).sum())
        ridge = self._regularization * float((weights**2).sum())
        return every - mean, max(every - between, 0.0) + ridge

    def top(self, ratio: float, n_components: int) -> Array:
        diagonal = (ratio - 1) * self._lengths + ratio * self._regularization
        middle = ratio * np.eye(len(self._share)) - np.outer(self._share, self._share)
        values, vectors = np.linalg.eigh(middle)
        if ratio < 1:
            # λI − eeᵀ can be indefinite at the first step only: each column has its sign.
            signs = np.sign(values)
        else:
            values, signs = np.maximum(values, 0), np.ones_like(values)
        low_rank = self._cross @ (vectors * np.sqrt(np.abs(values)))
        if ratio < 1:
            return dense_top(diagonal, low_rank, n_components, signs)
        return top_of_low_rank(diagonal, low_rank, n_components)
