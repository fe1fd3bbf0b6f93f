"""The alternating stages of cluster gating: an embedding for the weights, weights for it.

Source: paper 001, sections 3.4 to 5; the product form is our addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs
import numpy as np

from mklkit.combiners.cluster_gating.kept_tiles import KeptTiles
from mklkit.combiners.cluster_gating.pairwise_updating import (
    PairwiseResult,
    printed_updates,
    update_pairs,
)
from mklkit.combiners.cluster_gating.products import (
    QuadraticForms,
    quadratic_forms,
    smoothness_form,
)
from mklkit.combiners.templates.gating import Composition, composite_gram
from mklkit.numerics.embedding import GramEmbedding, embed_gram
from mklkit.numerics.graph_embedding import Graphs
from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, Views
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.tiles import Tiles, symmetric_tiles

__all__ = ["Stages", "gated_blocks", "kernel_products"]

FIRST_STRIDE = 2.0


class Settings(Protocol):
    """The parameters of ``ClusterGating`` that the stages use."""

    @property
    def alpha(self) -> float: ...
    @property
    def composition(self) -> Composition: ...
    @property
    def smoothness(self) -> float: ...
    @property
    def pairs(self) -> str: ...
    @property
    def steps(self) -> str: ...
    @property
    def max_rounds(self) -> int: ...
    @property
    def max_iter(self) -> int: ...
    @property
    def tol(self) -> float: ...


class Stages:
    """The two alternating stages on one problem."""

    def __init__(
        self,
        combiner: Settings,
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

        Stage two alone moves little, as the embedding is optimal for the current weights. Unless
        ``steps="plain"``, its step is therefore extended as long as the ratio grows, and otherwise
        taken as it is.
        """
        n_clusters, n_kernels = self.memberships.shape[1], len(self.views)
        theta = np.full((n_clusters, n_kernels), 1 / n_kernels)
        found = self._embed(theta, n_components)
        projection, ratio = found.projection, found.ratio
        history = [ratio]
        stride, plain = FIRST_STRIDE, self.combiner.steps == "plain"
        # One kernel leaves no choice, and all-zero kernels leave nothing to learn.
        for _ in range(self.combiner.max_iter if n_kernels > 1 and projection.size else 0):
            before = ratio
            with one_blas_thread():  # products of tiles with few columns
                moved, ratio = self._move(theta, projection, before)
            history.append(ratio)
            farther = moved if plain else _on_simplices(theta + stride * (moved - theta))
            found = self._embed(farther, n_components)
            if plain or found.ratio >= ratio:
                theta, stride = farther, 2 * stride
            else:
                theta, stride = moved, FIRST_STRIDE
                found = self._embed(theta, n_components)
            # The positive part of an indefinite composite may contain nothing better.
            if found.ratio > ratio:
                projection, ratio = found.projection, found.ratio
            history.append(ratio)
            # With a tolerance of zero all turns are taken: random pairs can gain nothing in one.
            if self.combiner.tol and ratio - before <= self.combiner.tol * ratio:
                break
        return theta, tuple(history)

    def _embed(self, theta: Array, n_components: int) -> GramEmbedding:
        """Stage one: return the optimal embedding for these weights."""
        prior = float(theta.ravel() @ self.smooth @ theta.ravel())
        gram = self._composite(theta)
        return embed_gram(gram, self.graphs, self.combiner.alpha, n_components, prior)

    def _composite(self, theta: Array) -> Array:
        gates = self.memberships @ theta
        tiles = self.tiles.read()
        return composite_gram(self.views, gates, self.combiner.composition, tiles)

    def _move(self, theta: Array, projection: Array, ratio: float) -> tuple[Array, float]:
        """Stage two: return weights for the embedding and their ratio, which is never lower."""
        gates = self.memberships @ theta if self.combiner.composition == "product" else None
        tiles = self.tiles.read()
        blocks = gated_blocks(self.views, self.memberships, projection, gates, tiles)
        forms = self._forms(blocks, projection)
        if gates is None:
            found = self._exchanged(theta, forms)
            reached = found.history[-1] if found.history else ratio
            return (found.weights, reached) if reached > ratio else (theta, ratio)
        # Linearised at the current weights, the product form is twice their composite minus itself.
        present = np.tensordot(theta.ravel(), blocks, axes=1) / 2
        linearised = self._forms(blocks - present / len(theta), projection)
        found = self._exchanged(theta, linearised)
        moved, reached = self._line_search(theta, found.weights, projection, ratio)
        if reached > ratio:
            return moved, reached
        # The linearised maximum may lower the true ratio; its gradient is exact.
        slopes = linearised.upper @ theta.ravel() - ratio * (
            linearised.lower @ theta.ravel() + linearised.linear / 2
        )
        steepest = np.eye(theta.shape[1])[slopes.reshape(theta.shape).argmax(axis=1)]
        return self._line_search(theta, steepest, projection, ratio)

    def _exchanged(self, theta: Array, forms: QuadraticForms) -> PairwiseResult:
        upper, lower, linear, pairs = forms.upper, forms.lower, forms.linear, self.combiner.pairs
        if self.combiner.steps == "plain":
            rounds = self.combiner.max_rounds
            return printed_updates(theta, upper, lower, linear, pairs, rounds, rng=self.rng)
        return update_pairs(theta, upper, lower, linear, pairs, rng=self.rng)

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
            seen = self._composite(candidate) @ projection
            within = np.vdot(seen, self.graphs.similarity(seen))
            prior = candidate.ravel() @ self.smooth @ candidate.ravel()
            denominator = within + self.combiner.alpha * np.vdot(projection, seen) + prior
            reached = float(np.vdot(seen, self.graphs.constraint(seen)) / denominator)
            if reached > ratio:
                return candidate, reached
            share /= 2
        return theta, ratio


def _on_simplices(theta: Array) -> Array:
    """Return the weights with each row back on the simplex."""
    kept = np.maximum(theta, 0)
    return kept / kept.sum(axis=1, keepdims=True)


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
    answered = kernel_products(views, asked, tiles)
    blocks = np.empty((n_clusters, len(views), n_rows, n_components))
    for p, products in enumerate(answered):
        plain = products[:, :n_components]
        clustered = products[:, n_components:].reshape(n_rows, n_clusters, n_components)
        for c in range(n_clusters):
            blocks[c, p] = memberships[:, [c]] * plain + factors[:, [p]] * clustered[:, c]
    return blocks.reshape(-1, n_rows, n_components)


def kernel_products(
    views: Views, columns: Sequence[Array], tiles: Tiles | None = None
) -> list[Array]:
    """Return G_p V_p for each view and its own columns V_p (N, k), tile by tile."""
    products = [np.zeros_like(own) for own in columns]
    every = symmetric_tiles(KernelRows.of_views(views)) if tiles is None else tiles
    for block, other, values in every:
        for p, tile in values:
            products[p][block] += tile @ columns[p][other]
            if other != block:
                products[p][other] += tile.T @ columns[p][block]
    return products
