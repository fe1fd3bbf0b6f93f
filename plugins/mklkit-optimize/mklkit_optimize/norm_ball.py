"""Weights on a unit ball other than the simplex, and the decision that keeps their scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit import Learner, ViewSet, WeightedDecision
from mklkit_optimize.gram_sums import Array

__all__ = ["decide_at_scale"]


def decide_at_scale(views: ViewSet, weights: Array, y: Array, learner: Learner) -> WeightedDecision:
    """Return the machine on Σ σ_m K_m, its weights stated on the simplex.

    With s = Σσ_m, a machine of price C on s·K is one of price s·C on K: the same decision function.
    Learners without a price take the simplex weights as they are.
    """
    scale = float(weights.sum())
    machine: Any = learner
    if hasattr(machine, "C") and scale != 1.0:
        machine = machine.set_params(C=machine.C * scale)
    return WeightedDecision.learn(views, np.asarray(weights / scale), y, machine)
