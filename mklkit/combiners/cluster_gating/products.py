"""The quadratic forms of stage two of cluster gating: traces of N × K blocks.

The composite is linear in the weights, G = Σ_cp θ_cp (E_p G_p D_c + D_c G_p E_p): D_c holds the
memberships of cluster c; E_p is the identity for the sum form, and for the product form the current
gates of kernel p (a linearisation about the current gates).
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from mklkit.numerics.graph_embedding import Graphs
from mklkit.numerics.pairwise import TILE_ROWS
from mklkit.protocols import Array, Views
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.tiles import Tiles, symmetric_tiles

__all__ = [
    "KEPT_BYTES",
    "KeptTiles",
    "QuadraticForms",
    "gated_blocks",
    "gram_products",
    "quadratic_forms",
    "smoothness_form",
]

KEPT_BYTES = 1 << 27
"""Up to this size tiles are kept: four kernels on 2,700 rows in float64."""


class KeptTiles:
    """The tiles on and above the diagonal of the Gram matrices of some views, in several passes."""

    def __init__(self, views: Views) -> None:
        self._kernels = KernelRows.of_views(views)
        n_rows = self._kernels.n_rows
        size = len(views) * n_rows * (n_rows + TILE_ROWS) / 2 * self._kernels.arrays[0].itemsize
        self._keeps = size <= KEPT_BYTES
        self._kept: list[tuple[slice, slice, list[tuple[int, Array]]]] = []

    def read(self) -> Tiles:
        """Yield them, as :func:`mklkit.views.kernel_rows.symmetric_tiles`; not to be modified."""
        if not self._keeps:
            yield from symmetric_tiles(self._kernels)
            return
        if not self._kept:
            tiles = symmetric_tiles(self._kernels)
            self._kept = [(block, across, list(values)) for block, across, values in tiles]
        for block, across, values in self._kept:
            yield block, across, iter(values)


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

    def form(graph_columns: Array) -> Array:
        applied = graph_columns.reshape(n_rows, n_blocks, n_components).transpose(1, 0, 2)
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


def gated_blocks(
    views: Views,
    memberships: Array,
    projection: Array,
    gates: Array | None = None,
    tiles: Tiles | None = None,
) -> Array:
    """Return Z_cp = (E_p G_p D_c + D_c G_p E_p)A for all clusters and kernels, (CM, N, K).

    Parameters
    ----------
    views : Views
    memberships : ndarray of shape (N, C)
        Γ; D_c is the diagonal of its column c.
    projection : ndarray of shape (N, K)
        A.
    gates : ndarray of shape (N, M), optional
        E_p is the diagonal of column p (product form); the identity where not given (sum form).
    tiles : Tiles, optional
        The views' tiles, if the caller has them.

    Notes
    -----
    O(CM·N²K), tile by tile.
    """
    n_rows, n_clusters = memberships.shape
    n_components = projection.shape[1]
    factors = np.ones((n_rows, len(views))) if gates is None else gates
    # Each kernel multiplies [E_p A, D_1 A, …, D_C A]: K(C + 1) columns in one product.
    by_cluster = (memberships[:, :, None] * projection[:, None, :]).reshape(n_rows, -1)
    asked = [np.hstack([factors[:, [p]] * projection, by_cluster]) for p in range(len(views))]
    answered = gram_products(views, asked, tiles)
    blocks = np.empty((n_clusters, len(views), n_rows, n_components))
    for p, products in enumerate(answered):
        plain = products[:, :n_components]
        clustered = products[:, n_components:].reshape(n_rows, n_clusters, n_components)
        for c in range(n_clusters):
            blocks[c, p] = memberships[:, [c]] * plain + factors[:, [p]] * clustered[:, c]
    return blocks.reshape(-1, n_rows, n_components)


def gram_products(
    views: Views, columns: Sequence[Array], tiles: Tiles | None = None
) -> list[Array]:
    """Return G_p V_p for each view and its columns V_p (N, k), tile by tile."""
    products = [np.zeros_like(of_kernel) for of_kernel in columns]
    every = symmetric_tiles(KernelRows.of_views(views)) if tiles is None else tiles
    for block, across, values in every:
        for p, tile in values:
            products[p][block] += tile @ columns[p][across]
            if across != block:
                products[p][across] += tile.T @ columns[p][block]
    return products
