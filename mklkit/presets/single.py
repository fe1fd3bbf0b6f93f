"""The single-kernel baselines of papers 000 and 002."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.protocols.component import Preset
from mklkit.registry.hookspecs import hookimpl

__all__: list[str] = []

ONE_RBF = ("rbf(sigma='mean')",)


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the presets."""
    return [
        Preset(
            "mhks",
            "One Gaussian kernel, empirical map, Ho-Kashyap learner (paper 000)",
            "uniform",
            ONE_RBF,
            "empirical",
            "mhks",
        ),
        Preset(
            "kmhks",
            "One Gaussian kernel, implicit map, kernel Ho-Kashyap learner (paper 002)",
            "uniform",
            ONE_RBF,
            "implicit",
            "kmhks",
        ),
    ]
