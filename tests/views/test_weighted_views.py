"""Weighted sums of views: √w_m Φ_m side by side, and Σ w_m K_m, by scikit-learn and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import TRIO, in_blocks, trio_grams, views_of
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from mklkit.feature_maps import Implicit
from mklkit.kernels import RBF, Linear
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.deciding import RowBlock, weighted_columns
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.view_set import ViewSet

WEIGHTS = np.array([0.2, 0.5, 0.3])


@pytest.fixture
def rows(rng):
    return rng.normal(size=(50, 4))


def side_by_side(views, weights):
    """The features of the views with weights above 0, each times the root of its weight."""
    parts = zip(weights, views, strict=True)
    return np.hstack([w**0.5 * view.features() for w, view in parts if w > 0])


def same(actual, expected):
    np.testing.assert_allclose(actual, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_new_rows_have_the_weighted_sum_of_their_similarities(feature_map, rows, rng):
    """Features of a full empirical map have the kernel's values only beside a training row."""
    new = rows[::5] if feature_map == "empirical" else rng.normal(size=(9, 4))
    views = views_of(TRIO, rows, feature_map)
    explicit = feature_map == "empirical"
    projectors = [view.projector for view in views]
    columns = weighted_columns(RowBlock(new), projectors, WEIGHTS, explicit)
    similar = columns @ views.weighted(WEIGHTS).features().T if explicit else columns
    grams = trio_grams(new, rows)
    expected = sum(w * gram for w, gram in zip(WEIGHTS, grams, strict=True))
    np.testing.assert_allclose(similar, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_training_rows_have_the_weighted_sum_of_the_kernels(feature_map, rows):
    views = views_of(TRIO, rows, feature_map)
    expected = sum(w * gram for w, gram in zip(WEIGHTS, trio_grams(rows), strict=True))
    same(views.weighted(WEIGHTS).gram(), expected)


@pytest.mark.parametrize("least", [0, 2**24], ids=["in threads", "in one"])
def test_rows_of_a_sum_of_gaussians_are_those_of_scikit_learn(least, rows, monkeypatch):
    """Of two sources, first without the Gram matrix, and then from it."""
    monkeypatch.setattr("mklkit.views.view.WORTH_THREADS", least)
    gammas, columns = (0.5, 2.0, 0.1), [np.arange(3), np.array([3]), np.arange(3)]
    members, parts = np.array([7, 0, 49]), [rows[:, places] for places in columns]
    terms = zip(WEIGHTS, gammas, parts, strict=True)
    expected = sum(w * rbf_kernel(part[members], part, gamma) for w, gamma, part in terms)
    pairs = zip(gammas, columns, strict=True)
    kernels = [BoundKernel(str(gamma), RBF(gamma=gamma), places) for gamma, places in pairs]
    side = ViewSet.fit(kernels, Implicit(), rows, np.random.RandomState(0)).weighted(WEIGHTS)
    assert not side.has_gram
    with threadpool_limits(2, "blas"):
        np.testing.assert_allclose(side.some_similarities(members), expected, atol=5e-7)
    np.testing.assert_allclose(side.own_similarities(), 1.0)
    side.gram()
    assert side.has_gram
    same(side.some_similarities(members), expected)


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_rows_of_other_sums_are_those_of_the_gram_matrix(feature_map, rows):
    side = views_of(TRIO, rows, feature_map).weighted(WEIGHTS)
    expected = sum(w * gram for w, gram in zip(WEIGHTS, trio_grams(rows), strict=True))
    assert side.has_gram
    same(side.some_similarities(np.array([7, 0])), expected[[7, 0]])
    same(side.own_similarities(), np.diagonal(expected))


def test_only_gaussians_of_dense_and_complete_rows_are_summed_by_rows(rows):
    gaussian, linear = RBF(gamma=0.5).fit(rows), Linear().fit(rows)
    assert KernelRows.of([gaussian], [rows]).exponential_sums(np.ones(1)) is not None
    for kernels, array, missing in (
        ([gaussian, linear], rows, None),
        ([gaussian], csr_array(rows), None),
        ([gaussian], rows, np.zeros((50, 1), bool)),
    ):
        kernel_rows = KernelRows.of(kernels, [array] * len(kernels), missing=missing)
        assert kernel_rows.exponential_sums(np.ones(len(kernels))) is None


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "in blocks"])
@pytest.mark.parametrize("weights", [WEIGHTS, np.array([0.7, 0.0, 0.3]), np.array([0.0, 0.0, 2])])
def test_features_have_the_roots_of_their_weights(weights, kept, rng):
    n_rows = 50 if kept else 1100
    rows = rng.normal(size=(n_rows, 4))
    views = views_of(TRIO, rows, "empirical(subset=9)")
    views = views if kept else in_blocks(views)
    features = side_by_side(views, weights)
    side = views.weighted(weights)
    same(side.features(), features)
    members = np.array([3, 17, 40])
    same(side.some_features(members), features[members])
    coefficients, targets = rng.normal(size=features.shape[1]), rng.normal(size=(n_rows, 2))
    same(side.project(coefficients), features @ coefficients)
    same(side.project_back(targets), features.T @ targets)
    same(side.normal_matrix().products, features.T @ features)
    counts = rng.uniform(0.5, 2, n_rows)
    products, sums = side.weighted_products(counts, targets)
    same(products, features.T @ (counts[:, None] * features))
    same(sums, features.T @ targets)
    y = np.where(rows[:, 0] > 0, 1.0, -1.0)
    means = [np.average(features[y == c], axis=0, weights=counts[y == c]) for c in (-1, 1)]
    same(side.class_moments(y, counts).means, np.array(means))
