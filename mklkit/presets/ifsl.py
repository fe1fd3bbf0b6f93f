"""The co-regularised systems of papers 000 and 002."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.hookspecs import hookimpl
from mklkit.presets.base import Preset

__all__: list[str] = []


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the presets."""
    return [
        Preset(
            "multik-mhks",
            "Linear, Gaussian and quadratic kernels, one MHKS each, coupled (paper 000)",
            "ifsl(rule='gradient')",
            ("linear", "rbf(sigma='mean')", "polynomial(degree=2)"),
            "empirical",
            "mhks",
        ),
        Preset(
            "multiv-kmhks",
            "Gaussian and cubic kernels, one KMHKS each, coupled (paper 002)",
            "ifsl(rule='fixed-mean')",
            ("rbf(sigma='mean')", "polynomial(degree=3)"),
            "implicit",
            "kmhks",
        ),
    ]
