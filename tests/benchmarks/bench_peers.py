"""Five kernels on all rows by us, MKLpy and himalaya: (X, y, new rows, widths) to predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Widths = Sequence[float]


def _ours(combiner: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    from mklkit import MKLClassifier

    kernels = [f"rbf(sigma={sigma})" for sigma in sigmas]
    return MKLClassifier(kernels, combiner=combiner, learner="svm").fit(X, y).predict(new)


def uniform(X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """Even weights and a support vector machine, by us."""
    return _ours("uniform", X, y, new, sigmas)


def centered_alignment(X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """Weights by centred alignment and a support vector machine, by us."""
    return _ours("centered-alignment", X, y, new, sigmas)


def _grams(X: np.ndarray, new: np.ndarray, sigmas: Widths) -> tuple[list[Any], list[Any]]:
    from sklearn.metrics.pairwise import rbf_kernel

    gammas = [1 / (2 * sigma**2) for sigma in sigmas]
    both = [[rbf_kernel(rows, X, gamma=gamma) for gamma in gammas] for rows in (X, new)]
    return both[0], both[1]


def mklpy_average(X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """Even weights and a support vector machine, by MKLpy."""
    from MKLpy.algorithms import AverageMKL

    own, others = _grams(X, new, sigmas)
    return np.asarray(AverageMKL().fit(own, y).predict(others))


def mklpy_easymkl(X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """EasyMKL, by MKLpy."""
    from MKLpy.algorithms import EasyMKL

    own, others = _grams(X, new, sigmas)
    return np.asarray(EasyMKL().fit(own, y).predict(others))


def himalaya(X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """Ridge regression on labels, five random draws of weights by 5-fold cross-validation."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    model = MultipleKernelRidgeCV(
        kernels=["rbf"] * len(sigmas),
        kernels_params=[{"gamma": 1 / (2 * sigma**2)} for sigma in sigmas],
        solver="random_search",
        solver_params={"n_iter": 5, "alphas": np.logspace(-3, 3, 7), "progress_bar": False},
        random_state=0,
    )
    return (np.asarray(model.fit(X, 2.0 * y - 1).predict(new)).ravel() > 0).astype(int)
