"""The dual quadratic program of SVM-2K."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from mklkit.plugin import solve_cone_program

NEGLIGIBLE = 1e-6
"""Coefficients below this share of their upper bound may be rounding errors of zero."""
FELT = 1e-5
"""Small coefficients that change a decision value by more are not rounding errors."""
WELL_CONDITIONED = 1e-8
"""Smallest over largest eigenvalue above which a Gram matrix enters the program unfactored."""


@attrs.frozen(eq=False)
class TwoMachines:
    """f_A = K_A a + a₀ and f_B = K_B b + b₀: coefficients of the samples (N,) and biases."""

    coefficients: tuple[NDArray[Any], NDArray[Any]]
    biases: tuple[float, float]


def solve_svm2k(
    grams: tuple[NDArray[Any], NDArray[Any]],
    y: NDArray[Any],
    C: float,
    agreement: float,
    epsilon: float,
) -> TwoMachines:
    """Return the two support vector machines that minimise SVM-2K's objective.

    ½‖w_A‖² + ½‖w_B‖² + C Σ (ξ_A + ξ_B) + D Σ η over margins y_i f_A(x_i) ≥ 1 − ξ_A,i,
    y_i f_B(x_i) ≥ 1 − ξ_B,i and agreement |f_A(x_i) − f_B(x_i)| ≤ η_i + ε; all slacks ≥ 0. With
    D = 0 the two machines are independent.

    Notes
    -----
    The dual over coefficients of the samples a = yα_A − β, b = yα_B + β, β = β⁺ − β⁻: minimise
    ½aᵀK_Aa + ½bᵀK_Bb − yᵀ(a + b) + ε Σ(β⁺ + β⁻) with 1ᵀa = 1ᵀb = 0, 0 ≤ α ≤ C,
    β⁺, β⁻ ≥ 0, β⁺ + β⁻ ≤ D. Biases are the multipliers of 1ᵀa = 0 and 1ᵀb = 0. Clarabel takes
    O(N³) per iteration. It fails on large matrices that are nearly singular, such as those of
    linear and polynomial kernels on raw features; for these aᵀK_Aa is written as ‖z‖² with
    additional variables z = F_Aᵀa, where K_A = F_AF_Aᵀ.
    """
    n_rows = len(y)
    n_agree = n_rows if agreement > 0 else 0
    squares = [_Square.of(gram) for gram in grams]
    matrix, bound = _constraints(y, C, agreement, n_agree, squares)
    further = sparse.eye(sum(square.rank for square in squares))
    free = sparse.csc_matrix((2 * n_agree,) * 2)
    upper = sparse.block_diag([*(square.upper for square in squares), free, further])
    linear = [-y, -y, np.full(2 * n_agree, epsilon), np.zeros(further.shape[0])]
    n_equations = 2 + further.shape[0]
    solution = solve_cone_program(
        upper,
        np.concatenate(linear),
        matrix,
        bound,
        [("zero", n_equations), ("nonnegative", len(bound) - n_equations)],
        name="svm2k's quadratic program",
        remedy="scale the features so that kernel values are moderate, or choose a smaller C",
    )
    multipliers = solution.multipliers
    limit = NEGLIGIBLE * (C + agreement)
    first, second = (
        _without_rounding(part, gram, limit)
        for part, gram in zip(np.split(solution.values[: 2 * n_rows], 2), grams, strict=True)
    )
    return TwoMachines((first, second), (float(multipliers[0]), float(multipliers[1])))


def _without_rounding(coefficients: NDArray[Any], gram: NDArray[Any], limit: float) -> NDArray[Any]:
    """Return the coefficients; those up to the limit become 0 if no decision value changes."""
    kept = np.where(np.abs(coefficients) > limit, coefficients, 0.0)
    felt = np.abs(gram @ (coefficients - kept)).max() > FELT
    return coefficients if felt else kept


@attrs.frozen(eq=False)
class _Square:
    """½aᵀKa by K's upper triangle, or by r more variables Fᵀa with the root Fᵀ (r, N)."""

    upper: Any
    root: NDArray[Any]

    @property
    def rank(self) -> int:
        """The number of additional variables r."""
        return len(self.root)

    @classmethod
    def of(cls, gram: NDArray[Any]) -> _Square:
        """Return K itself if it is well conditioned, else its factor."""
        n_rows = len(gram)
        values, vectors = eigh(gram)
        if values[0] > WELL_CONDITIONED * values[-1]:
            return cls(sparse.csc_matrix(np.triu(gram)), np.empty((0, n_rows)))
        nonzero = values > n_rows * np.finfo(np.float64).eps * values[-1]
        root = (vectors[:, nonzero] * np.sqrt(values[nonzero])).T
        return cls(sparse.csc_matrix((n_rows, n_rows)), root)


def _constraints(
    y: NDArray[Any], C: float, agreement: float, n_agree: int, squares: list[_Square]
) -> tuple[Any, NDArray[Any]]:
    """Return matrix and bound over (a, b, β⁺, β⁻, z_A, z_B): equations, then upper bounds.

    α_A = y(a + β) and α_B = y(b − β) lie between 0 and C.
    """
    n_rows = len(y)
    labels, sums = sparse.diags(y), np.ones((1, n_rows))
    link = labels @ sparse.eye(n_rows, n_agree)
    identity = sparse.eye(n_agree)
    first, second = squares
    blocks = [
        [sums, None, None, None, None, None],
        [None, sums, None, None, None, None],
        [first.root, None, None, None, -sparse.eye(first.rank), None],
        [None, second.root, None, None, None, -sparse.eye(second.rank)],
        [-labels, None, -link, link, None, None],
        [labels, None, link, -link, None, None],
        [None, -labels, link, -link, None, None],
        [None, labels, -link, link, None, None],
        [None, None, -identity, None, None, None],
        [None, None, None, -identity, None, None],
        [None, None, identity, identity, None, None],
    ]
    box = [np.zeros(n_rows), np.full(n_rows, C)]
    equal = np.zeros(2 + first.rank + second.rank)
    bound = [equal, *box, *box, np.zeros(2 * n_agree), np.full(n_agree, agreement)]
    return sparse.bmat(blocks).tocsc(), np.concatenate(bound)
