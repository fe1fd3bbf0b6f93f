"""Landmarks drawn uniformly from the training rows: the random subset S′ of paper 004."""

from __future__ import annotations

import numpy as np

from mklkit.views.kernel_rows import KernelRows

__all__ = ["choose"]


def choose(seen: KernelRows, count: int, random_state: np.random.RandomState) -> KernelRows:
    """Return the kernels on rows drawn without replacement, in the order of the rows; O(N)."""
    return seen.take(np.sort(random_state.permutation(seen.n_rows)[:count]))
