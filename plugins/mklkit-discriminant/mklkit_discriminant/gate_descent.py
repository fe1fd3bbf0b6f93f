"""Localized MKL's gates, and its alternation of support vector machines and gradient steps."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np
from scipy.special import expit, softmax

from mklkit.plugin import Array, solve_dual

GateFunction = Literal["softmax", "sigmoid"]

INNER_TOLERANCE = 1e-5
PATIENCE = 1000
"""libsvm's step limit per sample: a few problems with very large values would take hours."""
SUFFICIENT = 1e-4
HALVINGS = 25


def gate_values(function: GateFunction, scores: Array) -> Array:
    """Return the gates η (n, M) of scores ⟨v_m, x⟩ + v_m0 (n, M)."""
    gates = softmax(scores, axis=1) if function == "softmax" else expit(scores)
    return np.asarray(gates)


def through_gates(function: GateFunction, gates: Array, gradient: Array) -> Array:
    """Return the gradient with respect to scores (n, M), given that with respect to gates."""
    if function == "sigmoid":
        return gates * (1 - gates) * gradient
    return gates * (gradient - np.sum(gates * gradient, axis=1, keepdims=True))


@attrs.frozen(eq=False)
class GatePoint:
    """Gating vectors V (d + 1, M), the last row v_m0, their gates (N, M), and the optimal α∘y (N,).

    The objective is infinite if the solver did not converge, so that no step is accepted.
    """

    vectors: Array
    gates: Array
    signed: Array
    objective: float


@attrs.frozen(eq=False)
class LocalizedProblem:
    """J(V) = max over α of Σα − ½ Σ α_iα_jy_iy_j Σ_m η_m(x_i)k_m(x_i, x_j)η_m(x_j).

    The gates' ``inputs`` (N, d + 1) end in a column of ones; labels are −1 and +1.
    """

    grams: Array
    inputs: Array
    y: Array
    C: float
    gating: GateFunction

    def at(self, vectors: Array) -> GatePoint:
        """Solve the support vector machine for the gates of V (d + 1, M)."""
        gates = gate_values(self.gating, self.inputs @ vectors)
        composite = np.zeros(self.grams.shape[1:])
        for index, gram in enumerate(self.grams):
            composite += gates[:, index, None] * gram * gates[:, index]
        steps = PATIENCE * len(self.y)
        solution = solve_dual(composite, self.y, self.C, INNER_TOLERANCE, steps)
        signed = solution.coefficients
        value = float(np.abs(signed).sum() - 0.5 * signed @ composite @ signed)
        return GatePoint(vectors, gates, signed, value if solution.ended else np.inf)

    def gradient(self, point: GatePoint) -> Array:
        """Return ∂J/∂V (d + 1, M); α is held fixed, because it is optimal."""
        weighted = point.signed[:, None] * point.gates
        products = np.einsum("mij,jm->im", self.grams, weighted, optimize=True)
        by_gates = -point.signed[:, None] * products
        return self.inputs.T @ through_gates(self.gating, point.gates, by_gates)


def descend(
    problem: LocalizedProblem, vectors: Array, tol: float, max_iter: int
) -> tuple[GatePoint, tuple[float, ...]]:
    """Return the end point of gradient steps from V, and J before and after each accepted step.

    A step is halved until J falls by a share of the decrease that the slope predicts; the next one
    starts at twice its length. The descent ends when a step lowers J by no more than the relative
    ``tol``, when no step lowers it, or after ``max_iter``; at once if the solver fails at V itself.
    """
    point = problem.at(vectors)
    history = [point.objective]
    if not np.isfinite(point.objective):
        return point, tuple(history)
    length: float | None = None
    for _ in range(max_iter):
        gradient = problem.gradient(point)
        slope = float(np.sum(gradient**2))
        if slope == 0:
            break
        # The first step has length one, since the gates' inputs are standardised columns.
        length = 1 / np.sqrt(slope) if length is None else 2 * length
        lower = None
        for _ in range(HALVINGS):
            tried = problem.at(point.vectors - length * gradient)
            if tried.objective <= point.objective - SUFFICIENT * length * slope:
                lower = tried
                break
            length /= 2
        if lower is None or lower.objective >= point.objective:
            break
        gain = point.objective - lower.objective
        point = lower
        history.append(point.objective)
        if gain <= tol * abs(point.objective):
            break
    return point, tuple(history)
