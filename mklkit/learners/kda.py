"""KDA: kernel discriminant analysis by graph embedding and trace ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import attrs
import numpy as np
import scipy.linalg
from attrs.validators import ge, instance_of, is_callable, optional
from numpy.typing import NDArray

from mklkit.numerics.graph_embedding import Graphs, discriminant_graphs, trace_ratio
from mklkit.numerics.least_squares import Spectrum
from mklkit.protocols import Array, TrainingSide
from mklkit.protocols.component import Component, finite, whole
from mklkit.registry.hookspecs import hookimpl

__all__ = ["KDA", "EmbeddingDecision", "GramEmbedding", "embed_features", "embed_gram"]


@attrs.frozen(eq=False)
class EmbeddingDecision:
    """Nearest class mean in an embedding.

    Attributes
    ----------
    projection : ndarray of shape (N, K) or (p, K)
        A, on similarities to the training rows or on features.
    means : ndarray of shape (C, K)
        The classes' means in the embedding, classes in the order of their labels.
    history : tuple of float
        The trace ratio after each step.
    """

    projection: Array
    means: Array
    history: tuple[float, ...] = ()

    def embed(self, columns: Array) -> Array:
        """Return the embedded rows (n, K) for columns (n, N) or (n, p)."""
        return columns @ self.projection

    def decide(self, columns: Array) -> Array:
        """Return ‖z − m₀‖² − ‖z − m₁‖², (n,), for two classes, else −‖z − m_c‖², (n, C)."""
        points = self.embed(columns)
        distances = np.stack([((points - mean) ** 2).sum(axis=1) for mean in self.means], axis=1)
        return distances[:, 0] - distances[:, 1] if len(self.means) == 2 else -distances


@attrs.frozen
class KDA(Component):
    """Graph embedding that draws classes together and rows apart; nearest class mean decides.

    Maximises tr(AᵀGBGA)/tr(Aᵀ(GLG + γG)A), with directions orthonormal in feature space. The
    graphs are those of linear discriminant analysis unless others are given. Binary and multiclass
    alike.

    Parameters
    ----------
    reg : float, default=1e-3
        γ, Tikhonov regularisation.
    n_components : int, optional
        K; one less than the number of classes when not given.
    graphs : callable, optional
        Takes the labels (N,) and returns :class:`mklkit.numerics.graph_embedding.Graphs`; in
        Python only.

    Notes
    -----
    One eigendecomposition, O(N³) time and five N × N matrices on a Gram matrix, O(Np² + p³) on
    features; then each step of the trace ratio costs some O(NC) products with vectors for C
    classes. Source: paper 001, section 4.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MKLClassifier("linear", learner=KDA()).fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "kda"
    on_features: ClassVar[bool] = True
    on_gram: ClassVar[bool] = True
    native_multiclass: ClassVar[bool] = True
    takes_indefinite: ClassVar[bool] = True

    reg: float = attrs.field(default=1e-3, converter=float, validator=[ge(0), finite])
    n_components: int | None = attrs.field(
        default=None, converter=whole, validator=optional([instance_of(int), ge(1)])
    )
    graphs: Callable[[NDArray[Any]], Graphs] | None = attrs.field(
        default=None, validator=optional(is_callable())
    )

    def fit(self, side: TrainingSide, y: Array) -> EmbeddingDecision:
        """Return the decision function learned from labels −1 and +1, or class numbers."""
        graphs = (self.graphs or discriminant_graphs)(y)
        n_components = embedding_size(self.n_components, y)
        if side.explicit:
            columns = side.features()
            projection, history = embed_features(columns, graphs, self.reg, n_components)
        else:
            columns = side.gram()
            found = embed_gram(columns, graphs, self.reg, n_components)
            projection, history = found.projection, found.history
        projection = whitened(projection, columns @ projection, y, self.reg)
        return EmbeddingDecision(projection, class_means(columns @ projection, y), history)


def whitened(projection: Array, points: Array, y: Array, regularization: float) -> Array:
    """Return a projection with the regularised scatter within classes the same in all directions.

    The trace ratio leaves the directions' scales open, which distances to class means depend on.
    One direction alone keeps its scale.
    """
    if points.shape[1] == 1:
        return projection
    within = points - class_means(points, y)[np.unique(y, return_inverse=True)[1]]
    scatter = within.T @ within
    size = max(regularization, 1e-12 * float(np.trace(scatter)), np.finfo(float).tiny)
    scatter[np.diag_indices_from(scatter)] += size
    return scipy.linalg.solve_triangular(
        scipy.linalg.cholesky(scatter, lower=True), projection.T, lower=True
    ).T


@attrs.frozen(eq=False)
class GramEmbedding:
    """A (N, K) on a Gram matrix's rows, the trace ratio, and its history."""

    projection: Array
    ratio: float
    history: tuple[float, ...]


def embed_gram(
    gram: Array, graphs: Graphs, regularization: float, n_components: int, offset: float = 0.0
) -> GramEmbedding:
    """Return the embedding of a Gram matrix (N, N), by one eigendecomposition, O(N³).

    Directions with negative eigenvalues (an indefinite kernel) are left out: along them the
    regularised ratio has no bound.
    """
    spectrum = Spectrum.of(gram)
    roots = np.sqrt(spectrum.values)
    found = trace_ratio(
        spectrum.vectors * roots, spectrum.values, graphs, regularization, n_components, offset
    )
    # W = D^{1/2}Uᵀα in coordinates; α in the span of U.
    return GramEmbedding(
        spectrum.vectors @ (found.weights / roots[:, None]), found.ratio, found.history
    )


def embed_features(
    features: Array, graphs: Graphs, regularization: float, n_components: int
) -> tuple[Array, tuple[float, ...]]:
    """Return the embedding (p, K) of features (N, p), in O(Np² + p³), and the ratio's history."""
    spectrum = Spectrum.of(features.T @ features)
    coordinates = features @ spectrum.vectors
    found = trace_ratio(coordinates, spectrum.values, graphs, regularization, n_components)
    return spectrum.vectors @ found.weights, found.history


def embedding_size(n_components: int | None, y: Array) -> int:
    """Return K: as asked, or one less than the classes; less than the rows in any case."""
    wanted = len(np.unique(y)) - 1 if n_components is None else n_components
    return max(1, min(wanted, len(y) - 1))


def class_means(points: Array, y: Array) -> Array:
    """Return the classes' means (C, K) of embedded rows (N, K), in the order of the labels."""
    return np.stack([points[y == label].mean(axis=0) for label in np.unique(y)])


@hookimpl
def mklkit_learners() -> Iterable[type]:
    """Register the learner."""
    return [KDA]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register what it leaves in a model file."""
    return [EmbeddingDecision]
