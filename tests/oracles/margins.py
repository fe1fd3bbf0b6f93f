"""MHKS and KMHKS as papers 000 and 002 print them, with one view and dense inverses."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

Array = np.ndarray


def mhks(
    features: Array,
    y: Array,
    c: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    rho: float = 0.99,
    b0: float = 1e-6,
) -> tuple[Array, list[float]]:
    """Return ω (the bias last) and the objective's history: Table 1 of paper 000, m = 1."""
    n_rows, width = features.shape
    signed = y[:, None] * np.column_stack([features, np.ones(n_rows)])
    ridge = c * np.eye(width + 1)
    ridge[-1, -1] = 0
    inverse = np.linalg.inv(signed.T @ signed + ridge)
    b = np.full(n_rows, b0)
    history: list[float] = []
    while True:
        omega = inverse @ (signed.T @ (1 + b))
        e = signed @ omega - 1 - b
        history.append(float(e @ e + c * omega[:-1] @ omega[:-1]))
        if len(history) > 1 and abs(history[-1] - history[-2]) <= tol:
            return omega, history
        if len(history) == max_iter:
            return omega, history
        b = b + rho * (e + np.abs(e))


def kmhks(
    gram: Array,
    y: Array,
    c: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    rho: float = 0.99,
    b0: float = 1e-6,
) -> tuple[Array, float, list[float]]:
    """Return the row coefficients y∘α, w₀ and the history: equations (4) and (5) of paper 002.

    The objective is taken after the margins have grown, as the table has it.
    """
    n_rows = len(y)
    signed = np.outer(y, y) * gram
    system = np.block(
        [
            [signed + c * np.eye(n_rows), y[:, None]],
            [(y @ signed)[None, :], np.array([[float(n_rows)]])],
        ]
    )
    inverse = np.linalg.inv(system)
    b = np.full(n_rows, b0)
    history: list[float] = []
    while True:
        target = 1 + b
        solution = inverse @ np.append(target, y @ target)
        alpha, bias = solution[:-1], solution[-1]
        e = signed @ alpha + bias * y - 1 - b
        b = b + rho * (e + np.abs(e))
        e = signed @ alpha + bias * y - 1 - b
        history.append(float(e @ e + c * alpha @ signed @ alpha))
        if len(history) > 1 and abs(history[-1] - history[-2]) <= tol * abs(history[-2]):
            return y * alpha, float(bias), history
        if len(history) == max_iter:
            return y * alpha, float(bias), history


def squared_hinge_minimum(features: Array, y: Array, c: float) -> float:
    """Return min over w, w₀ and b ≥ 0 of ‖y∘f − 1 − b‖² + c‖w‖², by a generic solver.

    The best margins for given outputs are max(0, y∘f − 1), which leaves a squared hinge.
    """

    def objective(omega: Array) -> tuple[float, Array]:
        short = np.maximum(0, 1 - y * (features @ omega[:-1] + omega[-1]))
        gradient = np.append(
            -2 * features.T @ (y * short) + 2 * c * omega[:-1], -2 * (y * short).sum()
        )
        return float(short @ short + c * omega[:-1] @ omega[:-1]), gradient

    start = np.zeros(features.shape[1] + 1)
    options = {"gtol": 1e-9, "maxiter": 10_000}
    return float(minimize(objective, start, jac=True, method="BFGS", options=options).fun)
