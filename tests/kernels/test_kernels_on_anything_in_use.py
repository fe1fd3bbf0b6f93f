"""Kernels on text as users meet them, and products of sparse features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mklkit import MKLClassifier
from mklkit.numerics.sparse_rows import sparse_products


@pytest.mark.parametrize("density", [0.01, 0.2, 0.9])
def test_products_of_sparse_features_are_those_of_dense_ones(density):
    rng = np.random.default_rng(4)
    left, right = (rng.random((n, 3000)) * (rng.random((n, 3000)) < density) for n in (7, 11))
    # Some columns that all rows have, so that both ways of multiplying are taken.
    left[:, :5] = right[:, :5] = 1
    np.testing.assert_allclose(
        sparse_products(csr_array(left), csr_array(right)), left @ right.T, rtol=1e-9
    )


@pytest.mark.parametrize("kind", [list, pd.Series, np.array])
def test_texts_without_a_column_are_refused(kind):
    texts, y = ["acgt", "ttga"] * 5, [0, 1] * 5
    with pytest.raises(ValueError, match="pass a DataFrame with one column"):
        MKLClassifier("spectrum").fit(kind(texts), y)
    model = MKLClassifier("spectrum").fit(pd.DataFrame({"text": texts}), y)
    with pytest.raises(ValueError, match="as a DataFrame"):
        model.predict(kind(texts))


def test_a_text_of_other_letters_is_decided_like_an_empty_one():
    texts, y = pd.DataFrame({"text": ["ACGT", "TTGA", "ACGG"] * 4}), [0, 1, 0] * 4
    model = MKLClassifier("spectrum").fit(texts, y)
    lower, empty, same = model.decision_function(pd.DataFrame({"text": ["acgt", "", "ACGT"]}))
    assert lower == empty != same
