"""Graph embedding by trace ratio: max tr(WᵀZᵀBZW) / tr(Wᵀ(ZᵀLZ + γI)W) over WᵀW = I.

Z (N, r) are orthogonal coordinates of the rows, ZᵀZ = diag(d): those of a Gram matrix G = ZZᵀ, with
W = Z⁺GA, or the features of a full empirical map. For one component the ratio is that of Mu and
Zhou 2011, tr(AᵀGBGA)/tr(Aᵀ(GLG + γG)A); for several, orthonormal W excludes directions in the null
space of G, which orthonormal A would allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.eigenpairs import AppliedSpectrum, DensePencil, DiscriminantPencil
from mklkit.numerics.least_squares import SPECTRUM_TOLERANCE, Spectrum, feature_rounding, rounding

Array = NDArray[np.floating[Any]]
Apply = Callable[[Array], Array]

GROWTH = 1e-10
"""The iteration stops when the ratio grows by at most this fraction of itself."""
MAX_STEPS = 100


@attrs.frozen(eq=False)
class Graphs:
    """The two graphs of an embedding, as functions that apply them to columns (N, k).

    ``similarity`` applies L, whose quadratic form is minimised, ``constraint`` B, whose form is
    maximised. ``classes`` is E (N, C) with orthonormal columns if L = I − EEᵀ and B = I − 11ᵀ/N:
    discriminant analysis, which then needs no dense matrix. With sample weights v, columns are
    multiplied by √v, and ``unit`` (N,), the roots of the samples' shares of the weight, replaces
    1/√N.
    """

    similarity: Apply
    constraint: Apply
    classes: Array | None = None
    unit: Array | None = None

    @property
    def share(self) -> Array:
        """Eᵀ1/√N: the roots of the classes' shares of the samples, (C,)."""
        assert self.classes is not None, "discriminant graphs have classes"
        if self.unit is not None:
            return self.unit @ self.classes
        return self.classes.sum(axis=0) / np.sqrt(len(self.classes))


def discriminant_graphs(labels: NDArray[Any], row_weights: Array | None = None) -> Graphs:
    """Return the graphs of linear discriminant analysis for labels (N,).

    L = I − W with W_ij = 1/n_c within a class; B = I − 11ᵀ/N (Mu and Zhou 2011, section 3.2). With
    sample weights v, for columns that are multiplied by √v: W_ij = √(v_i v_j)/n_c with n_c the
    weight of a class, and √(v_i v_j)/Σv instead of 1/N.
    """
    _, codes = np.unique(labels, return_inverse=True)
    members = np.zeros((len(codes), codes.max() + 1))
    roots = np.ones(len(codes)) if row_weights is None else np.sqrt(row_weights)
    members[np.arange(len(codes)), codes] = roots
    members /= np.linalg.norm(members, axis=0)
    unit = None if row_weights is None else roots / np.linalg.norm(roots)

    def within(columns: Array) -> Array:
        return columns - members @ (members.T @ columns)

    def total(columns: Array) -> Array:
        if unit is None:
            return columns - columns.mean(axis=0)
        return columns - np.outer(unit, unit @ columns)

    return Graphs(within, total, members, unit)


@attrs.frozen(eq=False)
class Embedding:
    """W, orthonormal (r, K), (p, K) or (N, K), its trace ratio λ, and λ after each step."""

    projection: Array
    ratio: float
    history: tuple[float, ...]


def trace_ratio(
    pencil: DensePencil | DiscriminantPencil, n_components: int, offset: float = 0.0
) -> Embedding:
    """Maximise the trace ratio of S_B and S_L + γI over at most r orthonormal weights.

    ``offset`` is added to the denominator, from a prior. Each step computes the top K eigenvectors
    of S_B − λS_L, and then their ratio λ (Wang et al. 2007), which increases to its maximum. For
    discriminant graphs a step costs O(rC) products with vectors, for others O(r³).
    """
    n_components = min(n_components, pencil.size)
    ratio = 0.0
    history: list[float] = []
    weights: Array = np.eye(pencil.size, n_components)
    candidate = pencil.start(n_components)
    for _ in range(MAX_STEPS):
        if candidate is None:
            candidate = pencil.top(ratio, n_components)
        numerator, denominator = pencil.traces(candidate)
        now = numerator / (denominator + offset) if denominator + offset > 0 else 0.0
        if history and now <= ratio:
            break
        grown = now - ratio
        weights = candidate
        ratio = now
        history.append(ratio)
        if grown <= GROWTH * abs(ratio):
            break
        candidate = None
    return Embedding(weights, ratio, tuple(history))


def pencil_of(
    coordinates: Array, lengths: Array, graphs: Graphs, regularization: float
) -> DensePencil | DiscriminantPencil:
    """Return the pencil of graphs in coordinates Z (N, r) with the squared lengths d (r,)."""
    if graphs.classes is not None:
        cross = coordinates.T @ graphs.classes
        return DiscriminantPencil(lengths, cross, graphs.share, regularization)
    lower = coordinates.T @ graphs.similarity(coordinates)
    lower[np.diag_indices_from(lower)] += regularization
    return DensePencil(coordinates.T @ graphs.constraint(coordinates), lower)


def embed_gram(
    gram: Array, graphs: Graphs, regularization: float, n_components: int, offset: float = 0.0
) -> Embedding:
    """Return the embedding of a Gram matrix (N, N), by one eigendecomposition, O(N³).

    Directions with negative eigenvalues (an indefinite kernel) are dropped: along them the
    regularised ratio is unbounded.
    """
    # Rounding errors of a float32 decomposition reach γ, and would cut off relevant directions.
    gram = np.asarray(gram, np.float64)
    if graphs.classes is not None:
        tolerance = max(SPECTRUM_TOLERANCE, rounding(gram))
        applied = AppliedSpectrum.of(gram, tolerance)
        scale = np.sqrt(applied.values)[:, None]
        cross = scale * applied.coordinates(graphs.classes)
        pencil = DiscriminantPencil(applied.values, cross, graphs.share, regularization)
        best = trace_ratio(pencil, n_components, offset)
        return attrs.evolve(best, projection=applied.combined(best.projection / scale))
    spectrum = Spectrum.of(gram)
    roots = np.sqrt(spectrum.values)
    coordinates = spectrum.vectors * roots
    dense = pencil_of(coordinates, spectrum.values, graphs, regularization)
    best = trace_ratio(dense, n_components, offset)
    # W = D^{1/2}Uᵀα in coordinates; α lies in the span of U.
    return attrs.evolve(best, projection=spectrum.vectors @ (best.projection / roots[:, None]))


def embed_features(
    features: Array, graphs: Graphs, regularization: float, n_components: int
) -> Embedding:
    """Return the embedding (p, K) of features (N, p), in O(Np² + p³)."""
    precision = float(np.finfo(features.dtype).eps)
    features = np.asarray(features, np.float64)
    tolerance = max(SPECTRUM_TOLERANCE, feature_rounding(precision, features.shape[1]))
    spectrum = Spectrum.of(features.T @ features, tolerance)
    coordinates = features @ spectrum.vectors
    pencil = pencil_of(coordinates, spectrum.values, graphs, regularization)
    best = trace_ratio(pencil, n_components)
    return attrs.evolve(best, projection=spectrum.vectors @ best.projection)


def whitened(projection: Array, scatter: Array, regularization: float) -> Array:
    """Return a projection that makes the regularised scatter (K, K) the identity up to scale.

    Distances to class means depend on the scales of the directions, which the trace ratio does not
    determine. A single direction keeps its scale.
    """
    if len(scatter) == 1:
        return projection
    size = max(regularization, 1e-12 * float(np.trace(scatter)), np.finfo(float).tiny)
    ridged = scatter + size * np.eye(len(scatter))
    return scipy.linalg.solve_triangular(
        scipy.linalg.cholesky(ridged, lower=True), projection.T, lower=True
    ).T


def scatter_within(points: Array, y: Array, row_weights: Array | None = None) -> Array:
    """Return the scatter (K, K) of embedded samples (N, K) about their class means."""
    codes = np.unique(y, return_inverse=True)[1]
    within = points - class_means(points, y, row_weights)[codes]
    return within.T @ (within if row_weights is None else row_weights[:, None] * within)


@attrs.frozen(eq=False)
class ClassScatter:
    """The input of discriminant analysis on features: the samples' scatter and the class means.

    ``precision`` is the rounding error of the features, relative to their size.
    """

    total: ClassMoments
    counts: Array
    means: Array
    precision: float

    def embedding(self, regularization: float, n_components: int) -> Embedding:
        """Return the embedding (p, K) of discriminant graphs, in O(p³)."""
        normal = self.total.normal_matrix().products
        tolerance = max(SPECTRUM_TOLERANCE, feature_rounding(self.precision, len(normal)))
        spectrum = Spectrum.of(normal, tolerance)
        cross = spectrum.vectors.T @ (self.means.T * np.sqrt(self.counts))
        share = np.sqrt(self.counts / self.total.total)
        pencil = DiscriminantPencil(spectrum.values, cross, share, regularization)
        best = trace_ratio(pencil, n_components)
        return attrs.evolve(best, projection=spectrum.vectors @ best.projection)

    def within(self, projection: Array) -> Array:
        """Return the scatter (K, K) of the embedded samples about their class means."""
        offsets = (self.means - self.total.origin) @ projection
        about_origin = projection.T @ self.total.products[0] @ projection
        return about_origin - offsets.T @ (self.counts[:, None] * offsets)


def embedding_size(n_components: int | None, y: Array) -> int:
    """Return K: as given, or one less than the number of classes; below the number of samples."""
    wanted = len(np.unique(y)) - 1 if n_components is None else n_components
    return max(1, min(wanted, len(y) - 1))


def class_means(points: Array, y: Array, row_weights: Array | None = None) -> Array:
    """Return the class means (C, K) of embedded samples (N, K), in the order of the labels."""
    members = [y == label for label in np.unique(y)]
    if row_weights is None:
        return np.stack([points[of_class].mean(axis=0) for of_class in members])
    counted = [np.where(of_class, row_weights, 0.0) for of_class in members]
    shares = [weights / weights.sum() for weights in counted]
    return np.stack(shares) @ points
