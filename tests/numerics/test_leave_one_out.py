"""The leave-one-out error beside scikit-learn's ridge regression, refitted without each row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mklkit.numerics.ridge import leave_one_out_error


def test_it_is_that_of_fits_without_each_row(rng: np.random.Generator) -> None:
    rows, targets = rng.normal(size=(14, 3)), np.eye(3)[rng.integers(0, 3, 14)]
    spread = rows.var(axis=0).sum()

    def error(ridge: float) -> float:
        total = 0.0
        for row in range(14):
            others = np.arange(14) != row
            fit = Ridge(alpha=ridge * spread).fit(rows[others], targets[others])
            total += ((targets[row] - fit.predict(rows[[row]])[0]) ** 2).sum()
        return total / 14

    naive = min(error(ridge) for ridge in (0.01, 0.1, 1.0, 10.0))
    assert leave_one_out_error(rows @ rows.T, targets) == pytest.approx(naive, rel=1e-9)


def test_a_constant_kernel_has_that_of_the_mean_of_the_others() -> None:
    targets = np.array([[0.0], [0.0], [3.0]])
    assert leave_one_out_error(np.ones((3, 3)), targets) == pytest.approx((1.5**2 * 2 + 9) / 3)
