"""EasyMKL against its closed relations and a generic solver."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_optimize import EasyMKL
from mklkit_optimize.class_hulls import by_clarabel, by_libsvm, nearest_points
from optimize_problems import grams_of, random_problem, weights_by
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from mklkit import MKLClassifier, WeightsWarning


def _dense(grams, labels, alpha, normalize):
    """Return the published weights of the kernels as given, γ by a generic solver."""
    sizes = np.array([np.trace(gram) / len(gram) if normalize else 1.0 for gram in grams])
    scaled = grams / sizes[:, None, None]
    signs = np.outer(labels, labels)
    matrix = (1 - alpha) * scaled.sum(axis=0) * signs + alpha * np.eye(len(labels))
    classes = [(labels > 0).astype(float), (labels < 0).astype(float)]
    optimum = minimize(
        lambda g: g @ matrix @ g,
        classes[0] / classes[0].sum() + classes[1] / classes[1].sum(),
        jac=lambda g: 2 * matrix @ g,
        bounds=[(0, 1)] * len(labels),
        constraints=[
            {"type": "eq", "fun": lambda g, c=c: c @ g - 1, "jac": lambda g, c=c: c}
            for c in classes
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    signed = optimum.x * labels
    weights = np.array([signed @ gram @ signed for gram in scaled]) / sizes
    return optimum.x, matrix, weights / weights.sum()


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_the_weights_are_those_of_a_generic_solver(alpha, normalize):
    rows, labels = random_problem(2, n_rows=40)
    _, _, expected = _dense(grams_of(rows), labels, alpha, normalize)
    weights = weights_by(EasyMKL(alpha=alpha, normalize=normalize), rows, labels)
    np.testing.assert_allclose(weights, expected, atol=1e-3)


@pytest.mark.parametrize("solver", [lambda *args: by_libsvm(*args)[0], by_clarabel])
def test_both_solvers_reach_the_optimum(solver):
    rows, labels = random_problem(7, n_rows=60)
    gram = 0.9 * grams_of(rows).sum(axis=0) + 0.1 * np.eye(60)
    gamma = solver(gram, labels)
    assert gamma.min() >= 0
    np.testing.assert_allclose([gamma[labels > 0].sum(), gamma[labels < 0].sum()], 1, atol=1e-6)
    # Optimal where γ sits on the rows of each class with the least gradient.
    gradient = labels * (gram @ (labels * gamma))
    for side in (labels > 0, labels < 0):
        used = side & (gamma > 1e-5)
        scale = np.abs(gradient[side]).max()
        assert np.ptp(gradient[used]) < 1e-3 * scale
        assert gradient[side].min() >= gradient[used].min() - 1e-3 * scale


def test_large_values_do_not_keep_the_solver_for_ever():
    """Beside them a ridge of 0.1 is next to none, and the hulls of these classes meet."""
    X, y = load_breast_cancer(return_X_y=True)
    gram, labels = X[:200] @ X[:200].T, np.where(y[:200] > 0, 1.0, -1.0)
    _, ended = by_libsvm(0.9 * gram + 0.1 * np.eye(200), labels)
    assert not ended
    gamma = nearest_points(gram.copy(), labels, alpha=0.1)
    assert gamma.min() >= 0
    np.testing.assert_allclose([gamma[labels > 0].sum(), gamma[labels < 0].sum()], 1, atol=1e-6)
    # The dual bound: no point of a hull is nearer to the other than its least projection.
    gradient = labels * (0.9 * gram @ (labels * gamma)) + 0.1 * gamma
    nearest = gradient[labels > 0].min() + gradient[labels < 0].min()
    assert gamma @ gradient - nearest < 1e-4 * np.trace(gram) / 200


def test_lam_one_compares_the_class_means():
    """γ is then even on each class and d_m the squared distance of the means under kernel m."""
    rows, labels = random_problem(4, n_rows=50)
    grams = grams_of(rows)
    means = np.where(labels > 0, 1 / (labels > 0).sum(), -1 / (labels < 0).sum())
    sizes = np.trace(grams, axis1=1, axis2=2) / 50
    expected = (grams @ means) @ means / sizes**2
    weights = weights_by(EasyMKL(alpha=1), rows, labels)
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-5)


def test_lam_zero_is_the_hard_margin():
    """The distance of the nearest points is twice the margin of a linear machine, 2/‖w‖."""
    rng = np.random.default_rng(8)
    labels = np.where(np.arange(40) % 2, 1.0, -1.0)
    rows = rng.normal(size=(40, 3)) + 4 * labels[:, None]
    gamma = nearest_points(rows @ rows.T, labels, alpha=0.0)
    apart = np.linalg.norm((gamma * labels) @ rows)
    machine = SVC(C=1e6, kernel="linear", tol=1e-7).fit(rows, labels)
    np.testing.assert_allclose(apart, 2 / np.linalg.norm(machine.coef_), rtol=1e-4)


def test_normalized_weights_do_not_see_a_kernels_scale():
    """A kernel 100 times as large gets a weight 100 times smaller: the sum stays what it was."""
    rows, labels = random_problem(5, n_rows=60)
    plain = MKLClassifier(kernels=["rbf(gamma=0.1)", "linear"], combiner="easymkl")
    larger = MKLClassifier(
        kernels=["rbf(gamma=0.1)", "polynomial(degree=1, coef0=0, gamma=100)"], combiner="easymkl"
    )
    first, second = (model.fit(rows, labels).weights_[0] for model in (plain, larger))
    np.testing.assert_allclose(second[1] / second[0], first[1] / first[0] / 100, rtol=1e-4)


def test_meeting_hulls_leave_uniform_weights_and_say_so():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 2)), np.where(np.arange(60) % 2, 1.0, -1.0)
    kernels = ["linear", "linear@0:1"]
    with pytest.warns(WeightsWarning, match="easymkl gives every kernel the weight zero"):
        model = MKLClassifier(kernels=kernels, combiner="easymkl(alpha=0)").fit(rows, labels)
    np.testing.assert_allclose(model.weights_[0], 0.5)
