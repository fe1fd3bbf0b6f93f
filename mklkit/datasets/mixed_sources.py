"""A generated table of three kinds of columns: text, numbers and categories."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["mixed_sources"]

N_ROWS = 600
SITE = "TATAATGC"
LENGTH = 30


def mixed_sources() -> pd.DataFrame:
    """Return 600 made-up rows, half of them ``active``: each source tells something of the class.

    ``sequence`` holds 30 letters, in most active rows with a site anywhere (``TATAATGC``, or that
    with one letter drawn anew); ``level_1`` to ``level_4`` are numbers, of which two have a ring of
    active rows around the others; ``tissue`` and ``stage`` are categories, the second with gaps.

    Examples
    --------
    >>> frame = mixed_sources()
    >>> frame.shape, int((frame["target"] == "active").sum())
    ((600, 8), 300)
    """
    rng = np.random.default_rng(0)
    active = np.arange(N_ROWS) % 2 == 1
    letters = rng.choice(list("ACGT"), (N_ROWS, LENGTH))
    with_site = rng.random(N_ROWS) < np.where(active, 0.85, 0.1)
    for row in np.flatnonzero(with_site):
        site = list(SITE)
        if rng.random() < 0.3:
            site[rng.integers(len(site))] = rng.choice(list("ACGT"))
        start = rng.integers(LENGTH - len(site) + 1)
        letters[row, start : start + len(site)] = site
    levels = rng.normal(size=(N_ROWS, 4))
    radius = np.where(active, 1.9, 0.9) + 0.6 * rng.normal(size=N_ROWS)
    angle = rng.uniform(0, 2 * np.pi, N_ROWS)
    levels[:, 0], levels[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    frame = pd.DataFrame({"sequence": ["".join(row) for row in letters]})
    for number in range(4):
        frame[f"level_{number + 1}"] = levels[:, number].round(3)
    frame["tissue"] = _drawn(rng, active, ["liver", "lung", "skin"], [0.65, 0.15, 0.2])
    frame["stage"] = _drawn(rng, active, ["early", "late", "middle"], [0.15, 0.6, 0.25])
    frame.loc[rng.random(N_ROWS) < 0.05, "stage"] = None
    return frame.assign(target=np.where(active, "active", "silent"))


def _drawn(
    rng: np.random.Generator, active: np.ndarray, values: list[str], shares: list[float]
) -> list[str]:
    """Return a category per row, drawn with these shares where active, else with even ones."""
    even = np.full(len(values), 1 / len(values))
    return [str(rng.choice(values, p=shares if one else even)) for one in active]
