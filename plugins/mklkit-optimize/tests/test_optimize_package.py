"""What holds for every combiner of the package."""

from __future__ import annotations

import numpy as np
import pytest
from optimize_problems import random_problem, specs
from sklearn.datasets import load_iris

from mklkit import MKLClassifier

NAMES = ("cka", "easymkl", "gamkl", "mklgl", "silp", "simplemkl")


@pytest.mark.parametrize("name", NAMES)
def test_one_kernel_has_all_the_weight(name):
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(kernels=["rbf"], combiner=name).fit(X[50:], y[50:])
    np.testing.assert_allclose(model.weights_, [[1.0]])


@pytest.mark.parametrize("name", ["cka", "easymkl"])
def test_views_with_features_give_the_same_weights(name):
    rows, labels = random_problem(1, n_rows=50)
    weights = [
        MKLClassifier(kernels=specs(8), feature_map=feature_map, combiner=name, learner="svm")
        .fit(rows, labels)
        .weights_[0]
        for feature_map in ("implicit", "empirical(tol=1e-12)")
    ]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)
