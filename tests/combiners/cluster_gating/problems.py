"""Small gated problems that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.builders import views_of
from sklearn.base import BaseEstimator

from mklkit.combiners.cluster_gating.stages import (
    QuadraticForms,
    gated_blocks,
    quadratic_forms,
    smoothness_form,
)
from mklkit.combiners.templates.gating import composite_gram
from mklkit.numerics.graph_embedding import discriminant_graphs, embed_gram

FOUR = ["rbf(sigma=0.2)", "rbf(sigma=1.0)", "rbf(sigma=3.0)", "linear"]


def checkered(
    rng: np.random.Generator, n_rows: int = 60, n_classes: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three features whose classes no line tells apart."""
    rows = rng.normal(size=(n_rows, 3))
    score = rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=n_rows)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return rows, np.searchsorted(cuts, score)


def forms_of_checkered(seed: int, n_clusters: int = 3, smoothness: float = 0.0) -> QuadraticForms:
    """Return what stage two is first given: the forms about uniform weights."""
    rng = np.random.default_rng(seed)
    rows, y = checkered(rng, 50)
    views, memberships = views_of(FOUR, rows), rng.dirichlet(np.full(n_clusters, 0.3), size=50)
    uniform, graphs = np.full((n_clusters, 4), 0.25), discriminant_graphs(y)
    gram = composite_gram(views, memberships @ uniform, "sum")
    projection = embed_gram(gram, graphs, 1e-3, 1).projection
    forms = quadratic_forms(gated_blocks(views, memberships, projection), projection, graphs, 1e-3)
    prior = smoothness * smoothness_form(n_clusters, 4)
    return QuadraticForms(forms.upper, forms.lower + prior, forms.linear)


def random_forms(seed: int, n_clusters: int = 3, n_kernels: int = 4) -> QuadraticForms:
    """Return forms that come from no data."""
    rng = np.random.default_rng(seed)
    size = n_clusters * n_kernels
    first, two = rng.normal(size=(2, size, size))
    return QuadraticForms(first @ first.T, two @ two.T + 0.1 * np.eye(size), rng.uniform(size=size))


class Bands(BaseEstimator):
    """A clusterer with known memberships: bands of the first feature, some of them empty."""

    def __init__(self, cuts: Any = (0.0,), empty: int = 0) -> None:
        self.cuts = cuts
        self.empty = empty

    def fit(self, X: np.ndarray) -> Bands:
        """Learn nothing."""
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return ones and zeros, (n, number of bands)."""
        band = np.searchsorted(np.asarray(self.cuts), X[:, 0])
        return np.eye(len(self.cuts) + 1 + self.empty)[band]
