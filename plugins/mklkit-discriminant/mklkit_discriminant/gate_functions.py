"""Softmax and sigmoid gates, and the chain rule through them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import expit, softmax

from mklkit.plugin import Array

GateFunction = Literal["softmax", "sigmoid"]


def gate_values(function: GateFunction, scores: Array) -> Array:
    """Return the gates η (n, M) of scores ⟨v_m, x⟩ + v_m0 (n, M).

    Examples
    --------
    >>> gate_values("softmax", np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    >>> gate_values("sigmoid", np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """
    gates = softmax(scores, axis=1) if function == "softmax" else expit(scores)
    return np.asarray(gates)


def through_gates(function: GateFunction, gates: Array, gradient: Array) -> Array:
    """Return the gradient with respect to scores (n, M), given that with respect to gates."""
    if function == "sigmoid":
        return gates * (1 - gates) * gradient
    return gates * (gradient - np.sum(gates * gradient, axis=1, keepdims=True))
