"""What these tests share; some need mklkit's own helpers and oracles, which a checkout has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

MKLKITS_TESTS = Path(__file__).parents[3] / "tests"
if (MKLKITS_TESTS / "oracles").is_dir():
    sys.path.append(str(MKLKITS_TESTS))
else:
    # These need mklkit's pages, and the oracles and helpers of its own tests.
    collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*_20??.py")]
    collect_ignore += ["test_pages_of_papers.py", "test_reproduce_command.py"]

# As mklkit's own tests: threads that wait for each other would slow down several workers.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=25, database=None)
settings.load_profile("ci")


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a seeded source of random numbers."""
    return np.random.default_rng(20260711)


@pytest.fixture
def two_classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 70 rows of 4 features in two overlapping classes of unequal size, labels −1, +1."""
    y = np.where(np.arange(70) % 5 < 2, 1.0, -1.0)
    rows = rng.normal(size=(70, 4))
    rows[:, :2] += 0.7 * y[:, None]
    return rows, y
