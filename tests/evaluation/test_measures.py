"""Measures of kernels against quadratic programs by SciPy and formulas on whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import TRIO, trio_grams
from scipy.optimize import minimize

from mklkit.errors import DataError
from mklkit.evaluation import kernel_measures, margin, radius


def least(quadratic, linear, groups):
    """Return the least αᵀQα − bᵀα for α ≥ 0 with sum 1 in each group, by SciPy's SLSQP."""
    sums = [{"type": "eq", "fun": lambda a, g=g: a[g].sum() - 1} for g in groups]
    start = sum(g / g.sum() for g in groups)
    bounds, settings = [(0, 1)] * len(linear), {"ftol": 1e-14, "maxiter": 1000}
    scale = np.abs(quadratic).max()
    value = lambda a: (a @ quadratic @ a - linear @ a) / scale  # noqa: E731
    return scale * minimize(value, start, bounds=bounds, constraints=sums, options=settings).fun


@pytest.mark.parametrize("place", range(3))
def test_margin_and_radius_are_those_of_quadratic_programs(two_classes, place):
    rows, y = two_classes
    rows = rows[:40] + 2.5 * y[:40, None]  # in feature space the classes are apart
    y, gram = y[:40], trio_grams(rows)[place]
    squared = least(np.outer(y, y) * gram, np.zeros(40), [y > 0, y < 0])
    assert margin(gram, y) == pytest.approx(np.sqrt(squared), rel=1e-3)
    squared = -least(gram, gram.diagonal(), [np.ones(40, bool)])
    assert radius(gram) == pytest.approx(np.sqrt(squared), rel=1e-3)


def test_classes_that_overlap_have_no_margin_and_several_have_the_least(rng):
    rows = rng.normal(size=(90, 2))
    assert margin(rows @ rows.T, rng.integers(2, size=90)) == 0
    line = np.array([[0.0], [1.0], [4.0], [6.0], [6.5]])
    assert margin(line @ line.T, list("aabcd")) == pytest.approx(0.5)
    with pytest.raises(DataError, match="5 samples"):
        margin(line @ line.T, [1] * 5)


@pytest.mark.parametrize("centered", [False, True])
def test_the_table_has_each_kernel_and_their_sum(two_classes, centered):
    rows, y = two_classes
    weights = np.array([0.5, 0.2, 0.3])
    grams = trio_grams(rows)
    grams.append(np.tensordot(weights, grams, 1))
    table = kernel_measures(TRIO, rows, y, weights, centered)
    assert table.index.tolist() == [*TRIO, "combined"]
    assert table["margin"].tolist() == pytest.approx([margin(gram, y) for gram in grams], abs=1e-4)
    centring = np.eye(70) - centered / 70
    for (_, row), gram in zip(table.iterrows(), grams, strict=True):
        values = np.linalg.svd(centring @ gram @ centring, compute_uv=False)
        shares = values[values > 1e-12] / values.sum()
        assert row["trace"] == pytest.approx(values.sum())
        assert row["frobenius"] == pytest.approx(np.linalg.norm(values))
        assert row["spectral_ratio"] == pytest.approx(values.sum() / np.linalg.norm(values))
        assert row["effective_rank"] == pytest.approx(np.prod(shares**-shares))
        assert row["radius_margin"] == (
            pytest.approx((row["radius"] / row["margin"]) ** 2) if row["margin"] else np.inf
        )
    assert kernel_measures(TRIO, rows)["margin"].isna().all()
    with pytest.raises(DataError, match="3 weights"):
        kernel_measures(TRIO, rows, weights=[1.0])


def test_no_random_number_of_numpy_is_drawn():
    before = np.random.get_state()[2]  # noqa: NPY002
    margin(np.eye(4), [0, 0, 1, 1]), radius(np.eye(4))
    assert np.random.get_state()[2] == before  # noqa: NPY002
