"""Data that the tests share: simulated studies, and transcriptions of formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def study(n: int, seed: int, features: int = 5, tied: bool = False) -> tuple[Array, Array, Array]:
    """Return samples, times and events (n, 2), and true log-hazards, of exponential times."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(n, features))
    log_hazards = rows[:, 0] - 0.7 * rows[:, 1]
    times, ends = draw.exponential(np.exp(-log_hazards)), draw.exponential(2.0, n)
    observed = np.minimum(times, ends) + 1e-3
    if tied:
        observed = np.ceil(4 * observed) / 4
    return rows, np.column_stack([observed, times <= ends]).astype(float), log_hazards


def two_sources(n: int, seed: int) -> tuple[Array, Array, Array]:
    """Return samples of which the first four columns carry the hazard, and the last four do not."""
    rows, target, log_hazards = study(n, seed, features=8)
    return rows, target, log_hazards


def log_likelihood(target: Array, log_hazards: Array, ties: str) -> float:
    """Return the log partial likelihood, event by event, as textbooks print it."""
    total = 0.0
    hazards = np.exp(log_hazards)
    for time in np.unique(target[target[:, 1] > 0, 0]):
        tied = (target[:, 0] == time) & (target[:, 1] > 0)
        at_risk = target[:, 0] >= time
        total += log_hazards[tied].sum()
        for place in range(tied.sum()):
            share = place / tied.sum() if ties == "efron" else 0.0
            total -= np.log(hazards[at_risk].sum() - share * hazards[tied].sum())
    return total
