"""Convex cone programs, solved by Clarabel's interior-point method, an optional dependency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mklkit.errors import MKLKitError

Cone = tuple[Literal["zero", "nonnegative", "second_order", "psd_triangle"], int]
"""A cone's kind and size: its number of rows, or the order of a positive semi-definite matrix."""

CLASS_OF = {
    "zero": "ZeroConeT",
    "nonnegative": "NonnegativeConeT",
    "second_order": "SecondOrderConeT",
    "psd_triangle": "PSDTriangleConeT",
}


@attrs.frozen(eq=False)
class ConeSolution:
    """The optimal variables x (n,), and the multipliers z (m,) of the constraints."""

    values: NDArray[Any]
    multipliers: NDArray[Any]


def solve_cone_program(
    quadratic: Any,
    linear: NDArray[Any],
    matrix: Any,
    bound: NDArray[Any],
    cones: Sequence[Cone],
    *,
    name: str,
    remedy: str,
    gap: float = 1e-8,
) -> ConeSolution:
    """Return the x that minimises ½xᵀPx + qᵀx with b − Ax in a product of cones.

    It needs the package Clarabel, an optional dependency.

    Parameters
    ----------
    quadratic : array or sparse matrix of shape (n, n)
        The matrix P; only the upper triangle is read.
    linear : ndarray of shape (n,)
        The vector q.
    matrix : array or sparse matrix of shape (m, n)
        The matrix A.
    bound : ndarray of shape (m,)
        The vector b.
    cones : sequence of (str, int)
        The kind and size of each cone, in the order of the rows of A: ``"zero"``, ``"nonnegative"``
        or ``"second_order"`` with the number of its rows, or ``"psd_triangle"`` with the order of
        the positive semi-definite matrix.
    name, remedy : str
        The problem, and the advice if it is not solved, for the message.
    gap : float, default=1e-8
        The absolute and relative duality gap at which the iteration stops.

    Returns
    -------
    ConeSolution
        With ``values``, the optimal x (n,), and ``multipliers`` of the constraints (m,).

    Raises
    ------
    MKLKitError
        If Clarabel is not installed, or ends without a solution. A solution that it reports as
        almost solved counts as one.

    References
    ----------
    .. [1] P. J. Goulart and Y. Chen, "Clarabel: an interior-point solver for conic programs with
       quadratic objectives", arXiv:2405.12762 (2024).

    Examples
    --------
    The point of the line x₁ + x₂ = 1 that is nearest to the origin:

    >>> solution = solve_cone_program(
    ...     np.eye(2), np.zeros(2), np.ones((1, 2)), np.ones(1), [("zero", 1)],
    ...     name="the example", remedy="scale it",
    ... )
    >>> solution.values.round(6)
    array([0.5, 0.5])
    """
    try:
        import clarabel
    except ImportError:
        raise MKLKitError(
            f"{name} needs the solver Clarabel, which is not installed: pip install clarabel"
        ) from None
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = gap
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.triu(sparse.coo_array(quadratic))),
        linear,
        sparse.csc_matrix(matrix),
        bound,
        [getattr(clarabel, CLASS_OF[kind])(size) for kind, size in cones],
        settings,
    )
    solution = solver.solve()
    if str(solution.status) not in {"Solved", "AlmostSolved"}:
        raise MKLKitError(f"{name} was not solved ({solution.status}): {remedy}.")
    return ConeSolution(np.array(solution.x), np.array(solution.z))
