"""SVM-2K's quadratic programme, in its dual."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mklkit import MKLKitError

__all__ = ["TwoMachines", "solve_svm2k"]

NEGLIGIBLE = 1e-6
"""A row's coefficient below this share of its largest possible one is rounding: no support."""


@attrs.frozen(eq=False)
class TwoMachines:
    """f_A = K_A a + a₀ and f_B = K_B b + b₀: row coefficients (N,) and biases."""

    coefficients: tuple[NDArray[Any], NDArray[Any]]
    biases: tuple[float, float]


def solve_svm2k(
    grams: tuple[NDArray[Any], NDArray[Any]],
    y: NDArray[Any],
    C: float,
    agreement: float,
    epsilon: float,
) -> TwoMachines:
    """Return the two machines that minimise SVM-2K's objective.

    ½‖w_A‖² + ½‖w_B‖² + C Σ (ξ_A + ξ_B) + D Σ η over margins y_i f_A(x_i) ≥ 1 − ξ_A,i,
    y_i f_B(x_i) ≥ 1 − ξ_B,i and agreement |f_A(x_i) − f_B(x_i)| ≤ η_i + ε; all slacks ≥ 0.

    Parameters
    ----------
    grams : pair of ndarray of shape (N, N)
        K_A and K_B, positive semi-definite.
    y : ndarray of shape (N,)
        Labels −1 and +1.
    C : float
    agreement : float
        D, 0 or above; 0 leaves two separate machines.
    epsilon : float
        ε, 0 or above.

    Raises
    ------
    MKLKitError
        If the solver ends without a solution.

    Notes
    -----
    The dual over row coefficients a = yα_A − β, b = yα_B + β, β = β⁺ − β⁻: minimise
    ½aᵀK_Aa + ½bᵀK_Bb − yᵀ(a + b) + ε Σ(β⁺ + β⁻) with 1ᵀa = 1ᵀb = 0, 0 ≤ α ≤ C,
    β⁺, β⁻ ≥ 0, β⁺ + β⁻ ≤ D. Biases are the multipliers of 1ᵀa = 0 and 1ᵀb = 0. Clarabel,
    O(N³) an iteration.
    """
    n_rows = len(y)
    n_agree = n_rows if agreement > 0 else 0
    matrix, bound = _constraints(y, C, agreement, n_agree)
    upper = sparse.block_diag([*map(np.triu, grams), sparse.csc_matrix((2 * n_agree,) * 2)])
    linear = np.concatenate([-y, -y, np.full(2 * n_agree, epsilon)])
    values, multipliers = _solve(upper.tocsc(), linear, matrix, bound)
    solutions = values[:n_rows], values[n_rows : 2 * n_rows]
    limit = NEGLIGIBLE * (C + agreement)
    first, second = (np.where(np.abs(part) > limit, part, 0.0) for part in solutions)
    return TwoMachines((first, second), (float(multipliers[0]), float(multipliers[1])))


def _constraints(
    y: NDArray[Any], C: float, agreement: float, n_agree: int
) -> tuple[Any, NDArray[Any]]:
    """Return matrix and bound over (a, b, β⁺, β⁻): two equations, then what is at most the bound.

    α_A = y(a + β) and α_B = y(b − β) lie between 0 and C.
    """
    n_rows = len(y)
    labels, sums = sparse.diags(y), np.ones((1, n_rows))
    link = labels @ sparse.eye(n_rows, n_agree)
    own = sparse.eye(n_agree)
    blocks = [
        [sums, None, None, None],
        [None, sums, None, None],
        [-labels, None, -link, link],
        [labels, None, link, -link],
        [None, -labels, link, -link],
        [None, labels, -link, link],
        [None, None, -own, None],
        [None, None, None, -own],
        [None, None, own, own],
    ]
    box = [np.zeros(n_rows), np.full(n_rows, C)]
    bound = [np.zeros(2), *box, *box, np.zeros(2 * n_agree), np.full(n_agree, agreement)]
    return sparse.bmat(blocks).tocsc(), np.concatenate(bound)


def _solve(
    upper: Any, linear: NDArray[Any], matrix: Any, bound: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(len(bound) - 2)]
    solution = clarabel.DefaultSolver(upper, linear, matrix, bound, cones, settings).solve()
    if str(solution.status) not in {"Solved", "AlmostSolved"}:
        raise MKLKitError(
            f"svm2k's quadratic programme ended as {solution.status}: scale the features so that"
            " kernel values are moderate, or choose a smaller C."
        )
    return np.array(solution.x), np.array(solution.z)
