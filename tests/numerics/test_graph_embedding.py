"""The trace ratio against dense generalised eigenproblems and one-dimensional root finding."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from oracles.gated import best_single_direction, best_trace_ratio, discriminant_matrices, ratio_of
from sklearn.metrics.pairwise import rbf_kernel

from mklkit.numerics.eigenpairs import top_of_low_rank
from mklkit.numerics.graph_embedding import (
    Graphs,
    discriminant_graphs,
    embed_features,
    embed_gram,
    pencil_of,
    trace_ratio,
)


def maximized(coordinates, lengths, graphs, alpha, n_components, offset=0.0):
    return trace_ratio(pencil_of(coordinates, lengths, graphs, alpha), n_components, offset)


def gaussian_gram(rng, y, gamma=0.5, shift=0.8):
    rows = rng.normal(size=(len(y), 3))
    rows[:, 0] += shift * y
    return rbf_kernel(rows, gamma=gamma)


def as_functions(y):
    """Return the discriminant graphs as any others: dense, their low rank not told."""
    similarity, constraint = discriminant_matrices(y)
    return Graphs(lambda columns: similarity @ columns, lambda columns: constraint @ columns)


def coordinates_of(gram):
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept]), values[kept]


def pencil(coordinates, y, alpha):
    similarity, constraint = discriminant_matrices(y)
    upper = coordinates.T @ constraint @ coordinates
    return upper, coordinates.T @ similarity @ coordinates + alpha * np.eye(len(upper))


def test_discriminant_graphs_are_the_papers_matrices(rng):
    y = np.array([2, 0, 1, 0, 2, 2, 0, 1, 0])
    graphs, columns = discriminant_graphs(y), rng.normal(size=(9, 3))
    similarity, constraint = discriminant_matrices(y)
    np.testing.assert_allclose(graphs.similarity(columns), similarity @ columns, atol=1e-14)
    np.testing.assert_allclose(graphs.constraint(columns), constraint @ columns, atol=1e-14)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_component_is_the_top_of_the_generalized_eigenproblem(rng, alpha, n_classes):
    y = np.arange(80) % n_classes
    gram = gaussian_gram(rng, y, gamma=5.0)
    similarity, constraint = discriminant_matrices(y)
    best, direction = best_single_direction(
        gram @ constraint @ gram, gram @ similarity @ gram + alpha * gram
    )
    fitted = embed_gram(gram, discriminant_graphs(y), alpha, 1)
    assert fitted.ratio == pytest.approx(best, rel=1e-8)
    assert ratio_of(gram, fitted.projection, similarity, constraint, alpha) == pytest.approx(best)
    ours, reference = gram @ fitted.projection[:, 0], gram @ direction
    assert abs(np.corrcoef(ours, reference)[0, 1]) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("n_rows", [60, 260])
@pytest.mark.parametrize("n_components", [1, 2, 3, 7])
@pytest.mark.parametrize("alpha", [1e-3, 0.3, 30.0])
def test_low_rank_graphs_reach_the_largest_trace_ratio(rng, n_rows, n_components, alpha):
    y = np.arange(n_rows) % 4
    coordinates, lengths = coordinates_of(gaussian_gram(rng, y, gamma=3.0))
    assert (len(lengths) > 200) == (n_rows > 200)  # a Krylov solver, or a dense one
    upper, lower = pencil(coordinates, y, alpha)
    best = best_trace_ratio(upper, lower, n_components)
    fitted = maximized(coordinates, lengths, discriminant_graphs(y), alpha, n_components)
    dense = maximized(coordinates, lengths, as_functions(y), alpha, n_components)
    assert fitted.ratio == pytest.approx(best, rel=1e-8)
    assert dense.ratio == pytest.approx(best, rel=1e-8)
    for weights in (fitted.projection, dense.projection):
        np.testing.assert_allclose(weights.T @ weights, np.eye(n_components), atol=1e-8)
        reached = np.trace(weights.T @ upper @ weights) / np.trace(weights.T @ lower @ weights)
        assert reached == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("least", [0.0, 1e-9, 1e-3, 1.0])
def test_the_top_eigenvector_of_a_diagonal_and_a_low_rank(rng, least):
    diagonal, low_rank = rng.uniform(1, 2, size=30), 0.1 * rng.normal(size=(30, 2))
    diagonal[7] = 0.5
    low_rank[7] *= least
    _, vectors = np.linalg.eigh(low_rank @ low_rank.T - np.diag(diagonal))
    top = top_of_low_rank(diagonal, low_rank, 1)
    assert top.shape == (30, 1)
    assert abs(top[:, 0] @ vectors[:, -1]) == pytest.approx(1, rel=1e-12)


def test_many_classes_whose_eigenvalues_lie_close():
    """Without a limit the Krylov solver takes 25 times as long for these, and does no better."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 20)
    rows = rng.normal(size=(400, 8)) / 2 + 3 * rng.normal(size=(20, 8))[y]
    coordinates, lengths = coordinates_of(rbf_kernel(rows, gamma=0.004))
    fitted = maximized(coordinates, lengths, discriminant_graphs(y), 1e-3, 19)
    dense = maximized(coordinates, lengths, as_functions(y), 1e-3, 19)
    assert fitted.ratio == pytest.approx(dense.ratio, rel=1e-8)


@pytest.mark.parametrize("shift", [0.0, 3.0, 30.0])
@pytest.mark.parametrize("alpha", [1e-9, 1e-3])
def test_krylov_and_dense_solvers_agree_where_classes_lie_far_apart(rng, shift, alpha):
    y = np.arange(250) % 3
    coordinates, lengths = coordinates_of(gaussian_gram(rng, y, gamma=2.0, shift=shift))
    krylov = maximized(coordinates, lengths, discriminant_graphs(y), alpha, 2)
    dense = maximized(coordinates, lengths, as_functions(y), alpha, 2)
    # The ratio is up to 1e9, so that the scatter in it has few digits.
    assert krylov.ratio == pytest.approx(dense.ratio, rel=1e-5)
    angles = np.linalg.svd(krylov.projection.T @ dense.projection, compute_uv=False)
    np.testing.assert_allclose(angles, 1, atol=1e-5)


@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 5),
    n_components=st.integers(1, 8),
    alpha=st.sampled_from([0.0, 1e-6, 1e-3, 1.0, 1e3]),
    offset=st.sampled_from([0.0, 0.5, 50.0]),
)
def test_the_ratio_never_decreases(seed, n_classes, n_components, alpha, offset):
    rng = np.random.default_rng(seed)
    y = np.arange(24) % n_classes
    coordinates, lengths = coordinates_of(gaussian_gram(rng, y))
    fitted = maximized(
        coordinates, lengths, discriminant_graphs(y), alpha, n_components, offset=offset
    )
    assert np.isfinite(fitted.history).all()
    assert (np.diff(fitted.history) >= 0).all()
    assert fitted.history[-1] == fitted.ratio > 0


def test_a_constant_in_the_denominator_is_counted(rng):
    y = np.arange(60) % 3
    coordinates, lengths = coordinates_of(gaussian_gram(rng, y))
    upper, lower = pencil(coordinates, y, 0.1)
    fitted = maximized(coordinates, lengths, discriminant_graphs(y), 0.1, 2, offset=3.0)
    spread = lower + 1.5 * np.eye(len(lower))  # tr(WᵀW) = 2 brings 1.5 back to 3
    assert fitted.ratio == pytest.approx(best_trace_ratio(upper, spread, 2), rel=1e-8)


def test_features_and_gram_give_one_embedding(rng):
    y = np.arange(90) % 3
    features = rng.normal(size=(90, 6)) + np.eye(6)[y]
    graphs = discriminant_graphs(y)
    of_features = embed_features(features, graphs, 0.1, 2)
    fitted = embed_gram(features @ features.T, graphs, 0.1, 2)
    assert of_features.ratio == pytest.approx(fitted.ratio, rel=1e-9)
    ours, reference = features @ of_features.projection, features @ features.T @ fitted.projection
    rotation, _ = scipy.linalg.orthogonal_procrustes(ours, reference)
    np.testing.assert_allclose(ours @ rotation, reference, atol=1e-6)
