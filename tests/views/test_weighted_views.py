"""Weighted sums of views: √w_m Φ_m side by side, and Σ w_m K_m, by scikit-learn and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import TRIO, in_blocks, trio_grams, views_of

from mklkit.views.deciding import RowBlock, weighted_columns

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
