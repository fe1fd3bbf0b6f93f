"""SVM₂: on concatenated features, and on the sum of the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from mklkit import MKLClassifier

KERNELS = ["linear", "rbf(gamma=0.3)", "polynomial(degree=2)"]


def two_classes(n_rows=60):
    rng = np.random.default_rng(4)
    y = np.where(np.arange(n_rows) % 3 == 0, 1.0, -1.0)
    rows = rng.normal(size=(n_rows, 3)) + 0.7 * y[:, None]
    return rows, y, rng.normal(size=(30, 3))


def summed_kernels(a, b):
    inner = a @ b.T
    distances = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    return inner + np.exp(-0.3 * distances) + (inner + 1) ** 2


@pytest.mark.parametrize("feature_map", [None, "implicit", "empirical"])
def test_it_is_a_machine_on_the_sum_of_the_kernels(feature_map):
    rows, y, new = two_classes()
    model = MKLClassifier(
        KERNELS, feature_map=feature_map, combiner="svm-concat", learner="svm(C=0.5, tol=1e-6)"
    ).fit(rows, y)
    machine = SVC(C=0.5, kernel="precomputed", tol=1e-6).fit(summed_kernels(rows, rows), y)
    expected = machine.decision_function(summed_kernels(new, rows))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-3)
    np.testing.assert_allclose(model.weights_, [[1 / 3] * 3])
