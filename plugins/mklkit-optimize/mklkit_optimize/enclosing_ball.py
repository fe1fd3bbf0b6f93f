"""The smallest ball around the rows in a kernel's feature space, and its radius."""

from __future__ import annotations

import numpy as np

from mklkit.learners import OneClassSVM
from mklkit.plugin import Array, GramSide, Target


def ball_center(gram: Array, tol: float = 1e-5) -> Array:
    """Return the α (N,) on the simplex for which Σ α_i φ(x_i) is the center, given K (N, N).

    max over α of Σ α_i K_ii − αᵀKα = R². This is the dual of a one-class machine on
    D_ij = K_ij − (K_ii + K_jj)/2, since Σ α_i = 1, which libsvm solves to ``tol`` times the
    largest |D_ij|, half of a squared distance.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [4.0]])
    >>> ball_center(rows @ rows.T).round(6)
    array([0.5, 0. , 0.5])
    """
    halves, n_rows = np.diagonal(gram) / 2, len(gram)
    distances = gram - halves[:, None] - halves
    distances /= float(np.abs(distances).max()) or 1.0
    machine = OneClassSVM(nu=1 / n_rows, tol=tol)
    alpha = np.maximum(machine.fit(GramSide(distances), Target.nothing(n_rows)).coefficients, 0.0)
    return alpha / alpha.sum()


def squared_radius(gram: Array) -> float:
    """Return R² of the smallest ball around the rows of K (N, N)."""
    alpha = ball_center(gram)
    return float(alpha @ np.diagonal(gram) - alpha @ gram @ alpha)
