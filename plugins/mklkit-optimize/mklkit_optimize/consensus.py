"""Weights without labels: the consensus of all kernels (STATIS-UMKL), or of their graphs (UMKL).

Both are of Mariette and Villa-Vialaneix, "Unsupervised multiple kernel learning for heterogeneous
data integration", Bioinformatics 34 (2018), and the R package mixKernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import scipy.linalg
import scipy.optimize
from attrs.validators import ge, in_, instance_of
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import laplacian

from mklkit.plugin import Array, CombinerTraits, Views, WeightingCombiner, as_int, register

PANEL_VALUES = 2**22
"""The number of kernel values in memory at once: 32 MB."""


@register
@attrs.frozen
class Consensus(WeightingCombiner):
    """Weight a kernel by its agreement with all others, without labels (STATIS-UMKL).

    With C the cosines ⟨HK_mH, HK_lH⟩/(‖HK_mH‖‖HK_lH‖) of the centred Gram matrices
    (H = I − 11ᵀ/N), the weights are the first eigenvector of C over its sum: Σ w_m HK_mH/‖HK_mH‖
    is the matrix most similar to all of them, by the sum of squared cosines.

    Notes
    -----
    Cost: O(N²(d + M²)), in two passes over the tiles; on p features O(Np²) per pair of kernels.

    The cosines do not depend on the kernels' sizes, but the sum Σ w_m K_m does. mixKernel first
    divides every kernel by the roots of its diagonal, as ``cosine(polynomial)`` does here; ``rbf``
    and the default kernels have k(x, x) = 1 anyway. A constant kernel gets weight 0. If the first
    eigenvalue is multiple, as with kernels that have nothing in common, the weights are the
    projection of equal weights onto its eigenvectors.

    Two passes over the tiles, O(N²(d + M²)) and no Gram matrix; on p features O(Np²) per pair of
    kernels.

    References
    ----------
    Mariette and Villa-Vialaneix (2018), section 2.2; STATIS: L'Hermier des Plantes (1976).

    Examples
    --------
    >>> from mklkit import MKLTransformer
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> kernels = ["sepals:rbf@0:2", "petals:rbf@2:4", "all:rbf"]
    >>> MKLTransformer(kernels, combiner="consensus").fit(X).weights_[0].round(2)
    array([0.32, 0.34, 0.35])
    """

    name: ClassVar[str] = "consensus"
    searched_as: ClassVar[dict[str, str]] = {"statis": "consensus", "statis-umkl": "consensus"}
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "several classes", "numbers", "none", "any"),
        row_weights="learner",
        from_moments=True,
    )

    def weights(self, views: Views, y: Array) -> Array:
        """Return the first eigenvector of the cosines."""
        return consensus_weights(views.products().alignments())


def consensus_weights(cosines: Array) -> Array:
    """Return the first eigenvector (M,) of cosines (M, M), not negative; zeros for zeros."""
    if not cosines.any():
        return np.zeros(len(cosines))
    values, vectors = np.linalg.eigh(cosines)
    first = vectors[:, values >= (1 - 1e-9) * values[-1]]
    # Negative only by rounding, unless kernels are indefinite.
    return np.maximum(first @ first.sum(axis=0), 0.0)


@register
@attrs.frozen
class GraphConsensus(WeightingCombiner):
    """Weights that keep neighbours in any kernel close in the sum, without labels (UMKL).

    Neighbours W are the k nearest samples in the feature space of each kernel, the graphs of all
    kernels added. With Δ_i(β) the centred similarities Σ β_m HK_mH of sample i to all samples, the
    weights on the simplex have the least distortion Σ_ij W_ij ‖Δ_i(β) − Δ_j(β)‖² = βᵀSβ, with S
    scaled to a diagonal of ones, so that the kernels' sizes do not matter.

    Parameters
    ----------
    n_neighbors : int, default=5
        k, at least 1; all other samples if there are fewer. Ties, which kernels on categories often
        have, are broken by the order of the training samples.
    norm : {1, 2}, default=1
        The norm of β that is one: its sum, the paper's sparse-UMKL, or its length, the paper's
        full-UMKL, whose result is then divided by its sum.

    Notes
    -----
    Cost: O(N²(d + Mk + M)) per kernel for k neighbours, in two passes over each Gram matrix.

    With ``norm=2`` the program is not convex, and the result is that of the published alternating
    iteration (ADMM), which starts from equal weights, ends at a change of 0.01, and usually stays
    near them. With ``norm=1`` the result is the exact minimum.

    S = 2 tr(HK_mH L HK_lH) with L the Laplacian of W, from M panels of rows at a time: two passes
    over each Gram matrix, O(N²(d + Mk + M)) per kernel and about 32 MB. A constant kernel gets
    weight 0. Programs are solved as non-negative least squares.

    References
    ----------
    Mariette and Villa-Vialaneix (2018), section 2.3; scaled as in the R package mixKernel, with the
    squared distances of the paper's formula.

    Examples
    --------
    >>> from mklkit import MKLTransformer
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> kernels = ["sepals:rbf@0:2", "petals:rbf@2:4", "all:rbf"]
    >>> MKLTransformer(kernels, combiner="graph-consensus").fit(X).weights_[0].round(2)
    array([0.5, 0.5, 0. ])
    """

    name: ClassVar[str] = "graph-consensus"
    searched_as: ClassVar[dict[str, str]] = {
        "umkl": "graph-consensus",
        "sparse-umkl": "graph-consensus",
        "full-umkl": "graph-consensus",
    }
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "several classes", "numbers", "none", "any"),
        row_weights="learner",
        search_space={"n_neighbors": (3, 5, 10)},
    )

    n_neighbors: int = attrs.field(default=5, converter=as_int, validator=[instance_of(int), ge(1)])
    norm: Literal[1, 2] = attrs.field(default=1, converter=as_int, validator=in_((1, 2)))

    def weights(self, views: Views, y: Array) -> Array:
        """Return the weights of least distortion."""
        kernels = views.learner_kernels
        form = distortions(kernels, neighbor_graph(kernels, self.n_neighbors))
        lengths = np.sqrt(np.diag(form))
        weights = np.zeros(len(views))
        used = np.flatnonzero(lengths)
        if len(used):
            scaled = form[np.ix_(used, used)] / np.outer(lengths[used], lengths[used])
            weights[used] = least_on_simplex(scaled) if self.norm == 1 else near_sphere(scaled)
        return weights


def neighbor_graph(kernels: Any, n_neighbors: int) -> csr_array:
    """Return how often samples are among each other's nearest ones, (N, N), over all kernels.

    Nearest in the feature space of a kernel, by k(x, x) + k(z, z) − 2k(x, z); samples that are
    neighbours of each other count twice.
    """
    n_rows = kernels.n_rows
    count = min(n_neighbors, kernels.n_rows - 1)
    diagonals = kernels.diagonals()
    starts, ends = [], []
    for block in _panels(kernels):
        members = np.arange(block.start, block.stop)
        for index, values in kernels.take(block).similarities(kernels):
            # k(x, x) is the same for all neighbours of x.
            distances = diagonals[index] - 2 * values.astype(np.float64)
            distances[np.arange(len(members)), members] = np.inf
            nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
            starts.append(np.repeat(members, count))
            ends.append(nearest.ravel())
    pairs = np.concatenate(starts), np.concatenate(ends)
    directed = coo_array((np.ones(len(pairs[0])), pairs), shape=(n_rows, n_rows)).tocsr()
    return csr_array(directed + directed.T)


def distortions(kernels: Any, graph: csr_array) -> Array:
    """Return S of :class:`GraphConsensus` (M, M), with zeros for a constant kernel."""
    n_kernels = len(kernels)
    n_rows = kernels.n_rows
    apart = csr_array(laplacian(graph))
    sizes = np.array([np.abs(array).max() for array in kernels.diagonals()])
    sizes[sizes == 0] = 1
    form, means = np.zeros((n_kernels, n_kernels)), np.zeros((n_kernels, n_rows))
    for block in _panels(kernels):
        panels = np.empty((n_kernels, n_rows, block.stop - block.start))
        for index, values in kernels.take(block).similarities(kernels):
            panels[index] = values.T / sizes[index]
            means[index, block] = panels[index].mean(axis=0)
            # The Laplacian maps constants to zero; large ones would cost digits.
            panels[index] -= means[index, block]
        differences = np.stack([apart @ panel for panel in panels])
        form += panels.reshape(n_kernels, -1) @ differences.reshape(n_kernels, -1).T
    means -= means.mean(axis=1)[:, None]
    form = 2 * (form - n_rows * means @ (apart @ means.T))
    rounding = np.array([16 * np.finfo(array.dtype).eps for array in kernels.rows])
    constant = np.diag(form) <= graph.sum() * n_rows * rounding**2
    form[constant] = form[:, constant] = 0
    return (form + form.T) / 2 * np.outer(sizes, sizes)


def _panels(kernels: Any) -> Iterator[slice]:
    """Yield the blocks of rows whose similarities in all kernels are in memory at once."""
    size = int(np.clip(PANEL_VALUES // (len(kernels) * kernels.n_rows), 1, 256))
    for start in range(0, kernels.n_rows, size):
        yield slice(start, min(start + size, kernels.n_rows))


def least_on_simplex(form: Array) -> Array:
    """Return the β ≥ 0 with 1ᵀβ = 1 of least βᵀSβ, for S (M, M) positive semi-definite.

    Non-negative least squares, by Lawson and Hanson's active sets: βᵀSβ + (1ᵀβ − 1)² has its
    minimum over β ≥ 0 at a multiple of the minimum on the simplex, as βᵀSβ at 1ᵀβ = t is t² times
    that at 1.
    """
    # A ridge, so that equal kernels share their weight; the form is scaled to about 1.
    values, vectors = np.linalg.eigh(form + 1e-9 * np.eye(len(form)))
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    above = np.vstack([root, np.ones(len(form))])
    solution, _ = scipy.optimize.nnls(above, np.append(np.zeros(len(form)), 1.0))
    return np.asarray(solution / solution.sum())


def near_sphere(form: Array) -> Array:
    """Return the β ≥ 0 of length one that the published iteration finds for βᵀSβ, S (M, M).

    Alternates between the least βᵀSβ + ρ/2‖β − z + u/ρ‖² over β ≥ 0 and z = β/‖β‖, with ρ = 20.
    """
    count = len(form)
    penalty = 20.0
    factor = scipy.linalg.cholesky(2 * form + penalty * np.eye(count))
    length_one, multipliers = np.full(count, count**-0.5), np.zeros(count)
    for number in range(1000):
        pull = scipy.linalg.solve_triangular(factor, penalty * length_one - multipliers, trans=1)
        solution, _ = scipy.optimize.nnls(factor, pull)
        size = np.linalg.norm(solution)
        if size == 0 or (number and np.abs(solution / size - length_one).sum() < 0.01):
            break
        length_one = solution / size
        multipliers += penalty * (solution - length_one)
    return length_one
