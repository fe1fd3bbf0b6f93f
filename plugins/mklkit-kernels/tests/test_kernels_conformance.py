"""mklkit's own checks of what a kernel must do."""

from __future__ import annotations

from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_kernels import (
    Centered,
    Conjunctive,
    Disjunctive,
    Mismatch,
    MonotoneConjunctive,
    MonotoneDisjunctive,
    Power,
    Product,
    Sum,
    TraceNormalized,
    WeightedDegree,
)


@parametrize_with_component_checks(
    [
        Conjunctive(),
        Disjunctive(degree=3, normalize=False),
        Mismatch(),
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
