"""SVM-2K against SciPy's general solvers on the primal, and where it is something known."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_views.svm2k_program import solve_svm2k
from scipy.optimize import minimize
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from mklkit import IncompatibleError, MKLClassifier, MKLKitError
from mklkit.plugin import RowBlock

PAIR = ["linear", "rbf(gamma=0.4)"]


def two_classes(seed, n_rows, noise=1.2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n_rows) % 2 == 0, 1.0, -1.0)
    first = noise * rng.normal(size=(n_rows, 2)) + 0.6 * y[:, None]
    second = noise * rng.normal(size=(n_rows, 3)) + 0.4 * y[:, None]
    return first, second, y


def objective(coefficients, values, grams, y, C, agreement, epsilon):
    """Return the primal objective of row coefficients and the machines' values (N, 2)."""
    norms = sum(0.5 * a @ gram @ a for a, gram in zip(coefficients, grams, strict=True))
    margins = np.maximum(0, 1 - y[:, None] * values).sum()
    apart = np.maximum(0, np.abs(values[:, 0] - values[:, 1]) - epsilon).sum()
    return norms + C * margins + agreement * apart


def primal_by_general_solver(first, second, y, C, agreement, epsilon):
    """Return the primal's optimal value and the machines' values, slacks and all as unknowns."""
    n_rows, a, b = len(y), first.shape[1], second.shape[1]
    eye, zero, ones = np.eye(n_rows), np.zeros((n_rows, n_rows)), np.ones((n_rows, 1))
    left, right = np.hstack([first, ones]), np.hstack([second, ones])
    no_left, no_right = np.zeros_like(left), np.zeros_like(right)
    sign = y[:, None]
    matrix = np.vstack(
        [
            np.hstack([sign * left, no_right, eye, zero, zero]),
            np.hstack([no_left, sign * right, zero, eye, zero]),
            np.hstack([-left, right, zero, zero, eye]),
            np.hstack([left, -right, zero, zero, eye]),
        ]
    )
    lower = np.concatenate([np.ones(2 * n_rows), np.full(2 * n_rows, -epsilon)])
    squares = np.concatenate([np.ones(a), [0], np.ones(b), [0], np.zeros(3 * n_rows)])
    prices = np.concatenate(
        [np.zeros(a + b + 2), np.full(2 * n_rows, C), np.full(n_rows, agreement)]
    )
    start = np.concatenate([np.zeros(a + b + 2), np.ones(3 * n_rows)])
    bounds = [(None, None)] * (a + b + 2) + [(0, None)] * (3 * n_rows)
    optimum = minimize(
        lambda x: 0.5 * squares @ x**2 + prices @ x,
        start,
        jac=lambda x: squares * x + prices,
        method="SLSQP",
        bounds=bounds,
        constraints={"type": "ineq", "fun": lambda x: matrix @ x - lower, "jac": lambda x: matrix},
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    weights = optimum.x[: a + 1], optimum.x[a + 1 : a + b + 2]
    return optimum.fun, np.column_stack([left @ weights[0], right @ weights[1]])


def solve(first, second, y, C, agreement, epsilon):
    grams = first @ first.T, second @ second.T
    machines = solve_svm2k(grams, y, C, agreement, epsilon)
    values = np.column_stack(
        [
            gram @ a + bias
            for gram, a, bias in zip(grams, machines.coefficients, machines.biases, strict=True)
        ]
    )
    return objective(machines.coefficients, values, grams, y, C, agreement, epsilon), values


SETTINGS = [
    (1.0, 1.0, 0.0),
    (1.0, 0.3, 0.1),
    (10.0, 2.0, 0.5),
    (0.1, 5.0, 0.0),
    (0.01, 100.0, 0.0),
    (1.0, 0.0, 0.0),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("C", "agreement", "epsilon"), SETTINGS)
def test_the_program_reaches_the_primal_optimum(seed, C, agreement, epsilon):
    data = two_classes(seed, 14)
    best, values = primal_by_general_solver(*data, C, agreement, epsilon)
    ours, our_values = solve(*data, C, agreement, epsilon)
    assert ours == pytest.approx(best, rel=1e-5)
    # w is unique; a bias may not be.
    np.testing.assert_allclose(
        our_values - our_values.mean(axis=0), values - values.mean(axis=0), atol=5e-3
    )


def one_table(n_rows=60):
    first, second, y = two_classes(5, n_rows)
    new = np.random.default_rng(1).normal(size=(25, 5))
    return np.hstack([first, second]), y, new


def test_without_a_price_on_disagreement_it_is_the_mean_of_two_svms():
    rows, y, new = one_table()
    joint = MKLClassifier(PAIR, combiner="svm2k(D=0)", learner="svm(C=2)").fit(rows, y)
    alone = [
        MKLClassifier(kernel, learner="svm(C=2, tol=1e-7)").fit(rows, y).decision_function(new)
        for kernel in PAIR
    ]
    np.testing.assert_allclose(joint.decision_function(new), np.mean(alone, axis=0), atol=1e-4)


def values_of(machines, grams):
    pairs = zip(grams, *machines, strict=True)
    return np.column_stack([gram @ part + bias for gram, part, bias in pairs])


@pytest.mark.parametrize("C", [0.0625, 1.0, 16.0])
@pytest.mark.parametrize(("pair", "agreement"), [((0, 1), 0), ((0, 0), 1), ((1, 1), 1)])
def test_large_nearly_singular_matrices_come_to_no_more_than_libsvm(pair, agreement, C):
    bunch = load_wine()
    raw, y = bunch.data[:130], np.where(bunch.target[:130] > 0, 1.0, -1.0)
    products = raw @ raw.T  # up to 3e6, of rank 13 of 130
    grams = [(products, (products / 1000 + 1) ** 2)[number] for number in pair]
    alone = [SVC(kernel="precomputed", C=C, tol=1e-7).fit(gram, y) for gram in grams]
    parts = np.zeros((2, len(y)))
    for part, machine in zip(parts, alone, strict=True):
        part[machine.support_] = machine.dual_coef_[0]
    reference = tuple(parts), tuple(machine.intercept_[0] for machine in alone)
    best = objective(parts, values_of(reference, grams), grams, y, C, agreement, 0)
    joint = solve_svm2k(tuple(grams), y, C, agreement, 0)
    ours = joint.coefficients, joint.biases
    reached = objective(joint.coefficients, values_of(ours, grams), grams, y, C, agreement, 0)
    assert reached <= best * (1 + 1e-4)


@pytest.mark.parametrize("parameters", ["", "(D=30)", "(epsilon=0.2)"])
def test_two_equal_kernels_are_one_svm(parameters):
    rows, y, new = one_table()
    pair = ["a:rbf(gamma=0.4)", "b:rbf(gamma=0.4)"]
    joint = MKLClassifier(pair, combiner=f"svm2k{parameters}").fit(rows, y)
    alone = MKLClassifier(pair[:1], learner="svm(tol=1e-7)").fit(rows, y)
    np.testing.assert_allclose(
        joint.decision_function(new), alone.decision_function(new), atol=1e-4
    )


def test_the_machines_disagree_less_the_more_it_costs():
    rows, y, _ = one_table()
    apart = []
    for price in (0, 0.1, 0.5, 100):
        model = MKLClassifier(PAIR, combiner=f"svm2k(D={price})").fit(rows, y)
        scores = model.decisions_[0].scores(RowBlock(rows))
        apart.append(np.abs(scores[:, 0] - scores[:, 1]).sum())
    assert apart == sorted(apart, reverse=True)
    assert apart[0] > 1
    assert apart[-1] == pytest.approx(0, abs=1e-2)


def test_only_support_vectors_are_kept():
    rows, y, new = one_table()
    rows = np.hstack([rows[:, :1] + 3 * y[:, None], rows[:, 1:]])
    smooth = ["linear", "rbf(gamma=0.01)"]
    model = MKLClassifier(
        smooth, feature_map=None, combiner="svm2k(epsilon=1)", learner="svm(C=10)"
    ).fit(rows, y)
    kept = [projector.map.landmarks for projector in model.decisions_[0].projectors]
    assert kept[0] is kept[1]
    assert len(kept[0]) < 40
    whole = MKLClassifier(
        smooth, feature_map="empirical", combiner="svm2k(epsilon=1)", learner="svm(C=10)"
    ).fit(rows, y)
    np.testing.assert_allclose(
        model.decision_function(new), whole.decision_function(new), atol=1e-4
    )


@pytest.mark.parametrize("kernels", [None, ["linear"], [*PAIR, "laplacian"]])
def test_any_other_number_of_kernels_is_refused(kernels):
    rows, y, _ = one_table()
    with pytest.raises(IncompatibleError, match="exactly 2 kernels"):
        MKLClassifier(kernels, combiner="svm2k").fit(rows, y)


def test_other_learners_and_indefinite_kernels_are_refused():
    rows, y, _ = one_table()
    with pytest.raises(IncompatibleError, match="kmhks"):
        MKLClassifier(PAIR, combiner="svm2k", learner="kmhks").fit(rows, y)
    with pytest.raises(IncompatibleError, match="'bad' is not one"):
        MKLClassifier(["linear", "bad:tanh(gamma=2, coef0=-3)"], combiner="svm2k").fit(rows, y)
    with pytest.raises(MKLKitError, match="D"):
        MKLClassifier(PAIR, combiner="svm2k(D=-1)").fit(rows, y)
