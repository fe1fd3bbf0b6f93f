"""Base quantities gathered from those of all pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from builders import views_of
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from mklkit.views.kernel_rows import KernelRows
from mklkit.views.rows import PairStore
from mklkit.views.tiles import weighted_gram

KERNELS = ["rbf(gamma=0.02)", "linear", "laplacian"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gathered_kernels_are_those_of_the_rows(rng, dtype) -> None:
    X = rng.normal(size=(70, 40)).astype(dtype)
    training, test = np.arange(0, 70, 2), np.arange(1, 70, 2)
    store = PairStore(X)
    plain = KernelRows.of_views(views_of(KERNELS, X[training]))
    pairs = [store.of(None, training)] * 3
    known = KernelRows.of(plain.kernels, plain.rows, pairs)
    weights = np.array([0.5, 0.2, 0.3])
    exact = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(
        weighted_gram(known, weights), weighted_gram(plain, weights), rtol=exact, atol=exact
    )
    new = KernelRows.of(plain.kernels, [X[test]] * 3, [store.of(None, test)] * 3)
    a, b = X[test].astype(float), X[training].astype(float)
    expected = (
        np.exp(-0.02 * euclidean_distances(a, b, squared=True)),
        a @ b.T,
        np.exp(-manhattan_distances(a, b) / 40),
    )
    for index, values in new.similarities(known):
        np.testing.assert_allclose(values, expected[index], rtol=10 * exact, atol=100 * exact)


def test_what_does_not_pay_or_fit_is_not_kept(rng) -> None:
    X = rng.normal(size=(30, 40))
    every = np.arange(30)
    assert PairStore(X).of(np.arange(5), every) is None
    some = PairStore(X, max_memory=30 * 30 * 8).of(None, every)
    out = np.empty((30, 30))
    assert some is not None
    assert some.gather("inner_product", some, out)
    assert not some.gather("squared_distance", some, out)
    second_store = PairStore(X.copy()).of(None, every)
    assert second_store is not None
    assert not some.gather("inner_product", second_store, out)
