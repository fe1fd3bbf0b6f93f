"""Plain steps against a naive transcription of Algorithms 1 and 2 of Mu and Zhou 2011."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import views_of
from oracles.gated import printed_alternation, printed_stage_two
from problems import Bands, checkered, forms_of_checkered, random_forms

from mklkit.combiners.cluster_gating.combiner import ClusterGating
from mklkit.combiners.cluster_gating.pairwise_updating import (
    MAX_STEPS,
    RATIO_TOLERANCE,
    random_pairs,
    update_pairs,
)


def pairs_from(rng, n_clusters, n_kernels):
    return iter(random_pairs(n_clusters, n_kernels, MAX_STEPS, rng).tolist())


@pytest.mark.parametrize("max_rounds", [1, 3, 100])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("problem", [random_forms, forms_of_checkered])
def test_stage_two_is_algorithms_1_and_2(problem, seed, max_rounds):
    forms, start = problem(seed), np.full((3, 4), 0.25)
    reference, ratio = printed_stage_two(
        start, forms, pairs_from(np.random.default_rng(seed), 3, 4), max_rounds, RATIO_TOLERANCE
    )
    ours = update_pairs(
        start, forms, "random", max_rounds=max_rounds, rng=np.random.default_rng(seed)
    )
    assert not np.allclose(reference, start)
    np.testing.assert_allclose(ours.weights, reference, atol=1e-8)
    assert ours.history[-1] == pytest.approx(ratio, rel=1e-9)
    assert len(ours.history) <= 1 + max_rounds


@pytest.mark.parametrize("turns", [1, 4])
def test_the_alternation_is_that_of_section_3_4(turns):
    """On two Gaussian kernels of nearly the same width, whose sum form is positive definite."""
    rows, y = checkered(np.random.default_rng(7), 50)
    kernels, clusterer = ["rbf(sigma=0.7)", "rbf(sigma=1.0)"], Bands((-0.5, 0.5))
    combiner = ClusterGating(
        clusterer=clusterer, pairs="random", steps="plain", max_iter=turns, tol=0, max_rounds=5
    )
    views, memberships = views_of(kernels, rows), clusterer.predict_proba(rows)
    gates = combiner.fit_gates(views, y, np.random.RandomState(3))
    rng = np.random.default_rng(np.random.RandomState(3).randint(2**31 - 1))
    weights, history = printed_alternation(
        [view.gram() for view in views],
        memberships,
        y,
        combiner.alpha,
        (pairs_from(rng, 3, 2) for _ in range(turns)),
        combiner.max_rounds,
        RATIO_TOLERANCE,
    )
    assert history[-1] > history[0]
    np.testing.assert_allclose(gates.history, history, rtol=1e-6)
    np.testing.assert_allclose(gates.weights, weights, atol=1e-5)


def test_steepest_pairs_one_after_another_end_where_nothing_can_be_gained():
    """Footnote 1 of the paper, without the Newton steps that are the default."""
    forms, start = random_forms(0), np.full((3, 4), 0.25)
    options = {"pairs": "gradient", "max_steps": 100_000}
    plain = update_pairs(start, forms, max_rounds=100, **options)
    update = update_pairs(start, forms, **options)
    assert plain.history[-1] == pytest.approx(update.history[-1], rel=1e-6)
    assert plain.steps > update.steps


def test_every_pair_of_kernels_of_one_cluster_is_drawn_equally_often():
    drawn = random_pairs(2, 3, 12_000, np.random.default_rng(0))
    pairs, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = [(i, j) for i in range(6) for j in range(6) if i // 3 == j // 3 and i != j]
    assert pairs.tolist() == [list(pair) for pair in expected]
    np.testing.assert_allclose(counts, 1000, rtol=0.15)


@pytest.mark.parametrize("composition", ["sum", "product"])
def test_no_tolerance_means_a_set_number_of_turns(composition):
    rows, y = checkered(np.random.default_rng(7), 50)
    settings = {"pairs": "random", "steps": "plain", "composition": composition, "max_rounds": 1}
    combiner = ClusterGating(clusterer=Bands(), max_iter=7, tol=0, **settings)
    views = views_of(["rbf(sigma=0.7)", "linear", "rbf(sigma=3)"], rows)
    history = np.array(combiner.fit_gates(views, y, np.random.RandomState(0)).history)
    assert len(history) == 1 + 2 * 7
    assert (np.diff(history) >= 0).all()
