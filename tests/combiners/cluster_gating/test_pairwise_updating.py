"""Pairwise element updating against a generic constrained solver and the simplex's own rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.gated import ratio_by_slsqp
from problems import forms_of_checkered, random_forms

from mklkit.combiners.cluster_gating.pairwise_updating import QuadraticForms, update_pairs


def ratio_at(theta, forms):
    flat = theta.ravel()
    return flat @ forms.upper @ flat / (flat @ forms.lower @ flat + forms.linear @ flat)


@given(
    seed=st.integers(0, 10_000),
    n_clusters=st.integers(1, 5),
    n_kernels=st.integers(2, 5),
    pairs=st.sampled_from(["gradient", "random"]),
    corner=st.booleans(),
)
def test_the_ratio_never_decreases_and_rows_stay_on_the_simplex(
    seed, n_clusters, n_kernels, pairs, corner
):
    forms = random_forms(seed, n_clusters, n_kernels)
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_kernels), size=n_clusters)
    if corner:
        start = np.eye(n_kernels)[rng.integers(n_kernels, size=n_clusters)]
    kept = start.copy()
    update = update_pairs(start, forms, pairs=pairs, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(start, kept)
    assert update.history[0] == pytest.approx(ratio_at(start, forms))
    assert update.history[-1] == pytest.approx(ratio_at(update.weights, forms), rel=1e-9)
    assert (np.diff(update.history) >= 0).all()
    assert (update.weights >= 0).all()
    np.testing.assert_allclose(update.weights.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("problem", "pairs"),
    [("random", "gradient"), ("random", "random"), ("data", "gradient"), ("prior", "gradient")],
)
def test_a_generic_solver_does_not_end_higher(seed, problem, pairs):
    forms = {
        "random": random_forms,
        "data": forms_of_checkered,
        "prior": lambda seed: forms_of_checkered(seed, smoothness=100.0),
    }[problem](seed)
    start = np.full((3, 4), 0.25)
    update = update_pairs(start, forms, pairs=pairs, max_steps=100_000)
    generic = ratio_by_slsqp(start, forms.upper, forms.lower, forms.linear)
    assert generic > ratio_at(start, forms)
    assert update.history[-1] > generic * (1 - 1e-3)


@pytest.mark.parametrize("pairs", ["gradient", "random"])
def test_steps_are_no_more_than_allowed(pairs):
    update = update_pairs(np.full((3, 4), 0.25), random_forms(0), pairs=pairs, max_steps=7)
    assert update.steps == 7


@pytest.mark.parametrize("pairs", ["gradient", "random"])
def test_separable_clusters_find_their_kernels(pairs):
    """Cluster c gains by kernel c alone: the top is a corner that can be written down."""
    upper = np.diag([3.0, 1.0, 1.0, 1.0, 3.0, 1.0])
    update = update_pairs(
        np.full((2, 3), 1 / 3), QuadraticForms(upper, np.eye(6), np.zeros(6)), pairs
    )
    np.testing.assert_allclose(update.weights, np.eye(3)[:2], atol=1e-9)
    assert update.history[-1] == pytest.approx(3)


@pytest.mark.parametrize("pairs", ["gradient", "random"])
def test_no_weight_goes_where_nothing_is_left_to_divide_by(pairs):
    # The second kernel is zero, and the first one's scatter is rounding.
    forms = QuadraticForms(np.diag([-1e-17, 0.0]), np.diag([1.0, 0.0]), np.zeros(2))
    update = update_pairs(np.array([[0.5, 0.5]]), forms, pairs)
    assert np.isfinite(update.weights).all()
    assert update.weights[0, 0] > 0
    assert update_pairs(np.array([[0.0, 1.0]]), forms, pairs).history[0] == 0
