"""Discriminant embeddings of Gram matrices and of features, and operations on embedded points."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.graph_embedding import DiscriminantPencil, Graphs, climb, trace_ratio
from mklkit.numerics.least_squares import SPECTRUM_TOLERANCE, Spectrum, rounding
from mklkit.numerics.threads import one_blas_thread
from mklkit.numerics.tridiagonal import AppliedSpectrum

__all__ = [
    "ClassScatter",
    "GramEmbedding",
    "class_means",
    "embed_features",
    "embed_gram",
    "embedding_size",
    "scatter_within",
    "whitened",
]

Array = NDArray[np.floating[Any]]

ONE_THREAD_ROWS = 2000
"""Below, threads of one decomposition spend more time waiting for each other than they save."""


def whitened(projection: Array, scatter: Array, regularization: float) -> Array:
    """Return a projection that makes the regularised within-class scatter the identity up to scale.

    The trace ratio does not determine the scales of the directions, on which distances to class
    means depend. A single direction keeps its scale.

    Parameters
    ----------
    projection : ndarray of shape (N, K) or (p, K)
    scatter : ndarray of shape (K, K)
        The scatter of the embedded rows about their class means.
    regularization : float
    """
    if len(scatter) == 1:
        return projection
    size = max(regularization, 1e-12 * float(np.trace(scatter)), np.finfo(float).tiny)
    ridged = scatter + size * np.eye(len(scatter))
    return scipy.linalg.solve_triangular(
        scipy.linalg.cholesky(ridged, lower=True), projection.T, lower=True
    ).T


def scatter_within(points: Array, y: Array, row_weights: Array | None = None) -> Array:
    """Return the scatter (K, K) of embedded rows (N, K) about their class means."""
    codes = np.unique(y, return_inverse=True)[1]
    within = points - class_means(points, y, row_weights)[codes]
    return within.T @ (within if row_weights is None else row_weights[:, None] * within)


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

    Directions with negative eigenvalues (an indefinite kernel) are dropped: along them the
    regularised ratio is unbounded. Discriminant graphs need no eigenvectors, only products with
    them.
    """
    # Rounding of a float32 decomposition reaches γ, and directions that count would be cut off.
    gram = np.asarray(gram, np.float64)
    if graphs.classes is not None:
        tolerance = max(SPECTRUM_TOLERANCE, rounding(gram))
        with one_blas_thread(len(gram) < ONE_THREAD_ROWS):
            applied = AppliedSpectrum.of(gram, tolerance)
        scale = np.sqrt(applied.values)[:, None]
        cross = scale * applied.coordinates(graphs.classes)
        pencil = DiscriminantPencil(applied.values, cross, graphs.share, regularization)
        found = climb(pencil, n_components, offset)
        return GramEmbedding(applied.combined(found.weights / scale), found.ratio, found.history)
    spectrum = Spectrum.of(gram)
    roots = np.sqrt(spectrum.values)
    found = trace_ratio(
        spectrum.vectors * roots, spectrum.values, graphs, regularization, n_components, offset
    )
    # W = D^{1/2}Uᵀα in coordinates; α lies in the span of U.
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


@attrs.frozen(eq=False)
class ClassScatter:
    """What discriminant analysis needs of features: the rows' scatter and the class means.

    Attributes
    ----------
    whole : ClassMoments
        Of all rows as one class.
    counts : ndarray of shape (C,)
    means : ndarray of shape (C, p)
    precision : float
        The rounding error of the features, relative to their size.
    """

    whole: ClassMoments
    counts: Array
    means: Array
    precision: float

    def embedding(
        self, regularization: float, n_components: int
    ) -> tuple[Array, tuple[float, ...]]:
        """Return the embedding (p, K) of discriminant graphs, in O(p³), and the ratio's history."""
        normal = self.whole.normal_matrix().products
        # Products are summed in float64: rounded features alone move eigenvalues, by their squares.
        rounded = len(normal) * (4 * self.precision) ** 2
        spectrum = Spectrum.of(normal, max(SPECTRUM_TOLERANCE, rounded))
        cross = spectrum.vectors.T @ (self.means.T * np.sqrt(self.counts))
        share = np.sqrt(self.counts / self.whole.total)
        pencil = DiscriminantPencil(spectrum.values, cross, share, regularization)
        found = climb(pencil, n_components)
        return spectrum.vectors @ found.weights, found.history

    def within(self, projection: Array) -> Array:
        """Return the scatter (K, K) of the embedded rows about their class means."""
        offsets = (self.means - self.whole.origin) @ projection
        about_origin = projection.T @ self.whole.products[0] @ projection
        return about_origin - offsets.T @ (self.counts[:, None] * offsets)


def embedding_size(n_components: int | None, y: Array) -> int:
    """Return K: as given, or one less than the number of classes; always less than the rows."""
    wanted = len(np.unique(y)) - 1 if n_components is None else n_components
    return max(1, min(wanted, len(y) - 1))


def class_means(points: Array, y: Array, row_weights: Array | None = None) -> Array:
    """Return the class means (C, K) of embedded rows (N, K), in the order of the labels."""
    members = [y == label for label in np.unique(y)]
    if row_weights is None:
        return np.stack([points[own].mean(axis=0) for own in members])
    shares = [np.where(own, row_weights, 0.0) / row_weights[own].sum() for own in members]
    return np.stack(shares) @ points
