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


def one_hot(values: np.ndarray) -> np.ndarray:
    return (values[:, None] == np.unique(values)).astype(float)


FEW_VALUES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "years": lambda random, n: random.uniform(20, 80, n).round()[:, None],
    "sex": lambda random, n: one_hot(random.integers(0, 2, n)),
    "smoker": lambda random, n: one_hot(random.random(n) < 0.1),
    "batch": lambda random, n: one_hot(random.integers(0, 3, n)),
    "sex and batch": lambda random, n: np.hstack(
        [one_hot(random.integers(0, 2, n)), one_hot(random.integers(0, 3, n))]
    ),
}


@pytest.mark.parametrize("n_samples", [30, 38, 300])
@pytest.mark.parametrize("kind", FEW_VALUES)
def test_normal_columns_are_hardly_ever_reported_if_covariates_have_ties(kind, n_samples) -> None:
    """In 12 tables; more than 2 have a probability of 0.0002 if the rate is 1 %."""
    reported = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        covariates = FEW_VALUES[kind](random, n_samples)
        columns = random.normal(size=(n_samples, 8)) + 0.5 * covariates[:, :1]
        reported += traced(columns, covariates).any()
    assert reported <= 2


@pytest.mark.parametrize("few", ["sex", "smoker", "batch"])
@pytest.mark.parametrize("kind", [kind for kind in TELLING if kind != "rare"])
def test_discrete_and_skewed_columns_are_found_with_few_values_of_covariates(kind, few) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        covariates = FEW_VALUES[few](random, N)
        column = TELLING[kind](random, 0.4 * covariates[:, 0]).astype(float)
        assert traced(column[:, None], covariates).all()


@pytest.mark.parametrize("few", ["years", "sex", "batch"])
def test_a_spread_that_differs_between_tied_covariates_is_found(rng, few) -> None:
    """Only the slices see it: the column has neither atoms nor skewed residuals."""
    covariates = FEW_VALUES[few](rng, N)
    scaled = (covariates[:, 0] - covariates[:, 0].mean()) / covariates[:, 0].std()
    columns = rng.normal(size=(N, 2))
    columns[:, 1] *= np.exp(0.8 * scaled)
    assert traced(columns, covariates).tolist() == [False, True]


def test_a_tie_does_not_keep_small_slices_from_a_test(rng) -> None:
    """With 38 samples no other size of slice fits."""
    age = np.arange(38.0)
    age[1] = age[0]
    assert traced((rng.normal(size=38) * np.exp((age - 19) / 8))[:, None], age).all()


def test_a_spread_that_a_line_does_not_remove_is_found(rng) -> None:
    age = rng.normal(size=N)
    spread = rng.normal(size=N) * np.exp(0.6 * age)
    assert traced(spread[:, None], age).all()


def test_columns_without_residuals_are_not_reported(rng) -> None:
    age = rng.normal(size=N)
    assert not traced(np.column_stack([3 * age + 1, np.ones(N)]), age).any()
