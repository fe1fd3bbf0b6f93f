"""The alternating stages of cluster gating: an embedding for the weights, weights for it.

Source: paper 001, sections 3.4 to 5; the product form is our addition.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mklkit.combiners.cluster_gating.pairwise_updating import PairwiseResult, update_pairs
from mklkit.combiners.cluster_gating.products import (
    KeptTiles,
    QuadraticForms,
    gated_blocks,
    quadratic_forms,
    smoothness_form,
)
from mklkit.combiners.templates.gating import composite_gram
from mklkit.numerics.graph_embedding import Embedding, Graphs, embed_gram
from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, Views

__all__ = ["Stages"]

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

        Stage two alone moves little, as the embedding is optimal for the current weights. Unless
        ``steps="plain"``, its step is therefore extended as long as the ratio grows, and otherwise
        taken as it is.
        """
        n_clusters, n_kernels = self.memberships.shape[1], len(self.views)
        theta = np.full((n_clusters, n_kernels), 1 / n_kernels)
        embedding = self._embed(theta, n_components)
        projection, ratio = embedding.projection, embedding.ratio
        history = [ratio]
        stride, plain = FIRST_STRIDE, self.combiner.steps == "plain"
        # One kernel leaves no choice, and all-zero kernels leave nothing to learn.
        for _ in range(self.combiner.max_iter if n_kernels > 1 and projection.size else 0):
            before = ratio
            with one_blas_thread():  # products of tiles with few columns
                moved, ratio = self._move(theta, projection, before)
            history.append(ratio)
            farther = moved if plain else _on_simplices(theta + stride * (moved - theta))
            embedding = self._embed(farther, n_components)
            if plain or embedding.ratio >= ratio:
                theta, stride = farther, 2 * stride
            else:
                theta, stride = moved, FIRST_STRIDE
                embedding = self._embed(theta, n_components)
            # The positive part of an indefinite composite may contain nothing better.
            if embedding.ratio > ratio:
                projection, ratio = embedding.projection, embedding.ratio
            history.append(ratio)
            # With a tolerance of zero all turns are taken: random pairs can gain nothing in one.
            if self.combiner.tol and ratio - before <= self.combiner.tol * ratio:
                break
        return theta, tuple(history)

    def _embed(self, theta: Array, n_components: int) -> Embedding:
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
            update = self._exchanged(theta, forms)
            reached = update.history[-1] if update.history else ratio
            return (update.weights, reached) if reached > ratio else (theta, ratio)
        # Linearised at the current weights, the product form is twice their composite minus itself.
        present = np.tensordot(theta.ravel(), blocks, axes=1) / 2
        linearised = self._forms(blocks - present / len(theta), projection)
        update = self._exchanged(theta, linearised)
        moved, reached = self._line_search(theta, update.weights, projection, ratio)
        if reached > ratio:
            return moved, reached
        # The linearised maximum may lower the true ratio; its gradient is exact.
        slopes = linearised.upper @ theta.ravel() - ratio * (
            linearised.lower @ theta.ravel() + linearised.linear / 2
        )
        steepest = np.eye(theta.shape[1])[slopes.reshape(theta.shape).argmax(axis=1)]
        return self._line_search(theta, steepest, projection, ratio)

    def _exchanged(self, theta: Array, forms: QuadraticForms) -> PairwiseResult:
        rounds = self.combiner.max_rounds if self.combiner.steps == "plain" else None
        pairs = self.combiner.pairs
        return update_pairs(
            theta, forms.upper, forms.lower, forms.linear, pairs, rng=self.rng, max_rounds=rounds
        )

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


def _on_simplices(theta: Array) -> Array:
    """Return the weights with each row back on the simplex."""
    kept = np.maximum(theta, 0)
    return kept / kept.sum(axis=1, keepdims=True)
