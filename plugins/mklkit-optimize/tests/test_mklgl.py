"""MKLGL: the closed form, its optimum for p > 1, and the scale of the decision."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from mklkit_optimize import MKLGL
from mklkit_optimize.mklgl import closed_form_step
from optimize_problems import (
    grams_of,
    objective,
    random_problem,
    real_problem,
    specs,
    weights_by,
)
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mklkit import MKLClassifier


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_the_step_minimizes_the_group_lasso_bound(p):
    """A generic solver of min Σ‖f_k‖²/σ_k, ‖σ‖_p ≤ 1 finds the closed form."""
    rng = np.random.default_rng(int(10 * p))
    weights, forms = rng.random(4) + 0.1, rng.random(4) * 5
    squared = weights**2 * forms
    ball = {"type": "ineq", "fun": lambda s: 1 - np.sum(s**p)}
    optimum = minimize(
        lambda s: np.sum(squared / s),
        np.full(4, 4 ** (-1 / p)) * 0.9,
        bounds=[(1e-6, 1)] * 4,
        constraints=ball,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(closed_form_step(weights, forms, p), optimum.x, atol=1e-4)


@pytest.mark.parametrize("name", ["breast_cancer", "digits"])
@pytest.mark.parametrize("p", [1.0, 1.2, 3.0])
def test_long_steps_end_where_the_published_ones_do(name, p):
    rows, labels = real_problem(name)
    grams = grams_of(rows)
    weights, ends = np.full(6, 6 ** (-1 / p)), 0
    for _ in range(3000):
        machine = SVC(kernel="precomputed", tol=1e-8)
        machine.fit(np.tensordot(weights, grams, 1), labels)
        signed = np.zeros(len(labels))
        signed[machine.support_] = machine.dual_coef_[0]
        step = closed_form_step(weights, np.maximum((grams @ signed) @ signed, 0), p)
        ends = np.abs(step - weights).max()
        weights = step
        if ends < 1e-7:
            break
    assert ends < 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reached = weights_by(MKLGL(p=p, max_iter=150), rows, labels)
    np.testing.assert_allclose(reached, weights / weights.sum(), atol=1e-2)
    reached /= np.linalg.norm(reached, p)
    published = objective(grams, labels, weights)
    assert objective(grams, labels, reached) <= published * (1 + 1e-5)


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_the_weights_fulfil_the_condition_of_optimality(p):
    rows, labels = random_problem(3, n_rows=60)
    grams = grams_of(rows)
    shares = weights_by(MKLGL(p=p, tol=1e-8), rows, labels)
    weights = shares / np.linalg.norm(shares, p)
    # The optimality condition: σ_k^{p−1} is proportional to q_k.
    gram = np.einsum("m,mij->ij", weights, grams)
    machine = SVC(kernel="precomputed", tol=1e-9).fit(gram, labels)
    signed = np.zeros(len(labels))
    signed[machine.support_] = machine.dual_coef_[0]
    forms = (grams @ signed) @ signed
    ratios = weights ** (p - 1) / forms
    np.testing.assert_allclose(ratios / ratios.mean(), 1, rtol=2e-2)


def test_the_decision_is_that_of_weights_on_the_unit_ball():
    rows, labels = random_problem(4, n_rows=80)
    model = MKLClassifier(kernels=specs(8), combiner="mklgl(p=2)", learner="svm(C=1.0)")
    model.fit(rows, labels)
    weights = model.weights_[0] / np.linalg.norm(model.weights_[0])
    gram = np.einsum("m,mij->ij", weights, grams_of(rows))
    expected = SVC(kernel="precomputed").fit(gram, labels).decision_function(gram)
    np.testing.assert_allclose(model.decision_function(rows), expected, atol=5e-3)
    assert abs(model.weights_[0].sum() - 1) < 1e-12


def test_too_few_iterations_are_said():
    rows, labels = random_problem(0, n_rows=40)
    for name in ("mklgl", "silp", "simplemkl"):
        with pytest.warns(ConvergenceWarning, match=f"{name} stopped after 1 iterations"):
            weights_by(f"{name}(max_iter=1)", rows, labels)
