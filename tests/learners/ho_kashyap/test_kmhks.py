"""KMHKS against the bordered system of Wang and Chen 2009 and a generic convex solver."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import views_of
from oracles.coupled import joint_minimum, multiv_kmhks

from mklkit.learners import KMHKS
from mklkit.learners.ho_kashyap.problems import ridge_problem
from mklkit.plugin import Target

KERNELS = ["rbf(gamma=0.2)", "linear", "polynomial(degree=2)", "laplacian"]


def view_of(rows, kernel):
    return views_of(kernel, rows)[0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("c", [2.0**-4, 1.0, 16.0])
@pytest.mark.parametrize("rho", [0.5, 0.99])
def test_the_iteration_is_that_of_the_paper(two_classes, kernel, c, rho):
    rows, y = two_classes
    view = view_of(rows, kernel)
    gram = view.gram()
    naive = multiv_kmhks([gram], y, c, 0.0, rho=rho, tol=1e-5)
    fitted = KMHKS(alpha=c, rho=rho, tol=1e-5).fit(view, Target.two_classes(y))
    assert len(fitted.history) == len(naive.history) > 1
    np.testing.assert_allclose(fitted.history, naive.history, rtol=1e-8)
    np.testing.assert_allclose(fitted.decide(gram), naive.outputs[0], rtol=1e-6, atol=1e-8)
    assert fitted.bias == pytest.approx(naive.coefficients[0][-1], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("c", [0.1, 1.0, 10.0])
def test_it_ends_where_a_convex_solver_does(two_classes, c):
    rows, y = two_classes
    view = view_of(rows, "rbf(gamma=0.2)")
    values, vectors = np.linalg.eigh(view.gram())
    least = joint_minimum([vectors * np.sqrt(np.maximum(values, 0))], y, c, 0.0)
    fitted = KMHKS(alpha=c, tol=1e-12, max_iter=20_000, b0=0.0).fit(view, Target.two_classes(y))
    assert least * (1 - 1e-9) <= fitted.history[-1] <= least * (1 + 2e-3)


def positive_part(gram):
    """Return the centred Gram matrix without its negative eigenvalues."""
    centring = np.eye(len(gram)) - 1 / len(gram)
    values, vectors = np.linalg.eigh(centring @ gram @ centring)
    assert values.min() < -0.1  # or the kernel isn't indefinite and the test says nothing
    return (vectors * np.maximum(values, 0)) @ vectors.T


@pytest.mark.parametrize("c", [0.05, 1.0])
def test_an_indefinite_kernel_is_used_by_its_positive_part(two_classes, c):
    rows, y = two_classes
    view = view_of(rows, "tanh(gamma=1, coef0=-0.5)")
    naive = multiv_kmhks([positive_part(view.gram())], y, c, 0.0, tol=1e-5)
    fitted = KMHKS(alpha=c, tol=1e-5).fit(view, Target.two_classes(y))
    np.testing.assert_allclose(fitted.history, naive.history, rtol=1e-6)
    np.testing.assert_allclose(fitted.decide(view.gram()), naive.outputs[0], atol=1e-5)


def test_no_ridge_is_the_limit_of_small_ones(two_classes):
    rows, y = two_classes
    view = view_of(rows, "linear")
    limit = KMHKS(alpha=0.0, tol=1e-9, max_iter=5000).fit(view, Target.two_classes(y))
    small = KMHKS(alpha=1e-9, tol=1e-9, max_iter=5000).fit(view, Target.two_classes(y))
    np.testing.assert_allclose(limit.decide(view.gram()), small.decide(view.gram()), atol=1e-4)
    assert np.abs(limit.decide(view.gram())).max() < 10


@pytest.mark.parametrize("kernel", ["rbf(gamma=0.2)", "linear", "tanh(gamma=0.2, coef0=-0.5)"])
def test_many_ridges_on_a_gram_matrix_are_solved_as_by_a_dense_solver(two_classes, kernel):
    """[sK + αI, s1; 1ᵀ, 0][v; w₀] = [t; 0], with the positive part of a centred kernel."""
    rows, _ = two_classes
    view, rng = view_of(rows, kernel), np.random.default_rng(0)
    gram, ones = view.gram(), np.ones(len(rows))
    if kernel.startswith("tanh"):
        gram = positive_part(gram)
    alphas, scales = np.array([1e-3, 0.5, 40.0]), np.array([1.0, 101.0, 3.0])
    targets = rng.normal(size=(len(rows), 3))
    problem = ridge_problem(view, alphas)
    solved = problem.solve(targets[:, 1:], scales[1:], np.array([1, 2]))
    columns = list(zip(alphas, scales, targets.T, strict=True))[1:]
    for column, (alpha, scale, target) in enumerate(columns):
        system = np.block(
            [
                [scale * gram + alpha * np.eye(len(gram)), scale * ones[:, None]],
                [ones[None, :], np.zeros((1, 1))],
            ]
        )
        *weights, bias = np.linalg.solve(system, np.append(target, 0.0))
        outputs, penalty = gram @ weights + bias, alpha * np.dot(weights, gram @ weights)
        np.testing.assert_allclose(problem.outputs(solved)[:, column], outputs, atol=1e-8)
        assert problem.penalty(solved)[column] == pytest.approx(penalty, rel=1e-6)
        decided = problem.finish(solved, column).decide(view.gram())
        np.testing.assert_allclose(decided, outputs, atol=1e-8)
