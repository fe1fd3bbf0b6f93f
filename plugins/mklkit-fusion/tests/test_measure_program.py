"""The measure's quadratic program against SciPy's general solver."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_fusion import choquet_integral, learn_measure
from scipy.optimize import minimize


def cover_matrix(count):
    """Return one row for each g(A ∪ {i}) − g(A), over all 2^M sets."""
    rows = []
    for subset in range(2**count):
        for member in range(count):
            if not subset >> member & 1:
                row = np.zeros(2**count)
                row[subset | 1 << member], row[subset] = 1, -1
                rows.append(row)
    return np.array(rows)


def loss(measure, scores, targets, alpha, p):
    errors = choquet_integral(scores, measure) - targets
    return (errors**2).sum() + alpha * (np.abs(measure[1:-1]) ** p).sum()


def full(inner):
    return np.concatenate([[0.0], inner, [1.0]])


def by_general_solver(scores, targets, alpha, p):
    count = scores.shape[1]
    cover = cover_matrix(count)
    inner, fixed = cover[:, 1:-1], cover[:, -1]
    start = np.array([bin(s).count("1") / count for s in range(1, 2**count - 1)])
    optimum = minimize(
        lambda u: loss(full(u), scores, targets, alpha, p),
        start,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: inner @ u + fixed, "jac": lambda u: inner},
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return full(optimum.x)


def problem(seed, count, n_rows=40):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=n_rows)
    raw = y[:, None] * rng.uniform(0, 1, size=count) + rng.normal(size=(n_rows, count))
    return raw / np.sqrt(1 + raw**2), y


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("alpha", "p"), [(0.0, 2), (0.5, 1), (0.5, 2), (20.0, 1), (20.0, 2)])
def test_the_program_is_solved(seed, alpha, p):
    scores, y = problem(seed, 3)
    measure = learn_measure(scores, y, alpha, p)
    reference = by_general_solver(scores, y, alpha, p)
    ours, expected = (loss(g, scores, y, alpha, p) for g in (measure, reference))
    assert ours == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(measure, reference, atol=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("count", [2, 5, 7])
def test_what_comes_back_is_a_measure(count, alpha):
    scores, y = problem(count, count)
    measure = learn_measure(scores, y, alpha, 1)
    assert measure[0] == 0
    assert measure[-1] == 1
    assert (cover_matrix(count) @ measure >= 0).all()


def test_targets_made_by_a_measure_give_it_back():
    scores, _ = problem(3, 3, n_rows=200)
    truth = np.array([0, 0.1, 0.3, 0.5, 0.05, 0.6, 0.4, 1.0])
    learned = learn_measure(scores, choquet_integral(scores, truth))
    np.testing.assert_allclose(learned, truth, atol=1e-5)
