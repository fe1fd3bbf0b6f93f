"""Problems with their Gram matrices by scikit-learn, and solvers that share no code with ours."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklkit import MKLClassifier

REAL = ("breast_cancer", "wine", "digits")


def random_problem(seed: int, n_rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 8 features, some noise, and overlapping classes −1 and +1."""
    rows, labels = make_classification(
        n_rows, 8, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=seed
    )
    return _standardized(rows), 2.0 * labels - 1.0


def real_problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return at most 200 rows of a data set of scikit-learn's, two of its classes."""
    if name == "breast_cancer":
        rows, labels = load_breast_cancer(return_X_y=True)
    elif name == "wine":
        rows, labels = load_wine(return_X_y=True)
        rows, labels = rows[labels != 2], labels[labels != 2]
    else:
        rows, labels = load_digits(return_X_y=True)
        rows, labels = rows[np.isin(labels, (3, 8))], labels[np.isin(labels, (3, 8))]
    rows, labels = rows[:200], labels[:200]
    return _standardized(rows), np.where(labels == labels.max(), 1.0, -1.0)


def _standardized(rows: np.ndarray) -> np.ndarray:
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def specs(n_features: int) -> list[str]:
    """Return six kernels; two of them see half of the features each."""
    half = n_features // 2
    gammas = [0.1 / n_features, 1 / n_features, 5 / n_features]
    return [
        "linear",
        *(f"rbf(gamma={gamma!r})" for gamma in gammas),
        f"rbf(gamma={1 / half!r})@0:{half}",
        f"rbf(gamma={1 / half!r})@{half}:{n_features}",
    ]


def grams_of(rows: np.ndarray) -> np.ndarray:
    """Return the Gram matrices of the same six, (6, N, N)."""
    n_features = rows.shape[1]
    half = n_features // 2
    return np.array(
        [
            rows @ rows.T,
            *(rbf_kernel(rows, gamma=share / n_features) for share in (0.1, 1, 5)),
            rbf_kernel(rows[:, :half], gamma=1 / half),
            rbf_kernel(rows[:, half:], gamma=1 / half),
        ]
    )


def weights_by(combiner: object, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the weights that the estimator learns with a combiner."""
    model = MKLClassifier(kernels=specs(rows.shape[1]), combiner=combiner, random_state=0)
    return model.fit(rows, labels).weights_[0]


def objective(grams: np.ndarray, labels: np.ndarray, weights: np.ndarray, C: float = 1.0) -> float:
    """Return J(σ) by a support vector machine of high precision."""
    gram = np.einsum("m,mij->ij", weights, grams)
    machine = SVC(C=C, kernel="precomputed", tol=1e-8).fit(gram, labels)
    signed = machine.dual_coef_[0]
    inner = gram[np.ix_(machine.support_, machine.support_)]
    return float(np.abs(signed).sum() - 0.5 * signed @ inner @ signed)


def least_objective(grams: np.ndarray, labels: np.ndarray, C: float = 1.0) -> float:
    """Return min J over the simplex, as one cone program (Lanckriet et al. 2004).

    max over α, t of 1ᵀα − t/2 with ‖L_mᵀ(α∘y)‖² ≤ t for each m, 0 ≤ α ≤ C, αᵀy = 0.
    """
    n_rows = len(labels)
    cost = np.append(-np.ones(n_rows), 0.5)
    blocks, right, cones = [np.append(labels, 0.0)[None]], [np.zeros(1)], [clarabel.ZeroConeT(1)]
    identity = np.hstack([np.eye(n_rows), np.zeros((n_rows, 1))])
    blocks += [-identity, identity]
    right += [np.zeros(n_rows), np.full(n_rows, C)]
    cones.append(clarabel.NonnegativeConeT(2 * n_rows))
    for gram in grams:
        values, vectors = np.linalg.eigh(gram)
        root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T * labels
        # ‖(2u, t − 1)‖ ≤ t + 1 says ‖u‖² ≤ t.
        top = np.zeros((1, n_rows + 1))
        top[0, -1] = -1.0
        blocks += [top, top, np.hstack([-2 * root, np.zeros((n_rows, 1))])]
        right += [np.ones(1), -np.ones(1), np.zeros(n_rows)]
        cones.append(clarabel.SecondOrderConeT(n_rows + 2))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((n_rows + 1, n_rows + 1)),
        cost,
        sparse.csc_matrix(np.vstack(blocks)),
        np.concatenate(right),
        cones,
        settings,
    )
    return -float(solver.solve().obj_val)
