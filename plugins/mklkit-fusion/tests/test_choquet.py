"""The Choquet integral against its definition, and measures whose integral has a name."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from mklkit_fusion import choquet_integral, shapley_values


def position(members):
    """Return a set's position in a measure."""
    return sum(1 << member for member in members)


def random_measure(rng, count):
    """Return a measure: each set gets the largest value of its subsets, and some more."""
    measure = np.zeros(2**count)
    for size in range(1, count + 1):
        for members in combinations(range(count), size):
            below = [measure[position(set(members) - {member})] for member in members]
            measure[position(members)] = max(below) + rng.exponential()
    return measure / measure[-1]


def by_definition(row, measure):
    """Integrate g({f ≥ t}) over t ≥ 0 and g({f ≥ t}) − 1 over t < 0, between all levels."""
    levels = sorted({0.0, *row})
    total = 0.0
    for low, high in pairwise(levels):
        middle = (low + high) / 2
        level_set = measure[position(m for m, value in enumerate(row) if value >= middle)]
        total += (high - low) * (level_set if middle > 0 else level_set - 1)
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_integral_is_that_of_the_level_sets(count):
    rng = np.random.default_rng(count)
    measure = random_measure(rng, count)
    scores = rng.normal(size=(40, count)).round(1)  # rounded: ties, and zeros
    expected = [by_definition(row, measure) for row in scores]
    np.testing.assert_allclose(choquet_integral(scores, measure), expected, atol=1e-12)


def test_measures_with_a_name():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 4))
    sizes = np.array([bin(subset).count("1") for subset in range(16)])
    shares = rng.dirichlet(np.ones(4))
    additive = np.array(
        [sum(shares[m] for m in range(4) if subset >> m & 1) for subset in range(16)]
    )
    named = {
        "minimum": ((sizes == 4).astype(float), scores.min(axis=1)),
        "maximum": ((sizes > 0).astype(float), scores.max(axis=1)),
        "second smallest": ((sizes >= 3).astype(float), np.sort(scores, axis=1)[:, 1]),
        "weighted mean": (additive, scores @ shares),
    }
    for measure, expected in named.values():
        np.testing.assert_allclose(choquet_integral(scores, measure), expected, atol=1e-12)
    np.testing.assert_allclose(shapley_values(additive), shares)


def test_shapley_values_are_mean_gains_over_all_orders():
    measure = random_measure(np.random.default_rng(5), 4)
    gains = np.zeros(4)
    orders = list(permutations(range(4)))
    for order in orders:
        for place, member in enumerate(order):
            gains[member] += (
                measure[position(order[: place + 1])] - measure[position(order[:place])]
            )
    np.testing.assert_allclose(shapley_values(measure), gains / len(orders))
