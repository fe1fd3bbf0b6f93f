"""What stage two of cluster gating costs as the rows grow, and beside the naive form; not in CI.

``pytest tests/benchmarks/test_bench_gating.py -m benchmark -s`` prints the figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from builders import views_of
from oracles.gated import discriminant_matrices, naive_forms

from mklkit.combiners.cluster_gating.stages import QuadraticForms, gated_blocks, quadratic_forms
from mklkit.numerics.graph_embedding import discriminant_graphs

FOUR = [f"rbf(sigma='{factor}*mean')" for factor in (0.1, 0.3, 1, 3)]
N_CLUSTERS = 4
SIZES = (500, 1000, 2000)


def problem(n_rows: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return views of four kernels, memberships in four clusters, a projection and labels."""
    rng = np.random.default_rng(0)
    views = views_of(FOUR, rng.normal(size=(n_rows, 10)))
    memberships = rng.dirichlet(np.ones(N_CLUSTERS), size=n_rows)
    return views, memberships, rng.normal(size=(n_rows, 1)), np.arange(n_rows) % 2


def forms_of(n_rows: int) -> Callable[[], QuadraticForms]:
    """Return the step: kernels evaluated tile by tile, blocks, and the forms from them."""
    views, memberships, projection, y = problem(n_rows)
    graphs = discriminant_graphs(y)

    def step() -> QuadraticForms:
        blocks = gated_blocks(views, memberships, projection)
        return quadratic_forms(blocks, projection, graphs, 1e-3)

    return step


def seconds(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the least of several times, and what was run."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result


@pytest.mark.benchmark
def test_cost_grows_as_the_square_of_the_rows():
    spent = [seconds(forms_of(n_rows), 5)[0] for n_rows in SIZES]
    powers = np.diff(np.log(spent)) / np.log(2)
    figures = ", ".join(f"N = {n}: {1e3 * t:.1f} ms" for n, t in zip(SIZES, spent, strict=True))
    print(f"\nforms of M = 4, C = 4, K = 1: {figures}; powers {powers.round(2)}")
    assert np.log(spent[2] / spent[0]) / np.log(4) < 2.4


@pytest.mark.benchmark
def test_the_naive_form_costs_twenty_times_as_much():
    ours, forms = seconds(forms_of(1000), 5)
    views, memberships, projection, y = problem(1000)
    grams = [view.gram() for view in views]
    theirs, naive = seconds(
        lambda: naive_forms(grams, memberships, projection, *discriminant_matrices(y), 1e-3), 1
    )
    print(f"\nN = 1000: {1e3 * ours:.1f} ms, naive {theirs:.2f} s (Gram matrices given)")
    np.testing.assert_allclose(forms.upper, naive.upper, rtol=1e-8)
    assert theirs > 20 * ours
