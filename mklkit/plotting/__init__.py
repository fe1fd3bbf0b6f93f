"""Pictures of fitted models, in scikit-learn's Display style; they need matplotlib."""

from __future__ import annotations

from mklkit.plotting.gates import GatesDisplay
from mklkit.plotting.weights import KernelWeightsDisplay

__all__ = ["GatesDisplay", "KernelWeightsDisplay"]
