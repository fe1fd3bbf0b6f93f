"""The systems of paper 003: five Gaussian kernels, a heuristic, an SVM."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.protocols.component import Preset
from mklkit.registry.hookspecs import hookimpl

__all__ = ["FIVE_WIDTHS"]

FIVE_WIDTHS = (
    "k1:rbf(gamma=0.002)",
    "k2:rbf(gamma='auto')",
    "k3:rbf(gamma='5*auto')",
    "k4:rbf(gamma='10*auto')",
    "k5:rbf(gamma='25*auto')",
)
"""exp(−s‖x − z‖²) with s = 2e-3, 1/d, 5/d, 10/d, 25/d; features in [−1, 1] (section 5.2)."""


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register one preset per heuristic."""
    return [
        Preset(
            f"paper-dimkl{number}",
            f"DiMKL {number} on the five Gaussian widths of paper 003, libsvm with C = 1",
            f"dimkl{number}",
            FIVE_WIDTHS,
            "implicit",
            "svm(C=1.0)",
            scale="minmax",
        )
        for number in range(1, 7)
    ]
