"""New samples as a mapping of sources, of which one is absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mklkit import MKLClassifier, build_pipeline
from mklkit.errors import DataError

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
LAB = pd.DataFrame(RNG.normal(size=(60, 3)) + Y[:, None], columns=["a", "b", "c"])
GENES = RNG.normal(size=(60, 5)) + Y[:, None]
SOURCES = {"lab": LAB, "genes": GENES}


@pytest.mark.parametrize("kernels", [["lab:rbf", "genes:linear"], "auto"])
@pytest.mark.parametrize("missing", ["present", "impute"])
def test_an_absent_source_is_one_without_values(kernels: Any, missing: str) -> None:
    model = MKLClassifier(kernels, missing=missing).fit(SOURCES, Y)
    empty = {"lab": LAB, "genes": np.full_like(GENES, np.nan)}
    values = model.decision_function({"lab": LAB})
    np.testing.assert_array_equal(values, model.decision_function(empty))
    assert model.score({"lab": LAB}, Y) == (model.predict(empty) == Y).mean()


def test_an_absent_source_of_a_pipeline_is_one_without_values() -> None:
    model = build_pipeline(MKLClassifier(["lab:rbf@lab_*", "genes:linear@genes_*"]))
    model.fit(SOURCES, Y)
    empty = {"lab": LAB, "genes": np.full_like(GENES, np.nan)}
    np.testing.assert_array_equal(model.predict({"lab": LAB}), model.predict(empty))
    with pytest.raises(DataError, match="lab_b"):
        model.predict({"lab": LAB[["a", "c"]], "genes": GENES})


def test_a_sparse_source_may_be_beside_an_absent_one() -> None:
    sparse = csr_array(np.where(RNG.random((60, 20)) < 0.8, 0.0, 1.0))
    model = MKLClassifier(["lab:rbf", "words:linear"]).fit({"lab": LAB, "words": sparse}, Y)
    empty = LAB * np.nan
    np.testing.assert_array_equal(
        model.decision_function({"words": sparse}),
        model.decision_function({"lab": empty, "words": sparse}),
    )


def test_some_columns_of_a_source_and_all_sources_may_not_be_absent() -> None:
    model = MKLClassifier(["lab:rbf", "genes:linear"]).fit(SOURCES, Y)
    with pytest.raises(DataError, match="missing are 'lab_b'"):
        model.predict({"lab": LAB[["a", "c"]], "genes": GENES})
    with pytest.raises(DataError, match="unknown are"):
        model.predict({"other": LAB})
