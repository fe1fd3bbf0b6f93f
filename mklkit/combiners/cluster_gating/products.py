"""The quadratic forms of stage two of cluster gating: traces of N × K blocks.

The composite is linear in the weights, G = Σ_cp θ_cp (E_p G_p D_c + D_c G_p E_p): D_c holds the
memberships of cluster c; E_p is the identity for the sum form, and for the product form the current
gates of kernel p (a linearisation about the current gates).
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.graph_embedding import Graphs

__all__ = ["QuadraticForms", "quadratic_forms", "smoothness_form"]

Array = NDArray[np.floating[Any]]


@attrs.frozen(eq=False)
class QuadraticForms:
    """S_B and S_L (CM, CM) and f (CM,): the trace ratio as a ratio of quadratics in θ.

    θ is Θ (C, M) flattened row by row.
    """

    upper: Array
    lower: Array
    linear: Array


def quadratic_forms(
    blocks: Array, projection: Array, graphs: Graphs, regularization: float
) -> QuadraticForms:
    """Return the quadratic forms of the given blocks.

    Parameters
    ----------
    blocks : ndarray of shape (CM, N, K)
        Z_cp A for every cluster and kernel: the factor of θ_cp in GA.
    projection : ndarray of shape (N, K)
        A.
    graphs : Graphs
    regularization : float
        γ.

    Notes
    -----
    O(CM·NK) for the graphs and O((CM)²NK) for the traces, one matrix product; no N × N matrix.
    Source: paper 001, equations (9)–(11).
    """
    n_blocks, n_rows, n_components = blocks.shape
    columns = np.ascontiguousarray(blocks.transpose(1, 0, 2)).reshape(n_rows, -1)
    flat = blocks.reshape(n_blocks, -1)

    def form(seen: Array) -> Array:
        applied = seen.reshape(n_rows, n_blocks, n_components).transpose(1, 0, 2)
        matrix = flat @ np.ascontiguousarray(applied).reshape(n_blocks, -1).T
        return (matrix + matrix.T) / 2

    return QuadraticForms(
        form(graphs.constraint(columns)),
        form(graphs.similarity(columns)),
        regularization * (flat @ projection.ravel()),
    )


def smoothness_form(n_clusters: int, n_kernels: int) -> Array:
    """Return the form (CM, CM) of E(Θ) = Σ_p Σ_c (Θ_cp − μ_p)² (001, section 3.3).

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.array([1.0, 0.0, 0.0, 1.0])
    >>> float(theta @ smoothness_form(2, 2) @ theta)
    1.0
    """
    centring = np.eye(n_clusters) - 1 / n_clusters
    return np.kron(centring, np.eye(n_kernels))
