"""Which columns still tell covariates after removal: simulated columns whose answer is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mklkit.datasets.traces import LEVEL, with_traces

N = 300
Draw = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""Draws a column from a predictor (N,)."""
TELLING: dict[str, Draw] = {
    "binary": lambda random, x: random.random(len(x)) < 1 / (1 + np.exp(-x)),
    "rare": lambda random, x: random.random(len(x)) < 1 / (1 + np.exp(3 - x)),
    "counts": lambda random, x: random.poisson(2 * np.exp(x)),
    "zero-inflated": lambda random, x: (
        (random.random(len(x)) < 0.6) * np.exp(x + random.normal(size=len(x)))
    ),
    "log-normal": lambda random, x: np.exp(x + random.normal(size=len(x))),
}


def traced(columns: np.ndarray, covariates: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(covariates)), covariates])
    residuals = columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0]
    return with_traces(columns, residuals, design[:, 1:])


@pytest.mark.parametrize("effect", [0.0, 0.4])
@pytest.mark.parametrize("kind", TELLING)
def test_discrete_and_skewed_columns_are_found_with_and_without_an_effect(kind, effect) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        age = random.normal(size=N)
        noise = random.normal(size=(N, 3)) + age[:, None]
        column = TELLING[kind](random, effect * age).astype(float)
        found = traced(np.column_stack([noise, column]), age)
        assert found.tolist() == [False, False, False, True]


@pytest.mark.parametrize("rare", [False, True])
def test_normal_columns_are_hardly_ever_reported(rare: bool) -> None:
    """In 100 tables; more than 5 have a probability below 0.001 if the rate is 1 %."""
    reported = 0
    for seed in range(100):
        random = np.random.default_rng(1000 + seed)
        covariates = random.normal(size=(100, 1))
        if rare:
            covariates = np.column_stack([covariates, random.random(100) < 0.1])
        columns = random.normal(size=(100, 20)) + 0.5 * covariates[:, :1]
        reported += traced(columns, covariates).any()
    assert LEVEL == 0.01
    assert reported <= 5


def test_a_spread_that_a_line_does_not_remove_is_found(rng) -> None:
    age = rng.normal(size=N)
    spread = rng.normal(size=N) * np.exp(0.6 * age)
    assert traced(spread[:, None], age).all()


def test_columns_without_residuals_are_not_reported(rng) -> None:
    age = rng.normal(size=N)
    assert not traced(np.column_stack([3 * age + 1, np.ones(N)]), age).any()
