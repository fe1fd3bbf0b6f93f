"""Data of the co-regularised family's tests."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def three_classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return 90 rows of 4 features in three overlapping classes of unequal size, labels 0, 1, 2."""
    labels = np.repeat([0, 1, 2], [20, 30, 40])
    rows = rng.normal(size=(90, 4))
    rows[:, :2] += 1.6 * np.array([[0, 0], [1, 0], [0.3, 1]])[labels]
    shuffled = rng.permutation(90)
    return rows[shuffled], labels[shuffled]
