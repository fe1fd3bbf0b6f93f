"""Five kernels on all rows by us, MKLpy and himalaya: (X, y, new rows, widths) to predictions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

Widths = Sequence[float]


def ours(combiner: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """Weights by a combiner and a support vector machine."""
    from mklkit import MKLClassifier

    kernels = [f"rbf(sigma={sigma})" for sigma in sigmas]
    return MKLClassifier(kernels, combiner=combiner, learner="svm").fit(X, y).predict(new)


def mklpy(algorithm: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, sigmas: Widths) -> Any:
    """An algorithm of MKLpy."""
    from MKLpy import algorithms
    from sklearn.metrics.pairwise import rbf_kernel

    gammas = [1 / (2 * sigma**2) for sigma in sigmas]
    known, asked = ([rbf_kernel(rows, X, gamma=gamma) for gamma in gammas] for rows in (X, new))
    return np.asarray(getattr(algorithms, algorithm)().fit(known, y).predict(asked))


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


METHODS = {
    "uniform": partial(ours, "uniform"),
    "centered_alignment": partial(ours, "centered-alignment"),
    "mklpy_average": partial(mklpy, "AverageMKL"),
    "mklpy_easymkl": partial(mklpy, "EasyMKL"),
    "himalaya": himalaya,
}
