"""Composed kernels, and kernels for sequences, counts, times, categories and columns of 0 and 1."""

from mklkit_kernels.amounts import Intersection, Periodic, Tanimoto
from mklkit_kernels.boolean import (
    Conjunctive,
    Disjunctive,
    MonotoneConjunctive,
    MonotoneDisjunctive,
)
from mklkit_kernels.categories import FrequencyOverlap
from mklkit_kernels.composed import Power, Product, Sum
from mklkit_kernels.mismatch import Mismatch
from mklkit_kernels.normalized import Centered, TraceNormalized
from mklkit_kernels.weighted_degree import WeightedDegree

__all__ = [
    "Centered",
    "Conjunctive",
    "Disjunctive",
    "FrequencyOverlap",
    "Intersection",
    "Mismatch",
    "MonotoneConjunctive",
    "MonotoneDisjunctive",
    "Periodic",
    "Power",
    "Product",
    "Sum",
    "Tanimoto",
    "TraceNormalized",
    "WeightedDegree",
]
