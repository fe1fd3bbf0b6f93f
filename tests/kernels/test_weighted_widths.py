"""Widths by rule from rows with weights: those of rows that occur as often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklkit.kernels import RBF, Cosine, Linear
from mklkit.kernels import bandwidth as module
from mklkit.kernels.bandwidth import bandwidth
from mklkit.views.bound_kernels import BoundKernel, fit_kernels


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), rule=st.sampled_from(["mean", "scale", "auto"]))
def test_a_weight_is_how_often_a_row_occurs(seed, rule):
    draw = np.random.default_rng(seed)
    rows, often = draw.normal(2, 3, size=(9, 2)), draw.integers(1, 5, 9)
    found = bandwidth(rule, rows, often.astype(float))
    assert np.isclose(found, bandwidth(rule, rows.repeat(often, axis=0)), rtol=1e-10)


def test_the_mean_counts_each_pair_by_both_weights():
    draw = np.random.default_rng(1)
    rows, weights = draw.normal(size=(600, 3)), draw.uniform(0.1, 2, 600)
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    expected = np.average(distances, weights=np.outer(weights, weights))
    assert np.isclose(bandwidth("mean", rows, weights), expected)


def test_a_sample_of_pairs_is_close(monkeypatch):
    draw = np.random.default_rng(2)
    rows, weights = draw.normal(size=(900, 3)), draw.integers(1, 4, 900).astype(float)
    exact = bandwidth("mean", rows, weights)
    monkeypatch.setattr(module, "MOST_ROWS", 500)
    sampled = bandwidth("mean", rows, weights)
    assert sampled != exact
    assert np.isclose(sampled, exact, rtol=5e-3)


@pytest.mark.parametrize("rule", ["median", "neighbours"])
def test_other_rules_take_every_row_once(rule):
    rows = np.random.default_rng(3).normal(size=(20, 2))
    assert bandwidth(rule, rows, np.arange(1.0, 21)) == bandwidth(rule, rows)


def test_kernels_say_whether_they_weigh_rows():
    rows, weights = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    bound = [BoundKernel("a", RBF()), BoundKernel("b", Cosine(RBF())), BoundKernel("c", Linear())]
    (plain, inside, _), _ = fit_kernels(bound, rows, weights)
    # The mean distance of the pairs of 0, 1, 1 and 1 is 6/16.
    assert np.isclose(plain.gamma, 0.5 / 0.375**2)
    assert np.isclose(inside.kernel.gamma, plain.gamma)


@pytest.mark.parametrize("rule", ["mean", "scale"])
@pytest.mark.parametrize("scale", [1e-170, 1e160, 1e300])
def test_only_ratios_of_weights_count(rule, scale):
    draw = np.random.default_rng(4)
    rows, weights = draw.normal(size=(20, 2)), draw.uniform(0.5, 2, 20)
    assert np.isclose(bandwidth(rule, rows, weights * scale), bandwidth(rule, rows, weights))


def test_pairs_of_a_row_with_itself_count_at_every_size(monkeypatch):
    rows = np.random.default_rng(5).normal(size=(150, 2))
    exact = np.linalg.norm(rows[:, None] - rows[None], axis=2).mean()
    assert np.isclose(bandwidth("mean", rows), exact)
    monkeypatch.setattr(module, "MOST_ROWS", 149)
    # 64 of 74 shifts are sampled: what is left out of the mean would be 1/150.
    assert np.isclose(bandwidth("mean", rows), exact, rtol=3e-3)
    assert np.isclose(bandwidth("mean", rows, np.full(150, 2.0)), bandwidth("mean", rows))
