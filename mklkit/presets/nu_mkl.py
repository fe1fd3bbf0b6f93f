"""The non-uniform system of paper 001."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.protocols.component import Preset
from mklkit.registry.hookspecs import hookimpl

__all__ = ["FOUR_WIDTHS"]

FOUR_WIDTHS = tuple(
    f"w{factor}:rbf(sigma='{factor}*neighbours')" for factor in ("0.01", "0.1", "1", "10")
)
"""exp(−‖x − z‖²/w²) with w = 0.01, 0.1, 1 and 10 times the neighbour scale (section 7.2)."""


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the preset."""
    return [
        Preset(
            "nu-mkl",
            "Four Gaussian widths, weights for each of four soft clusters, embedding (paper 001)",
            # Two alternations, each as far as the ratio rises: converged weights overfit the
            # training rows, and the published steps stop far from convergence.
            "cluster-gating(n_clusters=4, alpha=0.001, max_iter=2)",
            FOUR_WIDTHS,
            "implicit",
            "kda(alpha=0.001)",
        )
    ]
