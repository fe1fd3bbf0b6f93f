"""The linear program of cutting planes: functions of the weights known at some points."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from mklkit import MKLKitError
from mklkit.plugin import Array

EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def least_maximum(
    cuts: Array, floors: Array | None = None, on_simplex: bool = True
) -> tuple[Array, float]:
    """Return the w ≥ 0 with the least max_t (cuts w)_t, for cuts (T, M), and this maximum.

    With the constraint floors w ≥ 1 if there are floors (S, M). Without the simplex, the maximum is
    that of the w on the floors, which is then divided by its sum.

    Examples
    --------
    >>> least_maximum(np.array([[1.0, 3.0], [2.0, 0.0]]))
    (array([0.75, 0.25]), 1.5)
    >>> least_maximum(np.array([[1.0, 3.0]]), np.array([[1.0, 4.0]]), on_simplex=False)
    (array([0., 1.]), 0.75)
    """
    n_cuts, n_kernels = cuts.shape
    # HiGHS' tolerances are absolute: scaling the values to about one makes them relative.
    size = float(np.abs(cuts).max()) or 1.0
    rows, right = np.hstack([cuts / size, -np.ones((n_cuts, 1))]), np.zeros(n_cuts)
    if floors is not None:
        unit = float(floors.max()) or 1.0
        floors = np.hstack([floors / unit, np.zeros((len(floors), 1))])
        least = 1 / unit if on_simplex else 1.0
        rows, right = np.vstack([rows, -floors]), np.append(right, np.full(len(floors), -least))
        size = size if on_simplex else size / unit
    outcome = linprog(
        c=np.append(np.zeros(n_kernels), 1.0),
        A_ub=rows,
        b_ub=right,
        A_eq=np.append(np.ones(n_kernels), 0.0)[None] if on_simplex else None,
        b_eq=np.ones(1) if on_simplex else None,
        bounds=[(0, None)] * n_kernels + [(None, None)],
        method="highs",
        options=EXACT,
    )
    if outcome.x is None:
        raise MKLKitError(f"The linear program of the weights has no solution ({outcome.message}).")
    weights = np.maximum(outcome.x[:n_kernels], 0.0)
    return weights / weights.sum(), float(outcome.x[n_kernels]) * size
