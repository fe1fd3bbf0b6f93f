"""Localized MKL's alternation: a support vector machine, then a gradient step on the gates."""

from __future__ import annotations

import attrs
import numpy as np

from mklkit import Array, solve_dual
from mklkit_discriminant.gate_functions import GateFunction, gate_values, through_gates

__all__ = ["GatePoint", "LocalizedProblem", "descend"]

MACHINE_TOLERANCE = 1e-5
PATIENCE = 1000
"""libsvm's steps per row: a few problems of hundreds, on very large values, would take hours."""
SUFFICIENT = 1e-4
HALVINGS = 25


@attrs.frozen(eq=False)
class GatePoint:
    """Gating vectors with the machine that is best for them.

    Attributes
    ----------
    vectors : ndarray of shape (d + 1, M)
        v_m, the last row v_m0.
    gates : ndarray of shape (N, M)
    signed : ndarray of shape (N,)
        α∘y of the machine.
    objective : float
        Its optimum, J; infinite where it did not end, so that no step leads there.
    """

    vectors: Array
    gates: Array
    signed: Array
    objective: float


@attrs.frozen(eq=False)
class LocalizedProblem:
    """J(V) = max over α of Σα − ½ Σ α_iα_jy_iy_j Σ_m η_m(x_i)k_m(x_i, x_j)η_m(x_j).

    Attributes
    ----------
    grams : ndarray of shape (M, N, N)
    inputs : ndarray of shape (N, d + 1)
        What the gates see, with a column of ones.
    y : ndarray of shape (N,)
        −1 and +1.
    C : float
    gating : {"softmax", "sigmoid"}
    """

    grams: Array
    inputs: Array
    y: Array
    C: float
    gating: GateFunction

    def at(self, vectors: Array) -> GatePoint:
        """Return the machine of the gates of V (d + 1, M)."""
        gates = gate_values(self.gating, self.inputs @ vectors)
        composite = np.zeros(self.grams.shape[1:])
        for index, gram in enumerate(self.grams):
            composite += gates[:, index, None] * gram * gates[:, index]
        steps = PATIENCE * len(self.y)
        machine = solve_dual(composite, self.y, self.C, MACHINE_TOLERANCE, steps)
        signed = machine.coefficients
        value = float(np.abs(signed).sum() - 0.5 * signed @ composite @ signed)
        return GatePoint(vectors, gates, signed, value if machine.ended else np.inf)

    def gradient(self, point: GatePoint) -> Array:
        """Return ∂J/∂V (d + 1, M), α held fixed as it is optimal."""
        weighted = point.signed[:, None] * point.gates
        products = np.einsum("mij,jm->im", self.grams, weighted, optimize=True)
        by_gates = -point.signed[:, None] * products
        return self.inputs.T @ through_gates(self.gating, point.gates, by_gates)


def descend(
    problem: LocalizedProblem, vectors: Array, tol: float, max_iter: int
) -> tuple[GatePoint, tuple[float, ...]]:
    """Return where gradient steps from V end, and J at the start and after each accepted step.

    A step is halved until J falls by a share of what the slope promises; the next one starts at
    twice its length. The end is a step that gains no more than ``tol`` of J, none that gains at
    all, or ``max_iter``; and at once where the machine of V itself did not end.
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
        # The first step moves the gating vectors, which see standardised columns, by one.
        length = 1 / np.sqrt(slope) if length is None else 2 * length
        found = None
        for _ in range(HALVINGS):
            tried = problem.at(point.vectors - length * gradient)
            if tried.objective <= point.objective - SUFFICIENT * length * slope:
                found = tried
                break
            length /= 2
        if found is None or found.objective >= point.objective:
            break
        gain = point.objective - found.objective
        point = found
        history.append(point.objective)
        if gain <= tol * abs(point.objective):
            break
    return point, tuple(history)
