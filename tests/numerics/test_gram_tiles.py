"""Centred Gram matrices against the rows themselves, centred."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import KernelCenterer

from mklkit.numerics.gram_tiles import centered_gram


def test_a_centered_gram_matrix_is_scikit_learns(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(20, 4)) + 3
    gram = np.exp(rows @ rows.T / 20)
    np.testing.assert_allclose(centered_gram(gram), KernelCenterer().fit_transform(gram))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_center_is_the_weighted_mean_of_the_rows(rng: np.random.Generator, dtype: type) -> None:
    rows, weights = rng.normal(size=(20, 4)) + 3, rng.uniform(0.1, 5, 20)
    centered = rows - np.average(rows, axis=0, weights=weights)
    gram = (rows @ rows.T).astype(dtype)
    found = centered_gram(gram, row_weights=weights)
    assert found.dtype == dtype
    bound = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(found, centered @ centered.T, atol=bound)
