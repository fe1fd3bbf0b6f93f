"""Base quantities gathered from those of all pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import views_of
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from mklkit.kernels import RBF
from mklkit.protocols import Rows
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.cache import Cache
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.rows import AllPairs
from mklkit.views.tiles import weighted_gram

EVERY, FEW = BoundKernel("every", RBF()), BoundKernel("few", RBF(), np.arange(5))
KERNELS = ["rbf(gamma=0.02)", "linear", "laplacian"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gathered_kernels_are_those_of_the_rows(rng, dtype) -> None:
    X = rng.normal(size=(70, 40)).astype(dtype)
    training, test = np.arange(0, 70, 2), np.arange(1, 70, 2)
    store = AllPairs(Rows.of(X), Cache())
    plain = KernelRows.of_views(views_of(KERNELS, X[training]))
    pairs = [store.of(EVERY, training)] * 3
    known = KernelRows.of(plain.kernels, plain.rows, pairs)
    weights = np.array([0.5, 0.2, 0.3])
    exact = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(
        weighted_gram(known, weights), weighted_gram(plain, weights), rtol=exact, atol=exact
    )
    new = KernelRows.of(plain.kernels, [X[test]] * 3, [store.of(EVERY, test)] * 3)
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
    assert AllPairs(Rows.of(X), Cache()).of(FEW, every) is None
    some = AllPairs(Rows.of(X), Cache("1MB")).of(EVERY, every)
    out = np.empty((30, 30))
    assert some is not None
    assert some.gather("inner_product", some, out)
    np.testing.assert_allclose(out, X @ X.T, rtol=1e-12)
    other_rows = AllPairs(Rows.of(X + 1), some.cache).of(EVERY, every)
    assert other_rows is not None
    assert not some.gather("inner_product", other_rows, out)
    same_rows = AllPairs(Rows.of(X.copy()), some.cache).of(EVERY, every)
    assert same_rows is not None
    assert some.gather("inner_product", same_rows, out)
    some.cache.budget = 30 * 30 * 8
    assert not some.gather("inner_product", some, out)
