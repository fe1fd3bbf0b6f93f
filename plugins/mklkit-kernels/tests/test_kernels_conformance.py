"""mklkit's own checks of what a kernel must do."""

from __future__ import annotations

import numpy as np
from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_kernels import (
    Centered,
    Conjunctive,
    Disjunctive,
    FrequencyOverlap,
    Intersection,
    Mismatch,
    MonotoneConjunctive,
    MonotoneDisjunctive,
    Periodic,
    Power,
    Product,
    Sum,
    Tanimoto,
    TraceNormalized,
    WeightedDegree,
)


@parametrize_with_component_checks(
    [
        Conjunctive(),
        Disjunctive(degree=3, normalize=False),
        FrequencyOverlap,
        FrequencyOverlap(alpha=0.5),
        Mismatch,
        Periodic,
        Periodic(period=24, length=0.5),
        Mismatch(k=4, m=2, alphabet="abc", normalize=False),
        MonotoneConjunctive(degree=3, normalize=False),
        MonotoneDisjunctive(),
        WeightedDegree(degree=4, shift=3),
        *(Centered, Power, Product, Sum, TraceNormalized, Sum("linear", "centered", "power")),
        Product("overlap", "centered(overlap)"),
    ]
)
def test_kernels_do_what_mklkit_asks(check):
    check()


@parametrize_with_component_checks(
    [Intersection, Intersection(normalize=False), Tanimoto],
    rows=np.random.default_rng(5).poisson(2.0, (40, 6)).astype(float),
)
def test_kernels_on_counts(check):
    check()
