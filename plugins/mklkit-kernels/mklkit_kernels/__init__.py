"""Kernels made of others, and kernels for columns of 0 and 1 and for aligned sequences."""

from mklkit_kernels.boolean import (
    Conjunctive,
    Disjunctive,
    MonotoneConjunctive,
    MonotoneDisjunctive,
)
from mklkit_kernels.composed import Power, Product, Sum
from mklkit_kernels.mismatch import Mismatch
from mklkit_kernels.normalised import Centered, TraceNormalized
from mklkit_kernels.weighted_degree import WeightedDegree

__all__ = [
    "Centered",
    "Conjunctive",
    "Disjunctive",
    "Mismatch",
    "MonotoneConjunctive",
    "MonotoneDisjunctive",
    "Power",
    "Product",
    "Sum",
    "TraceNormalized",
    "WeightedDegree",
]
