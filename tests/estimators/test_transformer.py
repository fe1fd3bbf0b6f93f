"""The weighted sum of kernels as a step of a pipeline, beside the same sum by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mklkit import (
    IncompatibleError,
    MKLClassifier,
    MKLOneClass,
    MKLTransformer,
    get_registry,
    load_model,
    read_metadata,
    save_model,
)
from mklkit.errors import DataError, SpecError

X, Y = load_iris(return_X_y=True)
X = X - X.mean(axis=0)
KERNELS = ["sepals:rbf(gamma=0.5)@0:2", "petals:laplacian(gamma=0.2)@2:4"]


def summed(rows: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    first = rbf_kernel(rows[:, :2], others[:, :2], gamma=0.5)
    second = laplacian_kernel(rows[:, 2:], others[:, 2:], gamma=0.2)
    return weights[0] * first + weights[1] * second


def test_similarities_are_the_weighted_sum() -> None:
    model = MKLTransformer(KERNELS, combiner="alignment")
    gram = model.fit_transform(X, Y)
    weights = model.weights_[0]
    np.testing.assert_allclose(gram, summed(X, X, weights), rtol=1e-9)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(model.transform(X[:9]), summed(X[:9], X, weights), rtol=1e-9)
    assert model.get_feature_names_out()[:2].tolist() == ["similarity_0", "similarity_1"]


def test_features_have_the_sum_as_their_inner_products() -> None:
    model = MKLTransformer(KERNELS, combiner="alignment", feature_map="empirical")
    features = model.fit_transform(X, Y)
    expected = summed(X, X, model.weights_[0])
    np.testing.assert_allclose(features @ features.T, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), features, atol=1e-5)
    names = model.get_feature_names_out()
    assert len(set(names)) == features.shape[1]
    assert names[0] == "sepals_0"


def test_kernel_pca_and_clusters_of_several_sources_are_one_pipeline() -> None:
    by_rows = make_pipeline(MKLTransformer(KERNELS), KernelPCA(2, kernel="precomputed"))
    components = by_rows.fit_transform(X)
    weights = by_rows[0].weights_[0]
    reference = KernelPCA(2, kernel="precomputed").fit(summed(X, X, weights))
    np.testing.assert_allclose(components, reference.transform(summed(X, X, weights)), atol=1e-8)
    new = by_rows.transform(X[:5] + 0.1)
    expected = reference.transform(summed(X[:5] + 0.1, X, weights))
    np.testing.assert_allclose(new, expected, atol=1e-8)

    by_features = make_pipeline(MKLTransformer(KERNELS, feature_map="empirical"), PCA(2))
    np.testing.assert_allclose(np.abs(by_features.fit_transform(X)), np.abs(components), atol=1e-6)

    spectral = SpectralClustering(3, affinity="precomputed", random_state=0)
    clusters = make_pipeline(MKLTransformer(KERNELS), spectral).fit_predict(X)
    assert adjusted_rand_score(Y, clusters) > 0.5


def test_folds_of_a_machine_on_the_sum() -> None:
    model = make_pipeline(MKLTransformer(KERNELS, combiner="uniform"), SVC(kernel="precomputed"))
    folds = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    score = cross_val_score(model, X, Y, cv=folds)[0]
    machine = SVC(kernel="precomputed").fit(summed(X[::2], X[::2], np.full(2, 0.5)), Y[::2])
    assert score == machine.score(summed(X[1::2], X[::2], np.full(2, 0.5)), Y[1::2])
    grid = {"mkltransformer__kernels__sepals__gamma": [0.1, 1.0]}
    assert GridSearchCV(model, grid, cv=folds).fit(X, Y).best_score_ > 0.8


def test_rules_of_labels_have_the_weights_of_a_classifier() -> None:
    two = Y < 2
    for combiner in ("dimkl3", "centered-alignment"):
        model = MKLTransformer(KERNELS, combiner=combiner).fit(X[two], Y[two])
        reference = MKLClassifier(KERNELS, combiner=combiner).fit(X[two], Y[two])
        np.testing.assert_allclose(model.weights_, reference.weights_, rtol=1e-9)
        assert model.learner_ is None
    best = MKLTransformer(KERNELS, combiner="best-single", random_state=0).fit(X[two], Y[two])
    assert best.weights_.max() == 1
    assert best.learner_.name == "svm"


def test_several_classes_have_the_mean_of_each_against_the_rest() -> None:
    model = MKLTransformer(KERNELS, combiner="alignment").fit(X, Y)
    each = MKLClassifier(KERNELS, combiner="alignment", multiclass="ovr").fit(X, Y).weights_
    np.testing.assert_allclose(model.weights_[0], each.mean(axis=0), rtol=1e-9)


def test_rules_without_labels_ignore_them() -> None:
    alone = MKLTransformer(KERNELS).fit(X).weights_
    for labels in (Y, Y % 2, X[:, 0], [None] * 150):
        np.testing.assert_array_equal(MKLTransformer(KERNELS).fit(X, labels).weights_, alone)


def test_what_has_no_weights_to_give_is_refused() -> None:
    two = Y < 2
    with pytest.raises(IncompatibleError, match=r"'ifsl' does not learn.*uniform"):
        MKLTransformer(KERNELS, combiner="ifsl").fit(X[two], Y[two])
    with pytest.raises(IncompatibleError, match=r"'cluster-gating' does not learn.*uniform"):
        MKLTransformer(KERNELS, combiner="cluster-gating").fit(X, Y)
    with pytest.raises(IncompatibleError, match=r"'dimkl3'.*without labels.*uniform"):
        MKLTransformer(KERNELS, combiner="dimkl3").fit(X)
    with pytest.raises(IncompatibleError, match=r"'dimkl3'.*numbers.*uniform"):
        MKLTransformer(KERNELS, combiner="dimkl3").fit(X, X[:, 0])
    with pytest.raises(SpecError, match=r"'auto' is to be chosen from .* targets.*name the kernel"):
        MKLTransformer("auto").fit(X)
    with pytest.raises(DataError, match="sum of the kernels is not finite"):
        MKLTransformer("linear").fit(X).transform([[1e308] * 4])
    combiners = {name: get_registry().create("combiner", name) for name in ("ifsl", "dimkl3")}
    assert [value.gives_weights for value in combiners.values()] == [False, True]


def test_files_of_transformers_and_pipelines(tmp_path: Path) -> None:
    path = tmp_path / "model.mkl"
    for model in (
        MKLTransformer(KERNELS, feature_map="empirical(subset=20)", random_state=0),
        make_pipeline(MKLTransformer(KERNELS), KernelPCA(2, kernel="precomputed")),
    ):
        save_model(model.fit(X), path)
        np.testing.assert_array_equal(load_model(path).transform(X[:7]), model.transform(X[:7]))
    save_model(MKLTransformer(KERNELS).fit(X), path)
    traits = read_metadata(path)["model"]
    assert traits["combiner"] == "uniform"
    assert "learner" not in traits
    assert [row["problem"] for row in traits["weights"]] == ["all samples"] * 2


def test_text_and_numbers_are_sources_alike() -> None:
    words = np.array(["gattaca", "gattaga", "cccgggt", "cccgggg"])
    places = np.arange(40) % 4
    frame = pd.DataFrame({"size": X[:40, 0], "gene": words[places]})
    kernels = ["rbf(sigma=1)@size", "spectrum(k=2)@gene"]
    model = MKLTransformer(kernels)
    gram = model.fit_transform(frame)
    np.testing.assert_allclose(model.transform(frame[:5]), gram[:5], rtol=1e-9)
    alike = places[:, None] == places
    projected = MKLTransformer(kernels[1:], combiner="uniform").fit_transform(frame)
    assert projected[alike].min() > projected[~alike].max()
    flagged = MKLOneClass(kernels[1:], learner="one-class-svm(nu=0.1)").fit(frame)
    strange = pd.DataFrame({"size": [0.0], "gene": ["tttttt"]})
    assert flagged.predict(strange).tolist() == [-1]


@parametrize_with_checks(
    [MKLTransformer(), MKLTransformer("rbf", feature_map="empirical", combiner="uniform")]
)
def test_the_contract_of_scikit_learn_holds(estimator, check):
    check(estimator)
