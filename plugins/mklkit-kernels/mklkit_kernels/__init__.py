"""Kernels for special data: columns of 0 and 1, and aligned sequences."""

from mklkit_kernels.boolean import (
    Conjunctive,
    Disjunctive,
    MonotoneConjunctive,
    MonotoneDisjunctive,
)
from mklkit_kernels.weighted_degree import WeightedDegree

__all__ = [
    "Conjunctive",
    "Disjunctive",
    "MonotoneConjunctive",
    "MonotoneDisjunctive",
    "WeightedDegree",
]
