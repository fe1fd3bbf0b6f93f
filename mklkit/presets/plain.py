"""Linear, Gaussian and quadratic kernels without normalisation."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.protocols.component import Preset
from mklkit.registry.hookspecs import hookimpl

__all__ = ["PLAIN_KERNELS"]

PLAIN_KERNELS = ("linear", "rbf(sigma='mean')", "polynomial(degree=2)")
"""The trio of paper 000."""


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the preset."""
    return [
        Preset(
            "plain",
            "The default kernels without normalisation: values grow with the features",
            "uniform",
            kernels=PLAIN_KERNELS,
        )
    ]
