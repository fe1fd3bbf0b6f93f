"""mklkit's own checks of what a combiner must do."""

from __future__ import annotations

from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_fusion import AverageScores, DeFIMKL, Vote


@parametrize_with_component_checks(
    [Vote, AverageScores, DeFIMKL, AverageScores(squash=True), DeFIMKL(alpha=0.0), DeFIMKL(p=1)]
)
def test_combiners_do_what_mklkit_asks(check):
    check()
