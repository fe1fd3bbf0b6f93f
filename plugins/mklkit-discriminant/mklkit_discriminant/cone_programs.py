"""MKDA's convex problem as two cone programs, solved by Clarabel's interior-point method."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mklkit.plugin import Array, solve_cone_program
from mklkit_discriminant.centered_kernels import DiscriminantProblem

SETTINGS: dict[str, Any] = {
    "name": "mkda's cone program",
    "remedy": "use a larger alpha",
    "gap": 1e-10,
}


def theta_by_qcqp(problem: DiscriminantProblem) -> Array:
    """Return θ (M,) as the multipliers of the quadratically constrained form.

    Notes
    -----
    aᵀ(I + G)⁻¹a = max over b of 2bᵀa − bᵀ(I + G)b. With G = Σ θ_mF_mF_mᵀ the minimum over the
    simplex and the maximum can be exchanged, and minimising over θ leaves the largest form:

        max over b, t of 2bᵀa − bᵀb − t,  ‖F_mᵀb‖² ≤ t for every m.

    Each constraint is the cone ‖(2F_mᵀb, t − 1)‖ ≤ t + 1. Stationarity in t makes the first two
    components of the cones' multipliers sum to one: these sums are θ.
    (Ye et al. 2007, with b twice their β.)
    """
    size = problem.size
    blocks, right = [], []
    cones: list[Any] = []
    on_bound = np.zeros((2, size + 1))
    on_bound[:, -1] = -1.0
    for factor in problem.factors:
        rank = factor.shape[1]
        blocks += [on_bound, np.hstack([-2 * factor.T, np.zeros((rank, 1))])]
        right += [np.array([1.0, -1.0]), np.zeros(rank)]
        cones.append(("second_order", rank + 2))
    solution = solve_cone_program(
        sparse.diags_array(np.append(np.full(size, 2.0), 0.0)),
        np.append(-2 * problem.target, 1.0),
        np.vstack(blocks),
        np.concatenate(right),
        cones,
        **SETTINGS,
    )
    multipliers = solution.multipliers
    starts = np.cumsum([0, *(factor.shape[1] + 2 for factor in problem.factors[:-1])])
    return multipliers[starts] + multipliers[starts + 1]


def theta_by_sdp(problem: DiscriminantProblem) -> Array:
    """Return θ (M,) as variables of the semidefinite form.

    Notes
    -----
    By the Schur complement, aᵀ(I + G)⁻¹a ≤ s if and only if the matrix below is positive
    semi-definite:

        min over θ ≥ 0, Σθ = 1, s of s,  [[I + Σ θ_mF_mF_mᵀ, a], [aᵀ, s]] ⪰ 0.

    (Kim et al. 2006, with the total in place of the within-class scatter; Ye et al. 2007.)
    The solver's matrix has (p + 1)(p + 2)/2 dense rows: O(p⁴) memory, O(p⁶) time.
    """
    n_kernels = len(problem.factors)
    size = problem.size
    first, last = np.tril_indices(size + 1)
    # Off-diagonal entries count twice in an inner product of matrices, hence the factor √2.
    roots = np.where(first == last, 1.0, np.sqrt(2.0))

    def triangle(matrix: Array, border: Array, corner: float) -> Array:
        bordered = np.block([[matrix, border[:, None]], [border[None], np.array([[corner]])]])
        return bordered[first, last] * roots

    nothing = np.zeros(size)
    columns = [-triangle(factor @ factor.T, nothing, 0.0) for factor in problem.factors]
    columns.append(-triangle(np.zeros((size, size)), nothing, 1.0))
    simplex = np.zeros((1 + n_kernels, n_kernels + 1))
    simplex[0, :-1] = 1.0
    simplex[1:, :-1] = -np.eye(n_kernels)
    solution = solve_cone_program(
        np.zeros((n_kernels + 1, n_kernels + 1)),
        np.append(np.zeros(n_kernels), 1.0),
        np.vstack([simplex, np.column_stack(columns)]),
        np.concatenate([[1.0], np.zeros(n_kernels), triangle(np.eye(size), problem.target, 0.0)]),
        [("zero", 1), ("nonnegative", n_kernels), ("psd_triangle", size + 1)],
        **SETTINGS,
    )
    return solution.values[:-1]
