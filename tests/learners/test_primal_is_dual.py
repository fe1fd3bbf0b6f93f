"""MHKS on the full empirical map and KMHKS on the implicit map minimise the same thing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.learners import KMHKS, MHKS

TRIO = ["linear", "rbf(sigma='mean')", "polynomial(degree=2)"]


def pair_of_data(name):
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        return X[:250], y[:250], X[250:400]
    X, y = load_iris(return_X_y=True)
    return X[50::2], y[50::2], X[51::2]


@pytest.mark.parametrize("data", ["breast cancer", "iris"])
@pytest.mark.parametrize("kernels", [*TRIO, TRIO], ids=[*TRIO, "sum"])
@pytest.mark.parametrize("c", [2.0**-4, 0.5, 4.0, 16.0])
def test_the_same_decision_values(data, kernels, c):
    X, y, new = pair_of_data(data)
    values = []
    for learner in (MHKS, KMHKS):
        # As many iterations for both: they differ in their rule for stopping.
        model = MKLClassifier(
            kernels,
            combiner="uniform",
            feature_map="empirical" if learner is MHKS else "implicit",
            learner=learner(alpha=c, tol=1e-300, max_iter=25),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            values.append(model.fit(X, y).decision_function(np.vstack([X, new])))
    scale = np.abs(values[1]).max()
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6, atol=1e-6 * scale)
