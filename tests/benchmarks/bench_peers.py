"""Kernels on all rows by us, scikit-learn, MKLpy and himalaya: (X, y, kernels) to a predictor.

A kernel is the width and the columns of an rbf kernel, which all libraries get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

Kernels = Sequence[tuple[float, slice]]
Predictor = Callable[[np.ndarray], Any]


def grams(rows: np.ndarray, X: np.ndarray, kernels: Kernels) -> list[np.ndarray]:
    """Return the similarities of rows to the training rows by each kernel."""
    return [
        rbf_kernel(rows[:, columns], X[:, columns], gamma=1 / (2 * sigma**2))
        for sigma, columns in kernels
    ]


def ours(
    combiner: str, X: np.ndarray, y: np.ndarray, kernels: Kernels, learner: str | None = "svm"
) -> Predictor:
    """Weights by a combiner, and a learner."""
    from mklkit import MKLClassifier

    specs = [f"rbf(sigma={sigma})@{part.start}:{part.stop}" for sigma, part in kernels]
    model = MKLClassifier(specs, combiner=combiner, learner=learner, random_state=0)
    return model.fit(X, y).predict


def svc(X: np.ndarray, y: np.ndarray, kernels: Kernels) -> Predictor:
    """One support vector machine on all columns."""
    from sklearn.svm import SVC

    return SVC(C=10).fit(X, y).predict


def mklpy(algorithm: str, X: np.ndarray, y: np.ndarray, kernels: Kernels) -> Predictor:
    """An algorithm of MKLpy."""
    from MKLpy import algorithms

    model = getattr(algorithms, algorithm)().fit(grams(X, X, kernels), y)
    return lambda new: np.asarray(model.predict(grams(new, X, kernels)))


def himalaya(X: np.ndarray, y: np.ndarray, kernels: Kernels) -> Predictor:
    """Ridge regression on labels, five random draws of weights by 5-fold cross-validation."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV
    from sklearn.preprocessing import LabelBinarizer

    model = MultipleKernelRidgeCV(
        kernels="precomputed",
        solver="random_search",
        solver_params={"n_iter": 5, "alphas": np.logspace(-3, 3, 7), "progress_bar": False},
        random_state=0,
    )
    labels = LabelBinarizer(neg_label=-1).fit(y)
    model.fit(np.array(grams(X, X, kernels)), labels.transform(y).astype(X.dtype))

    def predict(new: np.ndarray) -> Any:
        scores = np.asarray(model.predict(np.array(grams(new, X, kernels))))
        return labels.inverse_transform(scores, threshold=0)

    return predict


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, Kernels], Predictor]] = {
    "svc": svc,
    "uniform": partial(ours, "uniform"),
    "uniform_10": partial(ours, "uniform", learner="svm(C=10)"),
    "centered_alignment": partial(ours, "centered-alignment"),
    "dimkl3": partial(ours, "dimkl3"),
    "easymkl": partial(ours, "easymkl"),
    "ifsl": partial(ours, "ifsl", learner=None),
    "mklpy_average": partial(mklpy, "AverageMKL"),
    "mklpy_easymkl": partial(mklpy, "EasyMKL"),
    "himalaya": himalaya,
}
