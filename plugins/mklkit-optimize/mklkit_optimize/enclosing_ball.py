"""The smallest ball around the rows in a kernel's feature space, and its radius."""

from __future__ import annotations

import numpy as np
from sklearn.svm import OneClassSVM

from mklkit.learners.support_vectors import solve_by_libsvm
from mklkit.plugin import Array

MOST_STEPS = 1_000_000


def ball_center(gram: Array, tol: float = 1e-5) -> Array:
    """Return the α (N,) on the simplex of which Σ α_i φ(x_i) is the center, for K (N, N).

    max over α of Σ α_i K_ii − αᵀKα = R². This is the dual of a one-class machine on
    K_ij − (K_ii + K_jj)/2, as Σ α_i = 1; libsvm solves it to the part ``tol`` of the largest K_ii.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [4.0]])
    >>> ball_center(rows @ rows.T).round(6)
    array([0.5, 0. , 0.5])
    """
    diagonal = np.diagonal(gram)
    size, n_rows = float(np.abs(diagonal).max()) or 1.0, len(gram)
    centred = (gram - (diagonal[:, None] + diagonal) / 2) / size
    machine = OneClassSVM(nu=1 / n_rows, tol=tol, max_iter=MOST_STEPS, kernel="precomputed")
    alpha = np.maximum(solve_by_libsvm(machine, centred, None, None).coefficients, 0.0)
    return alpha / alpha.sum()


def squared_radius(gram: Array) -> float:
    """Return R² of the smallest ball around the rows of K (N, N)."""
    alpha = ball_center(gram)
    return float(alpha @ np.diagonal(gram) - alpha @ gram @ alpha)
