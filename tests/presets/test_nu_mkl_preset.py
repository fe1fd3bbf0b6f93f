"""The preset of Mu and Zhou 2011: its kernels, its settings, and the command line."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, get_registry
from mklkit.kernels.bandwidth import squared_neighbor_distance
from mklkit.presets.papers import FOUR_WIDTHS


def test_kernels_are_gaussians_of_the_papers_four_widths():
    X, _ = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:100]
    distances, _ = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)
    # σ, the root of the mean squared distance (section 7.2, in the reading that is a width).
    scale = np.sqrt((distances[:, 1:] ** 2).mean())
    assert squared_neighbor_distance(X) == pytest.approx(scale**2)
    model = MKLClassifier(list(FOUR_WIDTHS), learner="kda").fit(X, np.arange(100) % 2)
    fitted = [projector.map.kernel for projector in model.decisions_[0].projectors]
    widths = np.array([0.01, 0.1, 1.0, 10.0]) * scale
    np.testing.assert_allclose([kernel.gamma for kernel in fitted], 1 / widths**2, rtol=1e-10)


def test_settings_are_the_papers():
    preset = get_registry().lookup("preset", "nu-mkl").target
    combiner = get_registry().create("combiner", preset.combiner)
    assert (combiner.name, combiner.n_clusters, combiner.alpha) == ("cluster-gating", 4, 1e-3)
    assert (combiner.composition, combiner.smoothness) == ("sum", 0.0)
    assert get_registry().create("learner", preset.learner).alpha == 1e-3
