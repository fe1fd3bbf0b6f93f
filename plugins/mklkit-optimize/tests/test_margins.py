"""Weights by margin, radius and spectral ratio, against generic solvers on the weights."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from mklkit_optimize import GRAM, MEMO, RMKL
from mklkit_optimize.class_hulls import HardMargin, by_clarabel
from optimize_problems import grams_of, least_objective, random_problem, real_problem, weights_by
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLClassifier, WeightsWarning
from mklkit.evaluation import radius


def least_on_simplexes(matrix, linear, members):
    """Return the minimum of xᵀQx − qᵀx over x ≥ 0 whose sum over each set of members is 1."""
    size, settings = len(linear), clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(2 * matrix)),
        -linear,
        sparse.csc_matrix(np.vstack([*members, -np.eye(size)])),
        np.append(np.ones(len(members)), np.zeros(size)),
        [clarabel.ZeroConeT(len(members)), clarabel.NonnegativeConeT(size)],
        settings,
    )
    return float(solver.solve().obj_val)


def squared_margin(gram, labels):
    members = [(labels > 0).astype(float), (labels < 0).astype(float)]
    return least_on_simplexes(gram * np.outer(labels, labels), np.zeros(len(gram)), members)


def radius_of(gram):
    return -least_on_simplexes(gram, np.diag(gram), [np.ones(len(gram))])


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_the_radius_is_that_of_a_generic_solver(shift):
    """Kernels that are not of length one too, far from zero or not."""
    rows = np.random.default_rng(2).normal(size=(30, 2)) + shift
    for gram in (rows @ rows.T, (1 + rows @ rows.T) ** 2, rbf_kernel(rows)):
        np.testing.assert_allclose(radius(gram) ** 2, radius_of(gram), rtol=1e-4)
    assert radius(np.ones((5, 5))) == 0


def test_next_to_no_margin_is_solved_on_the_rows_that_matter():
    rows, labels = random_problem(5, n_rows=300)
    gram = rbf_kernel(rows, gamma=0.05)
    margin = HardMargin(labels, 1e-4)
    signed = margin.points(gram) * labels
    assert margin.rows is not None
    every = by_clarabel(gram, labels) * labels
    np.testing.assert_allclose(signed @ gram @ signed, every @ gram @ every, rtol=1e-3)
    again = margin.points(1.1 * gram) * labels  # from the rows that it knows
    np.testing.assert_allclose(again @ gram @ again, every @ gram @ every, rtol=1e-3)


@pytest.mark.parametrize("seed", [0, 3])
def test_gram_has_the_least_ratio_of_radius_to_margin(seed):
    rows, labels = random_problem(seed, n_rows=40)
    grams = grams_of(rows)

    def ratio(weights):
        gram = np.einsum("m,mij->ij", weights, grams)
        return radius_of(gram) / squared_margin(gram, labels)

    reached = ratio(weights_by(GRAM(), rows, labels))
    best = minimize(
        lambda logs: np.log(ratio(np.exp(logs) / np.exp(logs).sum())),
        np.zeros(6),
        method="Nelder-Mead",
        options={"maxfev": 150},
    )
    assert reached <= np.exp(best.fun) * 1.002
    draws = np.random.default_rng(seed).dirichlet(np.full(6, 0.5), size=40)
    assert all(ratio(weights) >= reached / 1.002 for weights in draws)


@pytest.mark.parametrize("theta", [0.0, 0.02, 10.0])
def test_memo_has_the_largest_objective(theta):
    """Of weights around it; for θ = 0, the convex case, of all."""
    rows, labels = real_problem("wine")
    rows, labels = rows[::3], labels[::3]
    grams = grams_of(rows)[1:4]
    kernels = [f"rbf(gamma={share / rows.shape[1]!r})" for share in (0.1, 1, 5)]
    flat = grams.reshape(3, -1)
    products = flat @ flat.T / np.mean(np.sum(flat**2, axis=1))

    def objective(weights):
        gram = np.einsum("m,mij->ij", weights, grams)
        return squared_margin(gram, labels) + theta / 2 * weights @ products @ weights

    shares = MKLClassifier(kernels, combiner=MEMO(theta=theta)).fit(rows, labels).weights_[0]
    reached = objective(shares)
    draws = np.random.default_rng(1).dirichlet(np.ones(3), size=60)
    tried = draws if theta == 0 else [0.98 * shares + 0.02 * draw for draw in draws]
    assert all(objective(weights) <= reached * 1.003 for weights in tried)
    if theta == 10:  # the simplest kernel, of the largest norm
        assert shares.argmax() == np.diag(products).argmax()


def test_memo_keeps_the_least_margin():
    rows, labels = random_problem(1, n_rows=60)
    free, kept = (weights_by(MEMO(theta=5, min_margin=least), rows, labels) for least in (0, 0.1))
    grams = grams_of(rows)

    def margin(weights):
        return squared_margin(np.einsum("m,mij->ij", weights, grams), labels) ** 0.5

    assert margin(free) < 0.09 < margin(kept)
    with pytest.warns(WeightsWarning, match="memo"):
        weights_by(MEMO(min_margin=3), rows, labels)


@pytest.mark.parametrize("C", [0.5, 10.0])
def test_rmkl_solves_the_published_program(C):
    """Its dual is the hard-margin problem on K_m + (R_m²/C)I, here as one cone program."""
    rows, labels = random_problem(4, n_rows=50)
    grams = grams_of(rows)
    ridged = np.array([gram + radius_of(gram) / C * np.eye(50) for gram in grams])
    weights = weights_by(RMKL(C=C), rows, labels)
    gram = np.einsum("m,mij->ij", weights, ridged)
    # A hard margin's optimum is 2/ρ², for the distance ρ of the hulls.
    reached = 2 / squared_margin(gram, labels)
    np.testing.assert_allclose(reached, least_objective(ridged, labels, C=1e5), rtol=1e-3)


def test_hulls_that_meet_leave_uniform_weights_and_say_so():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 2)), np.where(np.arange(60) % 2, 1.0, -1.0)
    for combiner in ("gram", "memo"):
        with pytest.warns(WeightsWarning, match=combiner):
            model = MKLClassifier(["linear", "linear@0:1"], combiner=combiner).fit(rows, labels)
        np.testing.assert_allclose(model.weights_[0], 0.5)


def test_a_search_that_is_cut_short_says_so():
    rows, labels = random_problem(0, n_rows=40)
    with pytest.warns(ConvergenceWarning, match="gram stopped after 3 weights"):
        weights_by(GRAM(max_iter=3), rows, labels)
