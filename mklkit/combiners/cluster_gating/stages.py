"""The alternating stages of cluster gating: an embedding for the weights, weights for it.

The composite is linear in the weights, G = Σ_cp θ_cp (E_p G_p D_c + D_c G_p E_p): D_c holds the
memberships of cluster c; E_p is the identity for the sum form, and for the product form, which is
our addition, the current gates of kernel p (a linearisation about the current gates).
Source: Mu and Zhou 2011, sections 3.4 to 5.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mklkit.combiners.cluster_gating.pairwise_updating import (
    PairwiseResult,
    QuadraticForms,
    on_simplices,
    update_pairs,
)
from mklkit.combiners.templates.gating import composite_gram
from mklkit.numerics.graph_embedding import Embedding, Graphs, embed_gram
from mklkit.numerics.pairwise import TILE_ROWS
from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, Views
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.tiles import Tiles, symmetric_tiles

KEPT_BYTES = 1 << 27
"""Tiles up to this size are kept: four kernels on 2,700 samples in float64."""

FIRST_STRIDE = 2.0


class Stages:
    """The two alternating stages on one problem, with the parameters of a ``ClusterGating``."""

    def __init__(
        self,
        combiner: Any,
        views: Views,
        memberships: Array,
        graphs: Graphs,
        random_state: np.random.RandomState,
    ) -> None:
        self.combiner = combiner
        self.views = views
        self.tiles = KeptTiles(views)
        self.memberships = memberships
        self.graphs = graphs
        self.rng = np.random.default_rng(random_state.randint(2**31 - 1))
        n_clusters = memberships.shape[1]
        self.smooth = combiner.smoothness * smoothness_form(n_clusters, len(views))

    def alternate(self, n_components: int) -> tuple[Array, tuple[float, ...]]:
        """Return Θ and the ratio after each stage.

        Stage two alone moves little, since the embedding is optimal for the current weights. So
        its step is extended while the ratio grows, unless ``steps="plain"``.
        """
        n_clusters = self.memberships.shape[1]
        n_kernels = len(self.views)
        theta = np.full((n_clusters, n_kernels), 1 / n_kernels)
        embedding = self._embed(theta, n_components)
        projection, ratio = embedding.projection, embedding.ratio
        history = [ratio]
        stride = FIRST_STRIDE
        plain = self.combiner.steps == "plain"
        # One kernel leaves no choice, and all-zero kernels leave nothing to learn.
        for _ in range(self.combiner.max_iter if n_kernels > 1 and projection.size else 0):
            before = ratio
            with one_blas_thread():  # products of tiles with few columns
                moved, ratio = self._move(theta, projection, before)
            history.append(ratio)
            farther = moved if plain else on_simplices(theta + stride * (moved - theta))
            embedding = self._embed(farther, n_components)
            if plain or embedding.ratio >= ratio:
                theta = farther
                stride = 2 * stride
            else:
                theta, stride = moved, FIRST_STRIDE
                embedding = self._embed(theta, n_components)
            # The positive part of an indefinite composite may contain nothing better.
            if embedding.ratio > ratio:
                projection, ratio = embedding.projection, embedding.ratio
            history.append(ratio)
            # With a tolerance of zero, all alternations run: random pairs may gain nothing in one.
            if self.combiner.tol and ratio - before <= self.combiner.tol * ratio:
                break
        return theta, tuple(history)

    def _embed(self, theta: Array, n_components: int) -> Embedding:
        """Stage one: return the optimal embedding for these weights."""
        prior = float(theta.ravel() @ self.smooth @ theta.ravel())
        gram = self._composite(theta)
        return embed_gram(gram, self.graphs, self.combiner.alpha, n_components, prior)

    def _composite(self, theta: Array) -> Array:
        composition = self.combiner.composition
        tiles = self.tiles.read()
        return composite_gram(self.views, self.memberships @ theta, composition, tiles)

    def _move(self, theta: Array, projection: Array, ratio: float) -> tuple[Array, float]:
        """Stage two: return weights for the embedding and their ratio, which is never lower."""
        gates = self.memberships @ theta if self.combiner.composition == "product" else None
        tiles = self.tiles.read()
        blocks = gated_blocks(self.views, self.memberships, projection, gates, tiles)
        forms = self._forms(blocks, projection)
        if gates is None:
            update = self._exchanged(theta, forms)
            reached = update.history[-1] if update.history else ratio
            return (update.weights, reached) if reached > ratio else (theta, ratio)
        # Linearised at the current weights, the product form is twice their composite minus itself.
        present = np.tensordot(theta.ravel(), blocks, axes=1) / 2
        linearized = self._forms(blocks - present / len(theta), projection)
        update = self._exchanged(theta, linearized)
        moved, reached = self._line_search(theta, update.weights, projection, ratio)
        if reached > ratio:
            return moved, reached
        # The linearised maximum may lower the true ratio; its gradient is exact.
        slopes = linearized.upper @ theta.ravel() - ratio * (
            linearized.lower @ theta.ravel() + linearized.linear / 2
        )
        steepest = np.eye(theta.shape[1])[slopes.reshape(theta.shape).argmax(axis=1)]
        return self._line_search(theta, steepest, projection, ratio)

    def _exchanged(self, theta: Array, forms: QuadraticForms) -> PairwiseResult:
        rounds = self.combiner.max_rounds if self.combiner.steps == "plain" else None
        pairs = self.combiner.pairs
        return update_pairs(theta, forms, pairs, rng=self.rng, max_rounds=rounds)

    def _forms(self, blocks: Array, projection: Array) -> QuadraticForms:
        forms = quadratic_forms(blocks, projection, self.graphs, self.combiner.alpha)
        return attrs.evolve(forms, lower=forms.lower + self.smooth)

    def _line_search(
        self, theta: Array, target: Array, projection: Array, ratio: float
    ) -> tuple[Array, float]:
        """Halve the step to the target until the true ratio rises; return weights and ratio."""
        share = 1.0
        for _ in range(6):
            candidate = theta + share * (target - theta)
            embedded = self._composite(candidate) @ projection
            within = np.vdot(embedded, self.graphs.similarity(embedded))
            prior = candidate.ravel() @ self.smooth @ candidate.ravel()
            denominator = within + self.combiner.alpha * np.vdot(projection, embedded) + prior
            reached = float(np.vdot(embedded, self.graphs.constraint(embedded)) / denominator)
            if reached > ratio:
                return candidate, reached
            share /= 2
        return theta, ratio


class KeptTiles:
    """The tiles on and above the diagonal of the Gram matrices of some views, in several passes.

    They are computed anew in each pass if they take more than ``most_bytes``.
    """

    def __init__(self, views: Views, most_bytes: int = KEPT_BYTES) -> None:
        self._kernels = KernelRows.of_views(views)
        n_rows = self._kernels.n_rows
        size = (
            len(views) * n_rows * (n_rows + TILE_ROWS) / 2 * self._kernels.arrays[0].dtype.itemsize
        )
        self._keeps = size <= most_bytes
        self._kept: list[tuple[slice, slice, list[tuple[int, Array]]]] = []

    def read(self) -> Tiles:
        """Yield them, as :func:`mklkit.views.tiles.symmetric_tiles`; not to be modified."""
        if not self._keeps:
            yield from symmetric_tiles(self._kernels)
            return
        if not self._kept:
            tiles = symmetric_tiles(self._kernels)
            self._kept = [(block, across, list(values)) for block, across, values in tiles]
        for block, across, values in self._kept:
            yield block, across, iter(values)


def quadratic_forms(
    blocks: Array, projection: Array, graphs: Graphs, regularization: float
) -> QuadraticForms:
    """Return the quadratic forms in θ (Mu and Zhou 2011, equations 9 to 11).

    From blocks Z_cp A (CM, N, K), the factor of θ_cp in GA, for the projection A (N, K).
    O(CM·NK) for the graphs and O((CM)²NK) for the traces, one matrix product; no N × N matrix.
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
    """Return the form (CM, CM) of E(Θ) = Σ_p Σ_c (Θ_cp − μ_p)² (Mu and Zhou 2011, section 3.3)."""
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

    D_c is the diagonal of column c of the memberships (N, C), E_p that of column p of the gates
    (N, M), or the identity without gates. O(CM·N²K), tile by tile, from ``tiles`` if the caller
    has those of the views.
    """
    n_rows, n_clusters = memberships.shape
    n_components = projection.shape[1]
    factors = np.ones((n_rows, len(views))) if gates is None else gates
    # Each kernel multiplies [E_p A, D_1 A, …, D_C A]: K(C + 1) columns in one product.
    by_cluster = (memberships[:, :, None] * projection[:, None, :]).reshape(n_rows, -1)
    factored = [np.hstack([factors[:, [p]] * projection, by_cluster]) for p in range(len(views))]
    by_kernel = [np.zeros_like(of_kernel) for of_kernel in factored]
    every = symmetric_tiles(KernelRows.of_views(views)) if tiles is None else tiles
    for block, across, values in every:
        for p, tile in values:
            by_kernel[p][block] += tile @ factored[p][across]
            if across != block:
                by_kernel[p][across] += tile.T @ factored[p][block]
    blocks = np.empty((n_clusters, len(views), n_rows, n_components))
    for p, products in enumerate(by_kernel):
        plain = products[:, :n_components]
        clustered = products[:, n_components:].reshape(n_rows, n_clusters, n_components)
        for c in range(n_clusters):
            blocks[c, p] = memberships[:, [c]] * plain + factors[:, [p]] * clustered[:, c]
    return blocks.reshape(-1, n_rows, n_components)
