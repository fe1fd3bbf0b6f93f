"""The Ho–Kashyap iteration: solve for the function, then let the margins grow."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

__all__ = ["Stopping", "grow_margins", "ho_kashyap"]

Array = NDArray[np.floating[Any]]


@attrs.frozen
class Stopping:
    """When the iteration ends.

    Attributes
    ----------
    tol : float
        Paper symbol ξ.
    relative : bool
        Whether the change of the objective is divided by the objective (KMHKS) or not (MHKS).
    max_iter : int
    """

    tol: float
    relative: bool
    max_iter: int

    def reached(self, previous: float, current: float) -> bool:
        """Return whether the objective has changed by no more than the tolerance."""
        change = abs(current - previous)
        return change <= self.tol * (abs(previous) if self.relative else 1.0)


@numba.njit(cache=True, nogil=True)
def grow_margins(
    outputs: Array, labels: Array, margins: Array, rate: float
) -> None:  # pragma: no cover - compiled
    """Set ``b ← b + ρ(e + |e|)`` with ``e = φ∘f − 1 − b``, in place and in one pass."""
    for i in range(outputs.size):
        error = labels[i] * outputs[i] - 1.0 - margins[i]
        if error > 0.0:
            margins[i] += 2.0 * rate * error


@numba.njit(cache=True, nogil=True)
def squared_error(
    outputs: Array, labels: Array, margins: Array
) -> float:  # pragma: no cover - compiled
    """Return ``‖φ∘f − 1 − b‖²``."""
    total = 0.0
    for i in range(outputs.size):
        error = labels[i] * outputs[i] - 1.0 - margins[i]
        total += error * error
    return total


def ho_kashyap(
    solve: Callable[[Array], Array],
    outputs: Callable[[Array], Array],
    penalty: Callable[[Array], float],
    labels: Array,
    rate: float,
    initial_margin: float,
    stopping: Stopping,
) -> tuple[Array, list[float]]:
    """Minimise ``‖φ∘f − 1 − b‖² + penalty`` over the function and the margins ``b`` ≥ 0.

    Parameters
    ----------
    solve : callable
        Target (N,) to coefficients; the target is ``φ∘(1 + b)``.
    outputs : callable
        Coefficients to decision values (N,).
    penalty : callable
        Coefficients to the regularisation term.
    labels : ndarray of shape (N,)
        −1 and +1 (φ).
    rate : float
        ρ, between 0 and 1.
    initial_margin : float
        b₀.
    stopping : Stopping

    Returns
    -------
    coefficients : ndarray
    history : list of float
        The objective after each solve.

    Notes
    -----
    Source: Łęski (2003, 2004); paper 000, equations (9)–(11) with one view. Each iteration costs
    one ``solve`` and one ``outputs``.
    """
    margins = np.full(len(labels), initial_margin)
    history: list[float] = []
    while True:
        coefficients = solve(labels * (1.0 + margins))
        values = outputs(coefficients)
        history.append(squared_error(values, labels, margins) + penalty(coefficients))
        if len(history) > 1 and stopping.reached(history[-2], history[-1]):
            return coefficients, history
        if len(history) >= stopping.max_iter:
            warnings.warn(
                f"The Ho-Kashyap iteration stopped at max_iter={stopping.max_iter} with the"
                f" objective still moving ({history[-1]:.6g}); raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
            return coefficients, history
        grow_margins(values, labels, margins, rate)
