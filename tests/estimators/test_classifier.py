"""MKLClassifier among scikit-learn's tools, and what holds of any fitted one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.errors import DataError
from mklkit.kernels import RBF

TRIO = ["linear", "rbf(sigma='mean')", "polynomial(degree=2)"]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_a_uniform_sum_of_kernels_is_an_svm_on_their_mean():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    kernels = ["linear", "rbf(gamma=0.05)"]
    model = MKLClassifier(kernels, learner="svm(C=1.0)").fit(X[:300], y[:300])
    mean = (linear_kernel(X, X[:300]) + rbf_kernel(X, X[:300], gamma=0.05)) / 2
    peer = SVC(kernel="precomputed").fit(mean[:300], y[:300])
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(mean), atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), peer.predict(mean))


def test_the_kernels_beside_a_combiner_are_the_trio_of_the_paper_at_one_size(iris):
    X, y = iris
    model = MKLClassifier(combiner="dimkl3").fit(X, y)
    assert model.kernel_names_ == ["cosine_linear", "rbf", "cosine_polynomial"]
    trio = ["cosine(linear)", TRIO[1], "cosine(polynomial(degree=2))"]
    peer = MKLClassifier(trio, combiner="dimkl3").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), peer.decision_function(X))


def test_a_kernel_bound_to_columns_sees_those_alone(iris):
    X, y = iris
    model = MKLClassifier(["a:rbf@0:2", ("b", "linear", [3, 2])], learner="svm(C=1.0)")
    bound = clone(model).fit(X, y)
    first, second = X[:, :2], X[:, [3, 2]]
    # Per pair of classes the bandwidth is the pair's own, so the peer is fitted per pair too.
    pair = (y == 0) | (y == 2)
    two = model.fit(X[pair], y[pair])
    gamma = RBF().fit(first[pair]).gamma
    gram = (rbf_kernel(first, first[pair], gamma=gamma) + linear_kernel(second, second[pair])) / 2
    peer = SVC(kernel="precomputed").fit(gram[pair], y[pair])
    np.testing.assert_allclose(two.decision_function(X), peer.decision_function(gram), atol=1e-9)
    assert bound.score(X, y) > 0.9


class TestFrames:
    @pytest.fixture
    def frame(self, iris):
        X, y = iris
        return pd.DataFrame(X, columns=["sepal_l", "sepal_w", "petal_l", "petal_w"]), y

    def test_globs_and_names_are_those_of_the_frame(self, frame, iris):
        X, y = frame
        by_name = MKLClassifier(["p:rbf@petal_*", "s:linear@sepal_w,sepal_l"]).fit(X, y)
        by_position = MKLClassifier(["p:rbf@2:4", ("s", "linear", [1, 0])]).fit(*iris)
        np.testing.assert_array_equal(by_name.feature_names_in_, X.columns)
        np.testing.assert_allclose(
            by_name.decision_function(X), by_position.decision_function(iris[0]), atol=1e-12
        )

    def test_an_unknown_column_names_the_kernel_and_the_nearest(self, frame):
        X, y = frame
        with pytest.raises(DataError, match=r"Kernel 'p': No column .* Did you mean 'petal_l'\?"):
            MKLClassifier("p:rbf@petal_ll").fit(X, y)

    def test_names_without_a_frame_are_refused(self, iris):
        with pytest.raises(DataError, match="no feature names: pass a DataFrame"):
            MKLClassifier("rbf@petal_*").fit(*iris)

    def test_weights_as_a_tidy_table(self, frame):
        X, y = frame
        labels = np.array(["setosa", "versicolor", "virginica"])[y]
        model = MKLClassifier(["linear", "near:rbf"], combiner="dimkl3").fit(X, labels)
        table = model.weights_frame()
        assert list(table.columns) == ["problem", "kernel", "weight"]
        assert len(table) == 6
        assert set(table["kernel"]) == {"linear", "near"}
        wide = table.pivot(index="problem", columns="kernel", values="weight")
        row = wide.loc["virginica vs setosa"]
        position = model.problems_.index(("setosa", "virginica"))
        np.testing.assert_array_equal(row[["linear", "near"]], model.weights_[position])
