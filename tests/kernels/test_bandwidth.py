"""Bandwidth rules against dense computations; a row of weight 2 is the same row twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC

from mklkit import DataError, MKLClassifier
from mklkit.kernels import RBF, Cosine, Linear
from mklkit.kernels.bandwidth import (
    RULES,
    Bandwidth,
    bandwidth,
    mean_distance,
    median_distance,
    squared_neighbor_distance,
)
from mklkit.numerics.sampling import sampled_pairs
from mklkit.protocols import Rows
from mklkit.views.bound_kernels import BoundKernel, fit_kernels

SIZES = [2, 3, 50, 255, 256, 257, 1281]


@pytest.mark.parametrize("n_rows", SIZES)
def test_the_mean_is_over_all_pairs_and_the_median_over_different_rows(rng, n_rows):
    rows = rng.normal(size=(n_rows, 3))
    assert mean_distance(rows) == pytest.approx(2 * pdist(rows).sum() / n_rows**2, rel=1e-12)
    assert median_distance(rows) == pytest.approx(np.median(pdist(rows)), rel=1e-12)


def test_rules_far_from_zero(rng):
    rows = np.round(rng.normal(size=(80, 2)), 5)
    for rule in ("mean", "median", "scale"):
        assert bandwidth(rule, rows + 1e9) == pytest.approx(
            bandwidth(rule, (rows + 1e9) - 1e9), rel=1e-6
        )


def test_scale_and_auto_are_the_gammas_of_scikit_learn(rng):
    rows = rng.normal(size=(60, 4)) * [1, 2, 3, 4]
    y = np.arange(60) % 2
    for rule in ("scale", "auto"):
        expected = SVC(gamma=rule).fit(rows, y)._gamma
        assert RBF(gamma=rule).fit(rows).gamma == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rule", ["mean", "median", "scale", "auto"])
def test_factors_are_on_the_parameter_they_are_given_to(rng, rule):
    rows = rng.normal(size=(40, 3))
    sigma = bandwidth(rule, rows)
    cases = {
        RBF(sigma=rule): 1 / (2 * sigma**2),
        RBF(sigma=f"{rule}/10"): 1 / (2 * (0.1 * sigma) ** 2),
        RBF(sigma=f"3 * {rule} / 1.5"): 1 / (2 * (2 * sigma) ** 2),
        RBF(gamma=f"1e-1*{rule}"): 0.1 / (2 * sigma**2),
    }
    for kernel, gamma in cases.items():
        assert kernel.fit(rows).gamma == pytest.approx(gamma, rel=1e-12), kernel


@pytest.mark.parametrize("rule", ["mean", "median", "scale"])
def test_rows_that_are_all_the_same_leave_a_bandwidth_of_one(rule):
    assert bandwidth(rule, np.full((6, 2), 3.0)) == 1.0
    assert bandwidth(rule, np.full((1, 2), 3.0)) == 1.0


@pytest.mark.parametrize(
    "value",
    [
        *("", "means", "mean*2", "0*mean", "mean/0", "-1*mean", "1e400*mean", "mean/1e400", "2"),
        *(0, -1.0, np.inf, np.nan, True, None, [1.0]),
    ],
)
def test_what_is_no_bandwidth_is_refused(value):
    with pytest.raises(ValueError, match=r"sigma must be a positive number or one of 'mean'"):
        Bandwidth.parse(value, "sigma")


def test_neighbors_are_as_far_apart_wherever_the_data_lie(rng):
    rows = rng.normal(size=(60, 20))  # so many columns that scikit-learn multiplies matrices
    near, far = (squared_neighbor_distance(rows + offset) for offset in (0, 1e8))
    assert far == pytest.approx(near, rel=1e-6)


@pytest.mark.filterwarnings("error")
def test_neighbors_are_found_where_squares_overflow(rng):
    rows = rng.normal(size=(30, 3))
    near = squared_neighbor_distance(rows)
    assert squared_neighbor_distance(np.ldexp(rows, 500)) == np.ldexp(near, 1000)
    assert squared_neighbor_distance(np.ldexp(rows, 600)) == np.inf
    small = np.ldexp(rows.astype(np.float32), 100)
    assert squared_neighbor_distance(small) == pytest.approx(np.ldexp(near, 200), rel=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", ["mean", "median", "scale", "neighbors"])
@pytest.mark.parametrize(("kind", "size"), [(np.float64, 1e154), (np.float64, 1e250), ("f4", 1e37)])
def test_a_width_that_no_number_holds_is_refused_with_the_kernels_name(rng, rule, kind, size):
    rows = (rng.normal(size=(30, 3)) * size).astype(kind)
    with pytest.raises(DataError, match=rf"rbf\(sigma='{rule}'\) has a width .* scale the data"):
        MKLClassifier([f"rbf(sigma='{rule}')"]).fit(rows, np.arange(30) % 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("gamma", "kind"), [(1e40, "f4"), (1e-60, "f4"), (1e-310, "f8")])
def test_a_gamma_beyond_the_numbers_of_the_data_is_refused(gamma, kind):
    with pytest.raises(DataError, match="choose another"):
        RBF(gamma=gamma).fit(np.eye(3, dtype=kind))


def test_of_many_rows_distances_are_sampled(rng):
    rows = rng.uniform(size=(5200, 5)) * [9, 1, 1, 1, 1]
    rows = rows[rows[:, 0].argsort()].astype(np.float32)  # rows next to each other are near
    distances = pdist(rows)
    near, _ = NearestNeighbors(n_neighbors=5).fit(rows).kneighbors()
    exact = {
        mean_distance: 2 * distances.sum() / 5200**2,
        median_distance: np.median(distances),
        squared_neighbor_distance: (near**2).mean(),
    }
    for rule, expected in exact.items():
        # The median of 64 pairs of each row has a standard error of 0.2 %, the others less.
        assert rule(rows) == pytest.approx(expected, rel=7e-3), rule
        assert rule(rows) != expected, rule


def test_sampled_distances_count_by_the_weights_of_both_rows(rng):
    rows = rng.uniform(size=(5200, 2)) * [9, 1]
    weights = 0.2 + rows[:, 0] ** 2  # far rows count more
    exact = weights @ cdist(rows, rows) @ weights / weights.sum() ** 2
    assert mean_distance(rows, weights) == pytest.approx(exact, rel=0.02)
    assert mean_distance(rows) > 1.3 * exact


def test_pairs_of_a_sample_are_different_and_every_row_is_in_as_many():
    rows = np.ldexp(1.0, np.arange(9))[:, None]  # a difference of two powers tells which they are
    drawn = np.concatenate([distances for distances, _ in sampled_pairs(rows, partners=3)])
    assert len(set(drawn)) == 27
    higher = np.floor(np.log2(drawn)).astype(int) + 1
    lower = np.log2(np.ldexp(1.0, higher) - drawn).astype(int)
    assert set(np.bincount(np.concatenate([higher, lower]))) == {6}


@pytest.mark.process
def test_rows_read_in_parts_have_the_bandwidth_of_rows_in_memory(rng):
    class Parts:
        def __init__(self, rows):
            self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, members):
            assert isinstance(members, slice) or (np.diff(members) > 0).all()
            return self.rows[members]

    rows = rng.normal(size=(50_100, 2))  # of which 50,000 count
    for rule in RULES:
        kernel = RBF(sigma=rule)
        assert kernel.fit(Parts(rows)) == kernel.fit(rows), rule
    assert RBF().fit(rows) != RBF().fit(rows[:50_000])


@given(seed=st.integers(0, 10_000), rule=st.sampled_from(["mean", "scale", "auto"]))
def test_a_weight_is_how_often_a_row_occurs(seed, rule):
    draw = np.random.default_rng(seed)
    rows, often = draw.normal(2, 3, size=(9, 2)), draw.integers(1, 5, 9)
    width = bandwidth(rule, rows, often.astype(float))
    assert np.isclose(width, bandwidth(rule, rows.repeat(often, axis=0)), rtol=1e-10)


def test_the_mean_counts_each_pair_by_both_weights():
    draw = np.random.default_rng(1)
    rows, weights = draw.normal(size=(600, 3)), draw.uniform(0.1, 2, 600)
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    expected = np.average(distances, weights=np.outer(weights, weights))
    assert np.isclose(bandwidth("mean", rows, weights), expected)


@pytest.mark.parametrize("rule", ["median", "neighbors"])
def test_other_rules_take_every_row_once(rule):
    rows = np.random.default_rng(3).normal(size=(20, 2))
    assert bandwidth(rule, rows, np.arange(1.0, 21)) == bandwidth(rule, rows)


def test_kernels_say_whether_they_weigh_rows():
    rows, weights = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    bound = [BoundKernel("a", RBF()), BoundKernel("b", Cosine(RBF())), BoundKernel("c", Linear())]
    plain, inside, _ = fit_kernels(bound, Rows.of(rows), weights)
    # The mean distance of the pairs of 0, 1, 1 and 1 is 6/16.
    assert np.isclose(plain.gamma, 0.5 / 0.375**2)
    assert np.isclose(inside.kernel.gamma, plain.gamma)


@pytest.mark.parametrize("rule", ["mean", "scale"])
@pytest.mark.parametrize("scale", [1e-170, 1e160, 1e300])
def test_only_ratios_of_weights_count(rule, scale):
    draw = np.random.default_rng(4)
    rows, weights = draw.normal(size=(20, 2)), draw.uniform(0.5, 2, 20)
    assert np.isclose(bandwidth(rule, rows, weights * scale), bandwidth(rule, rows, weights))


@pytest.mark.parametrize("n_rows", [150, 5200])
def test_pairs_of_a_row_with_itself_count_at_every_size(n_rows):
    """Of a row that is as heavy as all others together, every fourth pair is such a one."""
    rows = np.random.default_rng(5).normal(size=(n_rows, 2))
    weights = np.ones(n_rows)
    weights[rows[:, 0].argsort()[n_rows // 2]] = n_rows
    exact = weights @ cdist(rows, rows) @ weights / weights.sum() ** 2
    assert np.isclose(bandwidth("mean", rows, weights), exact, rtol=1e-9 if n_rows < 200 else 0.1)
    same = np.full(n_rows, 2.0)
    assert np.isclose(bandwidth("mean", rows, same), bandwidth("mean", rows))
