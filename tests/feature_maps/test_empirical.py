"""The empirical kernel map: its identities, and the Nyström formula for random subsets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel

from mklkit.feature_maps import Empirical
from mklkit.kernels import RBF, Linear, Polynomial, Tanh

KERNELS = {
    "rbf": RBF(gamma=0.2),
    "linear": Linear(),
    "polynomial": Polynomial(degree=2),
}


@pytest.fixture
def rows(rng):
    return rng.normal(size=(60, 4))


def fitted(feature_map, kernel, rows, seed=0):
    return feature_map.fit(kernel.fit(rows), rows, np.random.RandomState(seed))


@pytest.mark.parametrize("name", KERNELS)
def test_products_of_columns_are_eigenvalues_and_those_of_rows_similarities(name, rows, rng):
    kernel, new = KERNELS[name].fit(rows), rng.normal(size=(15, 4))
    expected = np.linalg.eigvalsh(kernel(rows, rows))[::-1]
    feature_map = fitted(Empirical(), KERNELS[name], rows)
    width = len(feature_map.eigenvalues)
    features = feature_map.transform(rows)
    largest = expected[0]
    np.testing.assert_allclose(
        features.T @ features, np.diag(expected[:width]), atol=1e-9 * largest
    )
    np.testing.assert_allclose(feature_map.eigenvalues, expected[:width], atol=1e-11 * largest)
    assert np.abs(expected[width:]).max(initial=0) <= 1e-11 * largest
    values = kernel(new, rows)
    projected = feature_map.transform(new) @ features.T
    np.testing.assert_allclose(projected, values, atol=1e-7 * np.abs(values).max())


def test_an_indefinite_kernel_keeps_its_positive_part(rows):
    gram = sigmoid_kernel(rows, gamma=1.0, coef0=-0.5)
    eigenvalues, vectors = np.linalg.eigh(gram)
    assert eigenvalues.min() < -1e-3  # or the test says nothing
    positive = (vectors * np.maximum(eigenvalues, 0)) @ vectors.T
    features = fitted(Empirical(), Tanh(gamma=1.0, coef0=-0.5), rows).training_features()
    np.testing.assert_allclose(features @ features.T, positive, atol=1e-9)


@pytest.mark.parametrize(
    ("subset", "count"),
    [
        (None, 60),
        (1, 1),
        (1.0, 60),
        (np.int64(60), 60),
        (1000, 60),
        (0.001, 1),
        (np.float32(0.5), 30),
    ],
)
def test_how_many_landmarks_a_subset_means(rows, subset, count):
    feature_map = fitted(Empirical(subset=subset), Linear(), rows)
    assert len(feature_map.landmarks) == count
    assert feature_map.full == (count == 60)


@pytest.mark.parametrize("rank", [1, 3, 59, 200])
def test_a_rank_keeps_the_largest_eigenvalues(rows, rank):
    gram = rbf_kernel(rows, gamma=0.2)
    eigenvalues, vectors = np.linalg.eigh(gram)
    top = slice(max(0, 60 - rank), None)
    best = (vectors[:, top] * eigenvalues[top]) @ vectors[:, top].T
    features = fitted(Empirical(rank=rank), RBF(gamma=0.2), rows).transform(rows)
    assert features.shape[1] <= rank
    np.testing.assert_allclose(features @ features.T, best, atol=1e-9)


@pytest.mark.parametrize("subset", [None, 3])
def test_a_gram_matrix_of_zeros_is_one_feature_of_zeros(subset):
    rows = np.zeros((5, 2))
    feature_map = fitted(Empirical(subset=subset), Linear(), rows)
    np.testing.assert_array_equal(feature_map.transform(rows), np.zeros((5, 1)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"subset": 0}, "subset must be a count .* or a fraction above 0 and up to 1.0, got 0"),
        ({"subset": 1.5}, "subset"),
        ({"subset": "half"}, "subset"),
        ({"subset": True}, "subset"),
        ({"subset": np.nan}, "subset"),
        ({"rank": 2.5}, "rank"),
        ({"tol": 1.0}, "tol"),
        ({"landmarks": "kmeans"}, "without subset every sample is a landmark.*subset=256"),
        *(({"subset": 5, "landmarks": value}, "landmarks") for value in ("kmean", "", None, ["x"])),
    ],
)
def test_values_out_of_range_are_refused_by_name(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Empirical(**parameters)
