"""Centred alignment against dense formulas and a generic non-negative solver."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_optimize.cka import best_aligned
from optimize_problems import grams_of, random_problem, weights_by
from scipy.optimize import lsq_linear

from mklkit import MKLClassifier, WeightsWarning, kernel_alignment


def _dense(grams, labels):
    n_rows = len(labels)
    centring = np.eye(n_rows) - 1 / n_rows
    centered = [centring @ gram @ centring for gram in grams]
    products = np.array([[np.sum(a * b) for b in centered] for a in centered])
    return products, np.array([labels @ gram @ labels for gram in centered])


@pytest.mark.parametrize("seed", range(5))
def test_the_weights_are_the_dense_problems(seed):
    """Rows beyond one tile, and the non-negative problem by scipy's bounded least squares."""
    rows, labels = random_problem(seed, n_rows=60 if seed else 700)
    grams = grams_of(rows)
    # vᵀMv − 2vᵀa as ‖Av − b‖² over the centred matrices' values, laid out as columns.
    centring = np.eye(len(labels)) - 1 / len(labels)
    columns = np.array([(centring @ gram @ centring).ravel() for gram in grams]).T
    target = np.outer(labels, labels).ravel()
    size = np.linalg.norm(columns, axis=0)
    weights = lsq_linear(columns / size, target, bounds=(0, np.inf), tol=1e-14).x / size
    np.testing.assert_allclose(weights_by("cka", rows, labels), weights / weights.sum(), atol=1e-5)


def test_no_other_weights_are_better_aligned():
    rows, labels = random_problem(3, n_rows=80)
    grams, ideal = grams_of(rows), np.outer(labels, labels)

    def alignment(weights):
        return kernel_alignment(np.einsum("m,mij->ij", weights, grams), ideal, centered=True)

    reached = alignment(weights_by("cka", rows, labels))
    rng = np.random.default_rng(0)
    assert all(alignment(w) <= reached + 1e-9 for w in rng.dirichlet(np.full(6, 0.3), size=300))
    assert all(alignment(w) <= reached + 1e-9 for w in np.eye(6))


def test_kernels_given_twice_share_a_weight():
    """M is singular then; what counts is the sum that the pair gets."""
    rows, labels = random_problem(1, n_rows=60)
    products, with_labels = _dense(grams_of(rows)[[1, 2]], labels)
    once = best_aligned(products, with_labels)
    twice = np.array([0, 0, 1])
    both = best_aligned(products[np.ix_(twice, twice)], with_labels[twice])
    np.testing.assert_allclose([both[0] + both[1], both[2]], once, rtol=1e-5, atol=1e-9)


def test_kernels_with_large_means_keep_their_digits():
    """Adding a constant to a kernel leaves its centred form, and so the weights, as they were."""
    rows, labels = random_problem(2, n_rows=60)
    near, far = (
        MKLClassifier(
            kernels=["rbf(gamma=0.1)", f"polynomial(degree=1, coef0={coef0})"], combiner="cka"
        )
        .fit(rows, labels)
        .weights_[0]
        for coef0 in (0, 1e8)
    )
    np.testing.assert_allclose(near, far, atol=1e-5)


def test_no_alignment_leaves_uniform_weights_and_says_so():
    rows = np.ones((20, 2))
    labels = np.where(np.arange(20) % 2, 1.0, -1.0)
    with pytest.warns(WeightsWarning, match="cka gives every kernel the weight zero"):
        model = MKLClassifier(kernels=["linear", "linear@0:1"], combiner="cka").fit(rows, labels)
    np.testing.assert_allclose(model.weights_[0], 0.5)


@pytest.mark.parametrize("feature_map", ["implicit", "fourier"])
def test_a_source_that_no_row_of_two_classes_has_gets_no_weight(feature_map):
    rows, labels = random_problem(1, n_rows=60)
    rows[:, 0] = np.nan
    kernels = ["a:rbf@0:1", "b:rbf@1:2", "c:rbf@2:3"]
    model = MKLClassifier(kernels, combiner="cka", feature_map=feature_map).fit(rows, labels)
    weights = np.ravel(model.weights_)
    assert weights[0] == 0
    assert weights.sum() == pytest.approx(1)
