"""Landmark strategies: which rows or centres they take, and the Nyström formula on them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import chisquare
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from mklkit import IncompatibleError
from mklkit.feature_maps import Empirical
from mklkit.feature_maps.landmarks import STRATEGIES, leverage_scores
from mklkit.kernels import RBF, Cosine, Linear, Polynomial, Precomputed, Tanh
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.stored_rows import StoredRows
from mklkit.views.view_set import ViewSet

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(60, 4))


def seen_by(kernels, rows):
    return KernelRows.of([kernel.fit(rows) for kernel in kernels], [rows] * len(kernels))


def fitted(strategy, kernel, rows, subset=12, seed=0):
    feature_map = Empirical(subset=subset, landmarks=strategy)
    return feature_map.fit(kernel.fit(rows), rows, np.random.RandomState(seed))


@each_strategy
@pytest.mark.parametrize("peer", [RBF(gamma=0.2), Polynomial(degree=2)])
def test_features_are_the_nystroem_approximation_on_the_landmarks(strategy, peer, rows, rng):
    kernel, new = peer.fit(rows), rng.normal(size=(9, 4))
    feature_map = fitted(strategy, peer, rows)
    chosen = feature_map.landmarks
    assert chosen.shape == (12, 4)
    assert strategy == "kmeans" or set(map(tuple, chosen)) <= set(map(tuple, rows))
    inverse = np.linalg.pinv(kernel(chosen, chosen), rcond=1e-12, hermitian=True)
    expected = kernel(new, chosen) @ inverse @ kernel(chosen, rows)
    projected = feature_map.transform(new) @ feature_map.transform(rows).T
    np.testing.assert_allclose(projected, expected, atol=1e-7 * np.abs(expected).max())


@each_strategy
def test_kernels_on_the_same_columns_share_one_array_of_landmarks(strategy, rows):
    left = np.ascontiguousarray(rows[:, :2])
    kernels = [RBF(gamma=1.0).fit(rows), RBF(gamma=1.0).fit(left), Linear().fit(rows)]
    maps = list(
        Empirical(subset=10, landmarks=strategy).fit_all(
            kernels, [rows, left, rows], np.random.RandomState(0)
        )
    )
    assert maps[0].landmarks is maps[2].landmarks
    # One choice for all kernels, cut to the columns of each.
    assert maps[1].landmarks.shape == (10, 2)
    atol = 1e-12 if strategy != "kmeans" else 1e-9
    np.testing.assert_allclose(maps[1].landmarks, maps[0].landmarks[:, :2], atol=atol)


@each_strategy
def test_rows_are_read_in_parts(strategy, rows, tmp_path):
    rows.tofile(tmp_path / "rows")
    stored = StoredRows(tmp_path / "rows", rows.shape, rows.dtype)
    bank = KernelRows.of([RBF(gamma=0.2).fit(rows)], [stored])
    chosen = STRATEGIES[strategy](bank, 12, np.random.RandomState(0))
    expected = fitted(strategy, RBF(gamma=0.2), rows).landmarks
    np.testing.assert_array_equal(chosen.arrays[0], expected)


@each_strategy
@pytest.mark.parametrize("subset", [1, 2])
def test_odd_rows_get_finite_features(strategy, subset):
    kernels = Linear(), RBF(gamma=1.0), Tanh(gamma=1.0, coef0=-2.0)
    for rows, kernel in product((np.zeros((8, 2)), np.full((8, 2), 3.0), np.eye(8)), kernels):
        assert np.isfinite(fitted(strategy, kernel, rows, subset).transform(rows)).all()


def test_kmeans_puts_a_landmark_into_each_cluster(rng):
    centers = 100 * rng.normal(size=(5, 3))
    rows = np.repeat(centers, 40, axis=0) + rng.normal(size=(200, 3))
    chosen = fitted("kmeans", RBF(gamma=1.0), rows, subset=5).landmarks
    distances = cdist(centers, chosen)
    assert sorted(distances.argmin(axis=1)) == list(range(5))
    # The mean of 40 rows of variance 1 in 3 columns.
    assert distances.min(axis=1).max() < 5 * np.sqrt(3 / 40)


@pytest.mark.parametrize(("scale", "offset"), [(1e300, 0), (1e-200, 0), (1, 1e9)])
def test_kmeans_is_the_same_for_rows_of_any_scale(rows, scale, offset):
    usual, scaled = (
        STRATEGIES["kmeans"](
            seen_by([RBF(gamma=1.0)], scaled), 12, np.random.RandomState(0)
        ).arrays[0]
        for scaled in (rows, rows * scale + offset)
    )
    np.testing.assert_allclose((scaled - offset) / scale, usual, atol=1e-5)


@pytest.mark.parametrize("wrapped", [False, True])
def test_row_ids_have_no_means(rows, wrapped):
    kernel = Precomputed(rbf_kernel(rows))
    kernel = Cosine(kernel) if wrapped else kernel
    ids = np.arange(60.0)[:, None]
    bound, feature_map = BoundKernel("graph", kernel), Empirical(subset=5, landmarks="kmeans")
    with pytest.raises(IncompatibleError, match=r"means of samples.*'graph'"):
        ViewSet.fit([bound], feature_map, ids, np.random.RandomState(0))


@pytest.mark.parametrize("ridge", [1e-1, 1e-3])
def test_leverage_scores_are_those_of_the_mean_of_the_normalized_kernels(ridge, rows):
    gram = (rbf_kernel(rows, gamma=0.5) + linear_kernel(rows) / (rows**2).sum(axis=1).mean()) / 2
    exact = np.diag(gram @ np.linalg.inv(gram + ridge * 60 * np.eye(60)))
    bank = seen_by([RBF(gamma=0.5), Linear()], rows)
    np.testing.assert_allclose(leverage_scores(bank, bank, ridge), exact, rtol=1e-8)


def test_rows_are_drawn_in_proportion_to_their_scores():
    """One after another without replacement, each in proportion to the scores that are left."""
    bank = seen_by([Linear()], np.diag([0.5, 0.8, 1.2, 2.0]))
    pairs = list(combinations(range(4), 2))
    drawn, expected = Counter(), np.zeros(len(pairs))
    for seed in range(500):
        pilot = np.sort(np.random.RandomState(seed).permutation(4)[:2])
        scores = leverage_scores(bank, bank.take(pilot))
        scores /= scores.sum()
        expected += [
            scores[i] * scores[j] * (1 / (1 - scores[i]) + 1 / (1 - scores[j])) for i, j in pairs
        ]
        chosen = STRATEGIES["leverage"](bank, 2, np.random.RandomState(seed))
        drawn[tuple(np.flatnonzero(chosen.arrays[0].any(axis=0)).tolist())] += 1
    assert sum(expected) == pytest.approx(500)
    assert chisquare([drawn[pair] for pair in pairs], expected).pvalue > 0.001


@pytest.mark.parametrize("value", ["kmean", "", None, 3, ["kmeans"]])
def test_unknown_strategies_and_a_choice_among_all_rows_are_refused(value):
    with pytest.raises(ValueError, match="landmarks"):
        Empirical(subset=5, landmarks=value)
    with pytest.raises(ValueError, match=r"without subset every sample is a landmark.*subset=256"):
        Empirical(landmarks="kmeans")
