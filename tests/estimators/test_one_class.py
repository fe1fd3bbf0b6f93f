"""Outlier detection from several kernels, beside scikit-learn's on the same matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import OneClassSVM

from mklkit import IncompatibleError, MKLOneClass, SpecError, explain
from mklkit.errors import DataError

RANDOM = np.random.default_rng(2)
ROWS, NEW = RANDOM.normal(size=(50, 4)), RANDOM.normal(size=(12, 4)) * 2
KERNELS = ["first:rbf(gamma=0.5)@0:2", "second:linear@2:4"]


def summed(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    first = rbf_kernel(rows[:, :2], others[:, :2], gamma=0.5)
    return (first + linear_kernel(rows[:, 2:], others[:, 2:])) / 2


@pytest.mark.parametrize("feature_map", [None, "empirical"])
def test_values_are_those_of_scikit_learn_on_the_summed_kernel(feature_map: str | None) -> None:
    learner = "one-class-svm(nu=0.2, tol=1e-9)"
    model = MKLOneClass(KERNELS, feature_map=feature_map, learner=learner).fit(ROWS)
    reference = OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-9).fit(summed(ROWS, ROWS))
    across = summed(NEW, ROWS)
    close = {"rtol": 1e-5, "atol": 1e-6}
    expected = reference.decision_function(across)
    np.testing.assert_allclose(model.decision_function(NEW), expected, **close)
    np.testing.assert_allclose(model.score_samples(NEW), reference.score_samples(across), **close)
    np.testing.assert_allclose(model.offset_, reference.offset_[0], rtol=1e-5)
    np.testing.assert_array_equal(model.predict(NEW), reference.predict(across))


def test_what_needs_labels_is_refused_with_the_names_of_what_does_not() -> None:
    with pytest.raises(IncompatibleError, match=r"'dimkl3'.*samples without labels.*uniform"):
        MKLOneClass(combiner="dimkl3").fit(ROWS)
    with pytest.raises(IncompatibleError, match=r"'svm'.*samples without labels.*one-class-svm"):
        MKLOneClass(learner="svm").fit(ROWS)
    with pytest.raises(SpecError, match=r"'auto' is to be chosen from .* targets.*name the kernel"):
        MKLOneClass("auto").fit(ROWS)
    with pytest.raises(DataError, match="one weight per sample"):
        MKLOneClass().fit(ROWS, sample_weight=[1.0])
    with pytest.raises(DataError, match="only one sample"):
        MKLOneClass().fit(ROWS[:1])
    with pytest.raises(DataError, match="sample 1 is not finite"):
        MKLOneClass("linear").fit(ROWS).predict([[0.0] * 4, [1e308] * 4])
    frame = pd.DataFrame(ROWS)
    with pytest.raises(DataError, match="scored as outliers"):
        explain(MKLOneClass().fit(frame), frame, np.arange(50) % 2)
