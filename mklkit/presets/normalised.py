"""The default kernels, made comparable."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.protocols.preset import Preset
from mklkit.registry.hookspecs import hookimpl

__all__ = ["NORMALISED_KERNELS"]

NORMALISED_KERNELS = (
    "cosine_linear:cosine(linear)",
    "rbf(sigma='mean')",
    "cosine_polynomial:cosine(polynomial)",
)
"""The default trio with k(x, x) = 1 for all of them."""


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the preset."""
    return [
        Preset(
            "normalised",
            "The default kernels at one size, k(x, x) = 1; mostly better, with any combiner",
            "uniform",
            kernels=NORMALISED_KERNELS,
        )
    ]
