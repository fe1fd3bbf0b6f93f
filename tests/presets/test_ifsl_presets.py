"""The presets say what the papers say, and learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import (
    cosine_similarity,
    pairwise_distances,
    polynomial_kernel,
    rbf_kernel,
)

from mklkit import MKLClassifier, get_registry
from mklkit.combiners import IFSL
from mklkit.feature_maps import Empirical, Implicit
from mklkit.learners import KMHKS, MHKS

MHKS_OF_THE_PAPERS = MHKS(rho=0.99, tol=1e-3, b0=1e-6, solver="printed")
SYSTEMS = {
    "mhks": (None, Empirical(), MHKS_OF_THE_PAPERS, ["rbf"], 1),
    "kmhks": (None, Implicit(), KMHKS(rho=0.99, tol=1e-3, b0=1e-6), ["rbf"], 1),
    "multik-mhks": (
        "gradient",
        Empirical(),
        MHKS_OF_THE_PAPERS,
        ["linear", "rbf", "quadratic"],
        1,
    ),
    "multiv-kmhks": ("fixed-mean", Implicit(), KMHKS(), ["rbf", "cubic"], 1),
    "rpemekl": (
        "gradient",
        Empirical(subset=0.1, most=1000),
        MHKS_OF_THE_PAPERS,
        ["cosine", "rbf", "narrow"],
        3,
    ),
}


def grams_by_name(X):
    sigma = pairwise_distances(X).mean()
    return {
        "linear": X @ X.T,
        "quadratic": polynomial_kernel(X, degree=2, gamma=1, coef0=1),
        "cubic": polynomial_kernel(X, degree=3, gamma=1, coef0=1),
        "rbf": rbf_kernel(X, gamma=1 / (2 * sigma**2)),
        "narrow": rbf_kernel(X, gamma=100 / (2 * sigma**2)),
        "cosine": cosine_similarity(X),
    }


def classifier_of(preset):
    return MKLClassifier(
        list(preset.kernels),
        feature_map=preset.feature_map,
        combiner=preset.combiner,
        learner=preset.learner,
        random_state=0,
    )


@pytest.mark.parametrize("name", SYSTEMS)
def test_presets_are_the_papers_systems(two_classes, name):
    X, y = two_classes
    rule, feature_map, learner, kernels, members = SYSTEMS[name]
    preset = get_registry().lookup("preset", name).target
    model = classifier_of(preset).fit(X, y)
    assert preset.members == members
    assert model.feature_map_ == feature_map
    assert model.learner_ == learner
    if rule is None:
        assert model.combiner_.name == "uniform"
    else:
        assert isinstance(model.combiner_, IFSL)
        assert model.combiner_.rule == rule
        assert model.combiner_.weights is None
    fitted = [kernel.fit(X) for kernel in model.kernels_]
    expected = grams_by_name(X)
    for kernel, expected_name in zip(fitted, kernels, strict=True):
        np.testing.assert_allclose(kernel(X, X), expected[expected_name], atol=1e-9)
