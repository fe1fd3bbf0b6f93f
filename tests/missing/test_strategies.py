"""Strategies for missing sources, against scikit-learn's centring and explicit features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from mklkit.kernels import RBF, Linear
from mklkit.missing import Drop, Impute, Present, PresentCentered


def test_a_centered_kernel_is_scikit_learns(rng: np.random.Generator) -> None:
    rows, new = rng.normal(size=(40, 3)), rng.normal(size=(9, 3))
    fitted = PresentCentered().fit(RBF(gamma=0.3).fit(rows), rows)
    centerer = KernelCenterer().fit(rbf_kernel(rows, gamma=0.3))
    for some in (rows, new):
        expected = centerer.transform(rbf_kernel(some, rows, gamma=0.3))
        np.testing.assert_allclose(fitted(some, rows), expected, atol=1e-12)
        diagonal = [fitted(row[None], row[None])[0, 0] for row in some]
        np.testing.assert_allclose(fitted.diagonal(some), diagonal, atol=1e-12)


@pytest.mark.parametrize(
    ("n_rows", "most", "step"), [(1200, 500, 3), (1000, 500, 2), (500, 500, 1), (7, 3, 3)]
)
def test_the_mean_is_that_of_evenly_spaced_rows(n_rows: int, most: int, step: int) -> None:
    """In the order of their values, the first rows have another mean than all."""
    rows = np.linspace(0, 1, n_rows)[:, None] ** [1, 2]
    fitted = PresentCentered(most=most).fit(Linear().fit(rows), rows)
    mean = np.mean([rows[place] for place in range(0, n_rows, step)], axis=0)
    new = np.array([[0.2, 0.9], [-3.0, 0.5]])
    expected = (new - mean) @ (rows - mean).T
    np.testing.assert_allclose(fitted(new, rows), expected, atol=1e-12)
    np.testing.assert_allclose(fitted.diagonal(new), ((new - mean) ** 2).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("strategy", [Present(), Impute(), Drop()])
def test_other_strategies_leave_kernels_as_they_are(strategy: Present | Impute | Drop) -> None:
    kernel = Linear().fit(np.eye(3))
    assert strategy.fit(kernel, np.eye(3)) is kernel
