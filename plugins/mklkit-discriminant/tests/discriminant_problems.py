"""Problems with their Gram matrices by scikit-learn, and solvers that share no code with ours."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

SPECS = ["linear", "rbf(gamma=0.05)", "rbf(gamma=0.5)", "rbf(gamma=0.4)@0:3"]


def random_problem(seed: int, n_rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 5 features and overlapping classes −1 and +1 of unequal size."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n_rows) % 5 < 2, 1.0, -1.0)
    rows = rng.normal(size=(n_rows, 5))
    rows[:, 0] += 0.7 * labels
    rows[:, 1] *= 1 + 0.5 * labels
    return rows, labels


def grams_of(rows: np.ndarray) -> np.ndarray:
    """Return the Gram matrices of SPECS, (4, N, N)."""
    return np.array(
        [
            rows @ rows.T,
            rbf_kernel(rows, gamma=0.05),
            rbf_kernel(rows, gamma=0.5),
            rbf_kernel(rows[:, :3], gamma=0.4),
        ]
    )


def traced(grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centred matrices at trace one, and the traces they had."""
    n_rows = grams.shape[1]
    centring = np.eye(n_rows) - 1 / n_rows
    centered = centring @ grams @ centring
    traces = np.trace(centered, axis1=1, axis2=2)
    return centered / traces[:, None, None], traces


def indicator(labels: np.ndarray) -> np.ndarray:
    """Return a, 1/n of its class at each row, the other class's negative."""
    return (labels > 0) / (labels > 0).sum() - (labels < 0) / (labels < 0).sum()


def value(theta: np.ndarray, centered: np.ndarray, labels: np.ndarray, alpha: float) -> float:
    """Return λ aᵀ(λI + Σ θ_mĜ_m)⁻¹a / aᵀa."""
    a = indicator(labels)
    matrix = alpha * np.eye(len(a)) + np.einsum("m,mij->ij", theta, centered)
    return float(alpha * a @ np.linalg.solve(matrix, a) / (a @ a))


def theta_by_slsqp(centered: np.ndarray, labels: np.ndarray, alpha: float) -> np.ndarray:
    """Return the minimiser over the simplex by a generic solver."""
    a = indicator(labels)
    a = a / np.linalg.norm(a)

    def both(theta):
        matrix = np.eye(len(a)) + np.einsum("m,mij->ij", theta, centered) / alpha
        solved = np.linalg.solve(matrix, a)
        return a @ solved, -np.einsum("i,mij,j->m", solved, centered, solved) / alpha

    return _on_simplex(both, len(centered))


def theta_by_kim(grams: np.ndarray, labels: np.ndarray, alpha: float) -> np.ndarray:
    """Return the maximiser of Fisher's ratio with the pooled within-class scatter.

    (1/λ)(aᵀKa − aᵀKJ(λI + JKJ)⁻¹JKa) for J that centres within the classes: equation of Kim,
    Magnani and Boyd (2006) for K = Σ θ_mK_m, in which no total scatter occurs.
    """
    a = indicator(labels)
    same = np.equal.outer(labels, labels)
    within = np.eye(len(a)) - same / same.sum(axis=1)

    def both(theta):
        gram = np.einsum("m,mij->ij", theta, grams)
        inner = alpha * np.eye(len(a)) + within @ gram @ within
        direction = a - within @ np.linalg.solve(inner, within @ gram @ a)
        scale = a @ gram @ a
        ratio = (a @ gram @ direction) / alpha
        # Fisher's ratio is max over b of (1/λ) (a − Jb)ᵀK(a − Jb) + bᵀb, whose slope this is.
        slope = np.einsum("i,mij,j->m", direction, grams, direction) / alpha
        return -np.log(ratio), -slope / ratio if scale > 0 else slope

    return _on_simplex(both, len(grams))


def _on_simplex(both, size: int) -> np.ndarray:
    optimum = minimize(
        both,
        np.full(size, 1 / size),
        jac=True,
        bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda t: t.sum() - 1, "jac": lambda t: np.ones(size)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert optimum.success, optimum.message
    return optimum.x


def machine_objective(gram: np.ndarray, labels: np.ndarray, C: float = 1.0) -> float:
    """Return the optimum of a support vector machine of high precision."""
    machine = SVC(C=C, kernel="precomputed", tol=1e-8).fit(gram, labels)
    signed = machine.dual_coef_[0]
    inner = gram[np.ix_(machine.support_, machine.support_)]
    return float(np.abs(signed).sum() - 0.5 * signed @ inner @ signed)
