"""Cluster gating: kernel weights per soft cluster, learned with the embedding (paper 001)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from attrs.validators import ge, gt, in_, instance_of
from sklearn.base import clone
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from mklkit.combiners.gating import Composition, GatingCombiner, composite_gram
from mklkit.components import finite, whole
from mklkit.errors import MKLKitWarning, SpecError, suggest
from mklkit.hookspecs import hookimpl
from mklkit.learners.kda import GramEmbedding, embed_gram, embedding_size
from mklkit.numerics.gated_products import QuadraticForms, quadratic_forms, smoothness_form
from mklkit.numerics.graph_embedding import Graphs, discriminant_graphs
from mklkit.numerics.pairwise_updating import update_pairs
from mklkit.protocols import Array
from mklkit.specs import parse_spec
from mklkit.statistics import symmetric_tiles
from mklkit.views import ViewSet

__all__ = ["ClusterGates", "ClusterGating", "gated_blocks", "kernel_products"]

FIRST_STRIDE = 2.0

MIXTURES = {
    "gaussian-mixture": GaussianMixture,
    "bayesian-gaussian-mixture": BayesianGaussianMixture,
}


def _clusterer(instance: object, attribute: Any, value: Any) -> None:
    if isinstance(value, str):
        name = parse_spec(value).name
        if name not in MIXTURES:
            raise SpecError(
                f"clusterer must be one of {', '.join(MIXTURES)} or an object with fit and"
                f" predict_proba; got {value!r}.{suggest(name, MIXTURES)}"
            )
    elif isinstance(value, type) or not all(hasattr(value, n) for n in ("fit", "predict_proba")):
        raise SpecError(f"clusterer must be an object with fit and predict_proba; got {value!r}.")


@attrs.frozen(eq=False)
class ClusterGates:
    """Soft clusters Γ and their kernel weights Θ: the gates of a row are Γ(x)Θ.

    Attributes
    ----------
    clusterer : object
        Fitted, with ``predict_proba``.
    weights : ndarray of shape (C, M)
        Θ, rows on the simplex.
    history : tuple of float
        The trace ratio after each stage; never decreasing.
    """

    clusterer: Any
    weights: Array
    history: tuple[float, ...]

    def memberships(self, rows: Array) -> Array:
        """Return Γ (n, C) of rows (n, d)."""
        return np.asarray(self.clusterer.predict_proba(rows))

    def gates(self, rows: Array) -> Array:
        """Return each row's weight on each kernel, (n, M)."""
        return self.memberships(rows) @ self.weights


@attrs.frozen
class ClusterGating(GatingCombiner):
    """Non-uniform MKL: each soft cluster of the data has kernel weights of its own.

    The composite kernel is Σ_p (η_p(x) + η_p(z)) k_p(x, z), or with products of the gates, for
    η_p(x) = Γ(x)Θ_{*p}. Θ and an embedding are learned by turns, each raising the trace ratio.

    The sum form is linear in Θ but in general not positive semi-definite; as in the paper it is
    used as it is, which ``kda`` can do. For ``svm`` and ``kmhks`` a warning says when a composite
    is indefinite; the product form never is.

    Parameters
    ----------
    n_clusters : int, default=4
        C; one is uniform MKL with learned weights. No more than rows are used, with a warning.
    composition : {"sum", "product"}, default="sum"
    reg : float, default=1e-3
        γ, Tikhonov regularisation of the embedding.
    smoothness : float, default=0.0
        γ_θ, price of weights that differ between clusters.
    clusterer : str or object, default="gaussian-mixture"
        ``"gaussian-mixture"`` or ``"bayesian-gaussian-mixture"``, with scikit-learn's parameters
        if wanted, or anything with ``fit`` and ``predict_proba``.
    pairs : {"gradient", "random"}, default="gradient"
        Which weights are exchanged at a step of stage two; random pairs are the published choice.
    max_iter : int, default=50
        Turns of the two stages.
    tol : float, default=1e-4
        Stop when a turn lets the ratio grow by no more than this share of itself.

    Notes
    -----
    A turn costs O(CM·N²K) for K components, tile by tile; one composite Gram matrix is held, never
    M of them (design, identity 6). Source: paper 001.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> gating = ClusterGating(n_clusters=2)
    >>> model = MKLClassifier(["linear", "rbf"], combiner=gating, random_state=0).fit(X, y)
    >>> model.gate_weights(X).shape
    (150, 2)
    """

    name: ClassVar[str] = "cluster-gating"
    learner: ClassVar[str] = "kda"
    native_multiclass: ClassVar[bool] = True

    n_clusters: int = attrs.field(default=4, converter=whole, validator=[instance_of(int), ge(1)])
    composition: Composition = attrs.field(default="sum", validator=in_(("sum", "product")))
    reg: float = attrs.field(default=1e-3, converter=float, validator=[ge(0), finite])
    smoothness: float = attrs.field(default=0.0, converter=float, validator=[ge(0), finite])
    clusterer: Any = attrs.field(default="gaussian-mixture", validator=_clusterer)
    pairs: Literal["gradient", "random"] = attrs.field(
        default="gradient", validator=in_(("gradient", "random"))
    )
    max_iter: int = attrs.field(default=50, converter=whole, validator=[instance_of(int), ge(1)])
    tol: float = attrs.field(default=1e-4, converter=float, validator=gt(0))

    def fit_gates(
        self, views: ViewSet, y: Array, random_state: np.random.RandomState
    ) -> ClusterGates:
        """Return the soft clusters and their weights."""
        rows = views.rows
        n_clusters = min(self.n_clusters, len(rows))
        if isinstance(self.clusterer, str) and n_clusters < self.n_clusters:
            warnings.warn(
                f"cluster-gating uses {n_clusters} clusters, as there are {len(rows)} rows.",
                MKLKitWarning,
                stacklevel=4,
            )
        mixture = self._mixture(n_clusters, rows, random_state)
        try:
            fitted = mixture.fit(rows)
        except ValueError as error:
            raise SpecError(f"The clusterer {self.clusterer!r} can't be fitted: {error}") from None
        memberships = np.asarray(fitted.predict_proba(rows), dtype=np.float64)
        stages = _Stages(self, views, memberships, discriminant_graphs(y), random_state)
        theta, history = stages.alternate(embedding_size(None, y))
        return ClusterGates(fitted, theta, history)

    def _mixture(self, n_clusters: int, rows: Array, random_state: np.random.RandomState) -> Any:
        if not isinstance(self.clusterer, str):
            return clone(self.clusterer)
        spec = parse_spec(self.clusterer)
        # Full covariances want several rows for each of their d(d + 1)/2 numbers.
        enough = len(rows) >= 5 * n_clusters * rows.shape[1]
        settings = {
            "n_components": n_clusters,
            "covariance_type": "full" if enough else "diag",
            "reg_covar": 1e-6 * max(float(rows.var()), 1e-12),
            "random_state": random_state.randint(2**31 - 1),
            **spec.kwargs,
        }
        try:
            return MIXTURES[spec.name](**settings)
        except TypeError as error:
            raise SpecError(f"{self.clusterer!r} can't be built: {error}") from None


class _Stages:
    """The two stages by turns, on one problem."""

    def __init__(
        self,
        combiner: ClusterGating,
        views: ViewSet,
        memberships: Array,
        graphs: Graphs,
        random_state: np.random.RandomState,
    ) -> None:
        self.combiner = combiner
        self.views = views
        self.memberships = memberships
        self.graphs = graphs
        self.seed = int(random_state.randint(2**31 - 1))
        n_clusters = memberships.shape[1]
        self.smooth = combiner.smoothness * smoothness_form(n_clusters, len(views))

    def alternate(self, n_components: int) -> tuple[Array, tuple[float, ...]]:
        """Return Θ and the ratio after each stage.

        Stage two alone moves little, as the embedding is made for the present weights; so its
        direction is followed farther as long as the ratio grows more by that, and taken as it is
        where it does not.
        """
        n_clusters, n_kernels = self.memberships.shape[1], len(self.views)
        theta = np.full((n_clusters, n_kernels), 1 / n_kernels)
        found = self._embed(theta, n_components)
        projection, ratio = found.projection, found.ratio
        history = [ratio]
        stride = FIRST_STRIDE
        # No choice with one kernel, and none to be learned where all of them are zero.
        for _ in range(self.combiner.max_iter if n_kernels > 1 and projection.size else 0):
            before = ratio
            moved, ratio = self._move(theta, projection, before)
            history.append(ratio)
            farther = _on_simplices(theta + stride * (moved - theta))
            found = self._embed(farther, n_components)
            if found.ratio >= ratio:
                theta, stride = farther, 2 * stride
            else:
                theta, stride = moved, FIRST_STRIDE
                found = self._embed(theta, n_components)
            # An indefinite composite may hold nothing better in its positive part.
            if found.ratio > ratio:
                projection, ratio = found.projection, found.ratio
            history.append(ratio)
            if ratio - before <= self.combiner.tol * ratio:
                break
        return theta, tuple(history)

    def _embed(self, theta: Array, n_components: int) -> GramEmbedding:
        """Return the best embedding for some weights: stage one."""
        prior = float(theta.ravel() @ self.smooth @ theta.ravel())
        gram = self._composite(theta)
        return embed_gram(gram, self.graphs, self.combiner.reg, n_components, prior)

    def _composite(self, theta: Array) -> Array:
        return composite_gram(self.views, self.memberships @ theta, self.combiner.composition)

    def _move(self, theta: Array, projection: Array, ratio: float) -> tuple[Array, float]:
        """Return better weights for the embedding, and their ratio; never worse ones."""
        gates = self.memberships @ theta if self.combiner.composition == "product" else None
        blocks = gated_blocks(self.views, self.memberships, projection, gates)
        forms = self._forms(blocks, projection)
        if gates is None:
            found = update_pairs(
                theta, forms.upper, forms.lower, forms.linear, self.combiner.pairs, seed=self.seed
            )
            reached = found.history[-1] if found.history else ratio
            return (found.weights, reached) if reached > ratio else (theta, ratio)
        # About the present weights the product form is twice their composite, less that itself.
        present = np.tensordot(theta.ravel(), blocks, axes=1) / 2
        linearised = self._forms(blocks - present / len(theta), projection)
        found = update_pairs(
            theta,
            linearised.upper,
            linearised.lower,
            linearised.linear,
            self.combiner.pairs,
            seed=self.seed,
        )
        moved, reached = self._line_search(theta, found.weights, projection, ratio)
        if reached > ratio:
            return moved, reached
        # The linearised form may have its top where the true ratio falls; its slopes are true.
        slopes = linearised.upper @ theta.ravel() - ratio * (
            linearised.lower @ theta.ravel() + linearised.linear / 2
        )
        steepest = np.eye(theta.shape[1])[slopes.reshape(theta.shape).argmax(axis=1)]
        return self._line_search(theta, steepest, projection, ratio)

    def _forms(self, blocks: Array, projection: Array) -> QuadraticForms:
        forms = quadratic_forms(blocks, projection, self.graphs, self.combiner.reg)
        return attrs.evolve(forms, lower=forms.lower + self.smooth)

    def _line_search(
        self, theta: Array, target: Array, projection: Array, ratio: float
    ) -> tuple[Array, float]:
        """Return the farthest of halved steps to the target that raises the true ratio."""
        share = 1.0
        for _ in range(6):
            candidate = theta + share * (target - theta)
            seen = self._composite(candidate) @ projection
            within = np.vdot(seen, self.graphs.similarity(seen))
            prior = candidate.ravel() @ self.smooth @ candidate.ravel()
            denominator = within + self.combiner.reg * np.vdot(projection, seen) + prior
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
    views: ViewSet, memberships: Array, projection: Array, gates: Array | None = None
) -> Array:
    """Return Z_cp = (E_p G_p D_c + D_c G_p E_p)A for all clusters and kernels, (CM, N, K).

    Parameters
    ----------
    views : ViewSet
    memberships : ndarray of shape (N, C)
        Γ; D_c is the diagonal of its column c.
    projection : ndarray of shape (N, K)
        A.
    gates : ndarray of shape (N, M), optional
        E_p is the diagonal of column p (product form); the identity where not given (sum form).

    Notes
    -----
    O(CM·N²K), tile by tile. Source: design §4, identity 6.
    """
    n_rows, n_clusters = memberships.shape
    n_components = projection.shape[1]
    factors = np.ones((n_rows, len(views))) if gates is None else gates
    # Each kernel meets [E_p A, D_1 A, …, D_C A]: K(C + 1) columns in one product.
    by_cluster = (memberships[:, :, None] * projection[:, None, :]).reshape(n_rows, -1)
    asked = [np.hstack([factors[:, [p]] * projection, by_cluster]) for p in range(len(views))]
    answered = kernel_products(views, asked)
    blocks = np.empty((n_clusters, len(views), n_rows, n_components))
    for p, products in enumerate(answered):
        plain = products[:, :n_components]
        clustered = products[:, n_components:].reshape(n_rows, n_clusters, n_components)
        for c in range(n_clusters):
            blocks[c, p] = memberships[:, [c]] * plain + factors[:, [p]] * clustered[:, c]
    return blocks.reshape(-1, n_rows, n_components)


def kernel_products(views: ViewSet, columns: Sequence[Array]) -> list[Array]:
    """Return G_p V_p for each view and its own columns V_p (N, k), tile by tile."""
    products = [np.zeros_like(own) for own in columns]
    kernels, rows = [view.kernel for view in views], [view.rows for view in views]
    for block, other, tiles in symmetric_tiles(kernels, rows):
        for p, tile in tiles:
            products[p][block] += tile @ columns[p][other]
            if other != block:
                products[p][other] += tile.T @ columns[p][block]
    return products


@hookimpl
def mklkit_combiners() -> Iterable[type]:
    """Register the combiner."""
    return [ClusterGating]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register what it leaves in a model file."""
    return [ClusterGates]
