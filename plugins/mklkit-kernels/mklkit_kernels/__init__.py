"""Kernels on data that are not plain numbers: text, categories, sets, counts, times."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit import hookimpl
from mklkit_kernels.chi2 import Chi2, FittedChi2
from mklkit_kernels.conjunctive import (
    Conjunctive,
    FittedConjunctive,
    FittedMonotoneConjunctive,
    MonotoneConjunctive,
)
from mklkit_kernels.disjunctive import (
    Disjunctive,
    FittedDisjunctive,
    FittedMonotoneDisjunctive,
    MonotoneDisjunctive,
)
from mklkit_kernels.frequency_overlap import FittedFrequencyOverlap, FrequencyOverlap
from mklkit_kernels.hellinger import FittedHellinger, Hellinger
from mklkit_kernels.intersection import FittedIntersection, Intersection
from mklkit_kernels.min_max import FittedMinMax, MinMax
from mklkit_kernels.mismatch import FittedMismatch, Mismatch
from mklkit_kernels.overlap import FittedOverlap, Overlap
from mklkit_kernels.periodic import FittedPeriodic, Periodic
from mklkit_kernels.spectrum import FittedSpectrum, Spectrum
from mklkit_kernels.tanimoto import FittedTanimoto, Tanimoto
from mklkit_kernels.token_set import FittedTokenSet, TokenSet
from mklkit_kernels.weighted_degree import FittedWeightedDegree, WeightedDegree

__all__ = [
    "Chi2",
    "Conjunctive",
    "Disjunctive",
    "FrequencyOverlap",
    "Hellinger",
    "Intersection",
    "MinMax",
    "Mismatch",
    "MonotoneConjunctive",
    "MonotoneDisjunctive",
    "Overlap",
    "Periodic",
    "Spectrum",
    "Tanimoto",
    "TokenSet",
    "WeightedDegree",
]


@hookimpl
def mklkit_kernels() -> Iterable[type]:
    """Register the kernels."""
    return [
        Chi2,
        Conjunctive,
        Disjunctive,
        FrequencyOverlap,
        Hellinger,
        Intersection,
        MinMax,
        Mismatch,
        MonotoneConjunctive,
        MonotoneDisjunctive,
        Overlap,
        Periodic,
        Spectrum,
        Tanimoto,
        TokenSet,
        WeightedDegree,
    ]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the fitted kernels for model files."""
    return [
        FittedChi2,
        FittedConjunctive,
        FittedDisjunctive,
        FittedFrequencyOverlap,
        FittedHellinger,
        FittedIntersection,
        FittedMinMax,
        FittedMismatch,
        FittedMonotoneConjunctive,
        FittedMonotoneDisjunctive,
        FittedOverlap,
        FittedPeriodic,
        FittedSpectrum,
        FittedTanimoto,
        FittedTokenSet,
        FittedWeightedDegree,
    ]
