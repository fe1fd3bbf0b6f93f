"""KDA: kernel discriminant analysis by graph embedding and trace ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of, is_callable, optional
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.graph_embedding import (
    ClassScatter,
    Graphs,
    class_means,
    discriminant_graphs,
    embed_features,
    embed_gram,
    embedding_size,
    scatter_within,
    whitened,
)
from mklkit.protocols import Array, FittedLearner, Learner, LearnerTraits, Target, TrainingView
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register


@register
@attrs.frozen(eq=False)
class EmbeddingDecision(FittedLearner):
    """Nearest class mean (C, K) in an embedding A of similarities (N, K) or features (p, K).

    The means are in the order of the labels; ``history`` is the trace ratio after each step.
    """

    projection: Array
    means: Array
    history: tuple[float, ...] = ()

    def embed(self, columns: Array) -> Array:
        """Return the embedded samples (n, K) for columns (n, N) or (n, p)."""
        return columns @ self.projection

    def decide(self, columns: Array) -> Array:
        """Return ‖z − m₀‖² − ‖z − m₁‖², (n,), for two classes, else −‖z − m_c‖², (n, C)."""
        points = self.embed(columns)
        distances = np.stack([((points - mean) ** 2).sum(axis=1) for mean in self.means], axis=1)
        return distances[:, 0] - distances[:, 1] if len(self.means) == 2 else -distances


@register
@attrs.frozen
class KDA(Learner):
    """Graph embedding that separates the classes; samples are assigned to the nearest class mean.

    Maximises tr(AᵀGBGA)/tr(Aᵀ(GLG + γG)A) over directions orthonormal in feature space. The default
    graphs are those of linear discriminant analysis; only these allow sample weights, which count
    in the scatter and in the means. Works for two or more classes.

    Parameters
    ----------
    alpha : float, default=1e-3
        The Tikhonov regularisation, γ in the paper.
    n_components : int, optional
        The number K of components; by default one less than the number of classes.
    graphs : callable, optional
        Takes the labels (N,) and returns :class:`mklkit.numerics.graph_embedding.Graphs`; only in
        Python.

    See Also
    --------
    Ridge : Least squares on class indicators.

    Notes
    -----
    Cost: O(N³) on a Gram matrix, O(Np² + p³) on p features.

    On a Gram matrix one eigendecomposition, O(N³) time and five N × N matrices; on features O(Np² +
    p³), from sums over blocks of samples unless ``graphs`` are given. Each trace-ratio step then
    costs about O(NC) products with vectors for C classes. The method is that of section 4 of Mu and
    Zhou 2011 [1]_.

    References
    ----------
    .. [1] Y. Mu and B. Zhou, "Non-uniform multiple kernel learning with cluster-based gating
       functions", Neurocomputing 74 (2011), 1095–1101.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MKLClassifier("linear", learner=KDA()).fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "kda"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_features=True,
        on_gram=True,
        learns=("two classes", "several classes"),
        takes_row_weights=True,
        takes_indefinite=True,
        from_moments=True,
        search_space={"alpha": (1.0, 0.1, 1e-2, 1e-3, 1e-4)},
    )

    alpha: float = attrs.field(default=1e-3, converter=float, validator=[ge(0), finite_number])
    n_components: int | None = attrs.field(
        default=None, converter=as_int, validator=optional([instance_of(int), ge(1)])
    )
    graphs: Callable[[NDArray[Any]], Graphs] | None = attrs.field(
        default=None, validator=optional(is_callable())
    )

    def fit(self, side: TrainingView, target: Target) -> EmbeddingDecision:
        """Return the decision function learned from labels −1 and +1, or class numbers."""
        y, row_weights = target.values, target.row_weights
        n_components = embedding_size(self.n_components, y)
        if self.graphs is None and side.explicit:
            return self._fit_moments(side, target, n_components)
        if self.graphs is not None and row_weights is not None:
            raise IncompatibleError(
                "kda can't take sample weights or classes with custom graphs: leave out one."
            )
        if side.explicit:
            columns = side.features()
            graphs = (self.graphs or discriminant_graphs)(y)
            embedding = embed_features(columns, graphs, self.alpha, n_components)
            projection, history = embedding.projection, embedding.history
        else:
            columns = side.gram()
            projection, history = self._embed_gram(columns, target, n_components)
        scatter = scatter_within(columns @ projection, y, row_weights)
        projection = whitened(projection, scatter, self.alpha)
        means = class_means(columns @ projection, y, row_weights)
        return EmbeddingDecision(projection, means, history)

    def _embed_gram(
        self, gram: Array, target: Target, n_components: int
    ) -> tuple[Array, tuple[float, ...]]:
        """Return the embedding (N, K) of a Gram matrix and its history.

        For weighted samples it is V^½A, with A the embedding of V^½GV^½ for the weights V.
        """
        if target.row_weights is None:
            graphs = (self.graphs or discriminant_graphs)(target.values)
            embedding = embed_gram(gram, graphs, self.alpha, n_components)
            return embedding.projection, embedding.history
        graphs = discriminant_graphs(target.values, target.row_weights)
        roots = np.sqrt(target.row_weights)[:, None].astype(gram.dtype)
        embedding = embed_gram(roots * gram * roots.T, graphs, self.alpha, n_components)
        return roots * embedding.projection, embedding.history

    def _fit_moments(
        self, side: TrainingView, target: Target, n_components: int
    ) -> EmbeddingDecision:
        """Return the decision of discriminant graphs from two passes over the samples."""
        y, weights = target.values, target.row_weights
        labels, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes, weights).astype(np.float64)
        members = (codes[:, None] == np.arange(len(labels))).astype(y.dtype)
        means = side.project_back(members if weights is None else members * weights[:, None])
        precision = np.finfo(np.result_type(y.dtype, np.float32)).eps
        whole = side.class_moments(row_weights=weights)
        classes = ClassScatter(whole, counts, means.T / counts[:, None], precision)
        embedding = classes.embedding(self.alpha, n_components)
        within = classes.within(embedding.projection)
        projection = whitened(embedding.projection, within, self.alpha)
        return EmbeddingDecision(projection, classes.means @ projection, embedding.history)
