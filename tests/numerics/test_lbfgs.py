"""L-BFGS against exact solutions and SciPy's minimiser."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.special

from mklkit.numerics.lbfgs import descent


def minimized(function, start, first, inverse, tolerance=1e-12):
    """Return the last point, and how often the function was evaluated."""
    steps = descent(start, lambda before, now: abs(before - now) <= tolerance, first)
    point, count, best = next(steps), 0, (np.inf, start)
    while True:
        value, gradient = function(point)
        best = min(best, (value, point), key=lambda pair: pair[0])
        count += 1
        try:
            point = steps.send((value, gradient, inverse(gradient)))
        except StopIteration:
            return best[1], count


def quadratic(rng, size=12):
    factor = rng.normal(size=(size, size))
    matrix = factor @ factor.T + 0.1 * np.eye(size)
    right = rng.normal(size=size)
    return matrix, right, lambda x: (0.5 * x @ matrix @ x - right @ x, matrix @ x - right)


def test_the_exact_inverse_takes_one_step(rng):
    matrix, right, function = quadratic(rng)
    solved = scipy.linalg.cho_solve
    factor = scipy.linalg.cho_factor(matrix)
    point, count = minimized(
        function, np.ones(12), lambda v: solved(factor, v), lambda v: solved(factor, v)
    )
    np.testing.assert_allclose(point, np.linalg.solve(matrix, right), rtol=1e-7)
    assert count == 2


def test_without_a_preconditioner_it_reaches_the_minimum_too(rng):
    matrix, right, function = quadratic(rng)
    point, _ = minimized(function, np.ones(12), lambda v: 1e-2 * v, lambda v: v)
    np.testing.assert_allclose(point, np.linalg.solve(matrix, right), atol=1e-4)


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_the_first_step_may_be_far_too_short_or_long(rng, length):
    rows, y = rng.normal(size=(60, 5)), rng.choice([-1.0, 1.0], 60)

    def function(x):
        margins = y * (rows @ x)
        value = np.logaddexp(0, -margins).sum() + 0.5 * x @ x
        slope = -y * scipy.special.expit(-margins)
        return float(value), rows.T @ slope + x

    point, _ = minimized(function, np.zeros(5), lambda v: length * v, lambda v: v / 15)
    expected = scipy.optimize.minimize(function, np.zeros(5), jac=True, tol=1e-12)
    assert function(point)[0] == pytest.approx(expected.fun, rel=1e-9)


def test_a_start_at_the_minimum_is_evaluated_once(rng):
    matrix, *_ = quadratic(rng)
    start = np.zeros(12)
    point, count = minimized(lambda x: (0.5 * x @ matrix @ x, matrix @ x), start, *[np.copy] * 2)
    assert count == 1
    np.testing.assert_array_equal(point, start)
