"""DeFIMKL: from single kernels' decisions to the fused one, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_fusion import DeFIMKL, choquet_integral, learn_measure, shapley_values

from mklkit import IncompatibleError, MKLClassifier, MKLKitError

KERNELS = ["linear", "rbf(gamma=0.3)", "polynomial(degree=2)"]


def three_classes(n_rows=90):
    rng = np.random.default_rng(3)
    y = np.arange(n_rows) % 3
    rows = rng.normal(size=(n_rows, 4))
    rows[:, 0] += y
    rows[:, 1] += y == 1
    return rows, y, rng.normal(size=(40, 4)) + 0.5


@pytest.mark.parametrize(("feature_map", "learner"), [("implicit", "svm"), ("empirical", "mhks")])
def test_algorithms_2_and_3(feature_map, learner):
    rows, y, new = three_classes()
    rows, y = rows[y > 0], y[y > 0]
    parts = [
        MKLClassifier(k, feature_map=feature_map, learner=learner).fit(rows, y) for k in KERNELS
    ]
    training, asked = (
        np.column_stack([part.decision_function(x) for part in parts]) for x in (rows, new)
    )
    training, asked = (f / np.sqrt(1 + f**2) for f in (training, asked))
    measure = learn_measure(training, np.where(y == 2, 1.0, -1.0), 0.3, 1)
    model = MKLClassifier(
        KERNELS, feature_map=feature_map, combiner=DeFIMKL(alpha=0.3, p=1), learner=learner
    ).fit(rows, y)
    np.testing.assert_allclose(
        model.decision_function(new), choquet_integral(asked, measure), atol=1e-4
    )
    np.testing.assert_allclose(model.weights_, [shapley_values(measure)], atol=1e-4)
    np.testing.assert_allclose(model.weights_.sum(), 1)


def test_more_than_ten_kernels_are_refused():
    rows, y, _ = three_classes()
    eleven = [f"k{i}:rbf(gamma={i + 1})" for i in range(11)]
    MKLClassifier(eleven[:4], combiner="defimkl").fit(rows, y)
    with pytest.raises(IncompatibleError, match="at most 10 kernels; there are 11"):
        MKLClassifier(eleven, combiner="defimkl").fit(rows, y)


@pytest.mark.parametrize("spec", ["defimkl(alpha=-1)", "defimkl(p=3)", "defimkl(alpha=1e999)"])
def test_impossible_parameters_are_refused(spec):
    rows, y, _ = three_classes()
    with pytest.raises(MKLKitError, match=r"alpha|p"):
        MKLClassifier(KERNELS, combiner=spec).fit(rows, y)
