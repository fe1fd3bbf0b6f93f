"""The components that are taken, or advised, where the user names none: here alone, by name."""

from __future__ import annotations

__all__ = [
    "COMBINER",
    "FEATURE_MAP",
    "FOR_LARGE_DATA",
    "KERNELS",
    "LARGE_DATA_OPTIONS",
    "LARGE_LEARNER",
    "LEARNER",
]

KERNELS = (
    "cosine_linear:cosine(linear)",
    "rbf:rbf(sigma='mean')",
    "cosine_polynomial:cosine(polynomial(degree=2))",
)
"""The kernels of paper 000, normalised: k(x, x) = 1."""

COMBINER, FEATURE_MAP, LEARNER = "uniform", "implicit", "svm"

LARGE_LEARNER = "learner='mhks'"
"""A learner that reads rows in parts."""

FOR_LARGE_DATA = f"feature_map='empirical(subset=1000)', {LARGE_LEARNER}"
"""A map and a learner that need no Gram matrix."""

LARGE_DATA_OPTIONS = "--map 'empirical(subset=1000)' --learner mhks"
"""The same on the command line."""
