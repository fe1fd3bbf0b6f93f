"""Kernels against sklearn.metrics.pairwise, and what they promise beyond single values."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)

from mklkit.kernels import RBF, Cosine, Laplacian, Linear, Polynomial, Tanh
from mklkit.registry.specs import to_spec
from mklkit.views.kernel_rows import KernelRows

PEERS = {
    "linear": (Linear(), linear_kernel),
    "polynomial": (Polynomial(), lambda a, b: polynomial_kernel(a, b, 2, gamma=1.0, coef0=1.0)),
    "cubic": (
        Polynomial(degree=3, coef0=0.5, gamma=0.25),
        lambda a, b: polynomial_kernel(a, b, 3, gamma=0.25, coef0=0.5),
    ),
    "rbf by gamma": (RBF(gamma=0.7), lambda a, b: rbf_kernel(a, b, gamma=0.7)),
    "rbf by sigma": (RBF(sigma=2.0), lambda a, b: rbf_kernel(a, b, gamma=1 / 8)),
    "laplacian": (Laplacian(gamma=0.3), lambda a, b: laplacian_kernel(a, b, gamma=0.3)),
    "laplacian 1/d": (Laplacian(), laplacian_kernel),
    "tanh": (Tanh(gamma=0.2, coef0=-0.1), lambda a, b: sigmoid_kernel(a, b, 0.2, -0.1)),
    "cosine": (Cosine(), cosine_similarity),
}


@pytest.fixture
def rows(rng):
    return rng.normal(size=(50, 5))


@pytest.fixture
def others(rng):
    return rng.normal(size=(20, 5)) + 0.5


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"), [(np.float64, 1e-11, 1e-14), (np.float32, 2e-4, 2e-5)]
)
@pytest.mark.parametrize("name", PEERS)
def test_values_are_scikit_learns_in_the_precision_of_the_rows(
    name, rows, others, dtype, rtol, atol
):
    kernel, peer = PEERS[name]
    a, b = others.astype(dtype), rows.astype(dtype)
    fitted = kernel.fit(b)
    values = fitted(a, b)
    assert values.dtype == fitted.diagonal(b).dtype == dtype
    np.testing.assert_allclose(values, peer(others, rows), rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", ["rbf by gamma", "laplacian"])
def test_columns_far_from_zero_keep_their_digits(name, rng):
    rows = np.round(rng.normal(size=(40, 3)), 6)
    far = rows + np.array([1e9, -1e9, 0.0])
    kernel, peer = PEERS[name]
    exact = peer(far - np.array([1e9, -1e9, 0.0]), far - np.array([1e9, -1e9, 0.0]))
    np.testing.assert_allclose(kernel.fit(far)(far, far), exact, rtol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(gamma=1e308), Laplacian(gamma=1e308), Tanh(gamma=1e308)])
def test_saturated_kernels_are_at_their_limit_without_a_warning(kernel, rows, others):
    with np.errstate(all="raise", under="ignore"):
        values = kernel.fit(rows)(others, rows)
    expected = np.sign(others @ rows.T) if isinstance(kernel, Tanh) else np.zeros(values.shape)
    np.testing.assert_array_equal(values, expected)


def test_a_row_is_exactly_like_itself(rng):
    rows = rng.normal(size=(30, 3)) * 1e4
    kernels = [RBF(gamma=5.0).fit(rows), RBF(gamma=0.1).fit(rows)]
    bank = KernelRows.of(kernels, [rows] * 2)
    for _, values in bank.similarities(bank):
        np.testing.assert_array_equal(np.diag(values), 1.0)


def test_cosine_of_another_kernel(rows, others):
    fitted = Cosine(Polynomial(degree=2)).fit(rows)
    plain = polynomial_kernel(others, rows, 2, gamma=1.0, coef0=1.0)
    lengths = [(1 + (r**2).sum(axis=1)) for r in (others, rows)]
    np.testing.assert_allclose(fitted(others, rows), plain / np.outer(*lengths), rtol=1e-12)


def test_cosine_of_a_zero_row_is_zero(rows):
    rows[3] = 0
    fitted = Cosine().fit(rows)
    gram = fitted(rows, rows)
    assert np.isfinite(gram).all()
    assert not gram[3].any()
    assert fitted.diagonal(rows)[3] == 0


def test_one_width_takes_the_place_of_the_other():
    assert RBF() == RBF(sigma="mean")
    assert to_spec(RBF()) == "rbf(sigma='mean')"
    assert RBF().with_params(gamma=2.0) == RBF(gamma=2.0)
    assert RBF(gamma=2.0).with_params(sigma="median") == RBF(sigma="median")
    assert RBF(gamma=2.0).with_params(gamma=None) == RBF()
    assert RBF(gamma=2.0).get_params() == {"sigma": None, "gamma": 2.0}
    with pytest.raises(ValueError, match="not both"):
        RBF().with_params(sigma=1.0, gamma=1.0)
