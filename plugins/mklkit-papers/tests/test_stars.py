"""The 4-XmasStar data, and where cluster gating puts the weight on them (equation 16)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mklkit_papers.stars import GAPS, make_four_stars

from mklkit import MKLClassifier
from mklkit.combiners.cluster_gating.combiner import ClusterGating

WIDTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
KERNELS = [f"rbf(gamma={width**-2})" for width in WIDTHS]
EQUATION_16 = [
    [0.84, 0.16, 0, 0, 0],
    [0.28, 0.33, 0.39, 0, 0],
    [0, 0.31, 0.69, 0, 0],
    [0, 0.17, 0.83, 0, 0],
]


def weights_by_group(seed: int, **options: Any) -> np.ndarray:
    """Return Θ with the groups as rows, learned from 30 % of 800 rows."""
    X, y, group = make_four_stars(800, random_state=seed)
    chosen = np.random.RandomState(seed).permutation(800)[:240]
    combiner = ClusterGating(n_clusters=4, **options)
    model = MKLClassifier(KERNELS, combiner=combiner, random_state=seed).fit(X[chosen], y[chosen])
    memberships = model.decisions_[0].gates.memberships(X)
    shares = np.stack([memberships[group == k].sum(axis=0) for k in range(4)])
    cluster_of = shares.argmax(axis=1)
    assert sorted(cluster_of) == [0, 1, 2, 3], "the mixture lost a group"
    return model.weights_[cluster_of]


@pytest.mark.parametrize("n_seeds", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_converged_weights_are_those_of_equation_16(n_seeds):
    """From seed to seed the second group differs most."""
    values = np.array([weights_by_group(s, max_iter=1000, tol=1e-8) for s in range(n_seeds)])
    means = values.mean(axis=0)
    assert np.abs(means - EQUATION_16).mean() < 0.06  # uniform weights are 0.227 away
    assert means[:, 3:].max() < 0.02  # "never chosen by any of the clusters"


@pytest.mark.parametrize("n_seeds", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_the_weights_of_products_move_as_the_gaps_do(n_seeds):
    values = np.array([weights_by_group(s, composition="product") for s in range(n_seeds)])
    nearest, farthest = values[:, 0], values[:, 3]
    assert (nearest.argmax(axis=1) == 0).all()
    assert (farthest[:, 2:].sum(axis=1) > nearest[:, 2:].sum(axis=1)).all()
    means = values.mean(axis=0)
    assert means[0, 0] > 0.8  # the paper has 0.84
    assert means[3, 2:].sum() > 0.5  # the paper has 0.83


def test_groups_classes_and_gaps_are_as_asked():
    X, y, group = make_four_stars(8000, random_state=0)
    assert np.bincount(4 * y + group).tolist() == [1000] * 8
    centers = np.array(
        [[X[(group == g) & (y == c)].mean(axis=0) for c in (0, 1)] for g in range(4)]
    )
    gaps = np.linalg.norm(centers[:, 1] - centers[:, 0], axis=1)
    np.testing.assert_allclose(gaps, GAPS, atol=0.05)
    spread = np.linalg.norm(centers.mean(axis=1)[:, None] - centers.mean(axis=1)[None], axis=2)
    assert spread[~np.eye(4, dtype=bool)].min() > 5

    few = make_four_stars(90, gaps=(1.0, 2.0, 3.0), random_state=0)
    assert [len(few[0]), *map(set, few[1:])] == [90, {0, 1}, {0, 1, 2}]
