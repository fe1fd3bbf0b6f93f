"""The co-regularised systems of papers 000, 002 and 004."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.presets.plain import PLAIN_KERNELS
from mklkit.protocols.component import Preset
from mklkit.registry.hookspecs import hookimpl

__all__ = ["RPEMEKL_KERNELS"]

RPEMEKL_KERNELS = (
    "cosine:cosine(linear)",
    "rbf:rbf(sigma='mean')",
    "rbf_narrow:rbf(sigma='mean/10')",
)
"""The normalised linear kernel and two Gaussian ones, σ and σ/10 (paper 004, section 3.1)."""


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the presets."""
    return [
        Preset(
            "multik-mhks",
            "Linear, Gaussian and quadratic kernels, one MHKS per kernel, coupled (paper 000)",
            "ifsl(rule='gradient')",
            PLAIN_KERNELS,
            "empirical",
            "mhks",
        ),
        Preset(
            "multiv-kmhks",
            "Gaussian and cubic kernels, one KMHKS per kernel, coupled (paper 002)",
            "ifsl(rule='fixed-mean')",
            ("rbf(sigma='mean')", "polynomial(degree=3)"),
            "implicit",
            "kmhks",
        ),
        Preset(
            "rpemekl",
            "Three members on maps of a tenth of the rows, at most 1,000, coupled MHKS, by vote"
            " (paper 004)",
            "ifsl(rule='gradient')",
            RPEMEKL_KERNELS,
            # As in the paper's largest set; a tenth of millions of rows would not end.
            "empirical(subset=0.1, most=1000)",
            "mhks",
            members=3,
        ),
    ]
