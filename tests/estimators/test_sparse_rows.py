"""Sparse matrices raise a DataError that says what to do, wherever rows are taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mklkit
from mklkit import (
    DataError,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    MKLVotingClassifier,
)
from mklkit.datasets.npz import read_npz

DRAW = np.random.default_rng(1)
X = DRAW.normal(size=(30, 3)) * (DRAW.random((30, 3)) > 0.5)
Y = np.repeat([0, 1], 15)
SMALL = {"feature_map": "empirical(subset=10)", "learner": "kda"}

CALLS: dict[str, Callable[[Any], Any]] = {
    "classifier": lambda rows: MKLClassifier().fit(rows, Y),
    "proposed": lambda rows: MKLClassifier("auto").fit(rows, Y),
    "text": lambda rows: MKLClassifier(["spectrum@0"]).fit(rows, Y),
    "regressor": lambda rows: MKLRegressor().fit(rows, X[:, 0]),
    "one class": lambda rows: MKLOneClass().fit(rows),
    "transformer": lambda rows: mklkit.MKLTransformer().fit(rows, Y),
    "votes": lambda rows: MKLVotingClassifier().fit(rows, Y),
    "search": lambda rows: MKLSearchCV(MKLClassifier()).fit(rows, Y),
    "search of numbers": lambda rows: MKLSearchCV(MKLRegressor()).fit(rows, X[:, 0]),
    "parts": lambda rows: MKLClassifier(**SMALL).partial_fit(rows, Y, classes=[0, 1]),
    "predict": lambda rows: MKLClassifier().fit(X, Y).predict(rows),
    "predict numbers": lambda rows: MKLRegressor().fit(X, X[:, 0]).predict(rows),
    "outliers": lambda rows: MKLOneClass().fit(X).predict(rows),
    "transform": lambda rows: mklkit.MKLTransformer().fit(X, Y).transform(rows),
    "score": lambda rows: MKLClassifier().fit(X, Y).score(rows, Y),
    "compare": lambda rows: mklkit.compare(rows, Y),
    "explain": lambda rows: mklkit.explain(MKLClassifier().fit(X, Y), rows, Y),
    "cross-validation": lambda rows: mklkit.cross_validate(MKLClassifier(), rows, Y),
    "kernels": lambda rows: mklkit.propose_kernels(rows, Y),
    "alignment": lambda rows: mklkit.alignment_matrix(["linear"], rows),
    "encoder": lambda rows: mklkit.TableEncoder().fit(rows),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.coo_array, sp.csc_array])
def test_sparse_rows(call: str, kind: Any) -> None:
    with pytest.raises(DataError, match=r"sparse matrix.*toarray.*TruncatedSVD"):
        CALLS[call](kind(X))


@pytest.mark.parametrize("kernels", [None, "linear", "rbf", ["cosine@1,2", "rbf@0"]])
def test_a_frame_of_sparse_columns(kernels: Any) -> None:
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X)).rename(columns=str)
    frame["0"] = frame["0"].sparse.to_dense()
    dense = pd.DataFrame(X, columns=["0", "1", "2"])
    expected = MKLClassifier(kernels).fit(dense, Y)
    model = MKLClassifier(kernels).fit(frame, Y)
    assert list(model.feature_names_in_) == ["0", "1", "2"]
    for new in (frame, dense, frame[:5]):
        # Sums of products in another order.
        np.testing.assert_allclose(
            model.decision_function(new),
            expected.decision_function(dense[: len(new)]),
            rtol=1e-7,
            atol=1e-9,
        )


def test_sparse_targets_and_weights() -> None:
    column = sp.csr_matrix(X[:, :1])
    for fit in (
        lambda: MKLClassifier().fit(X, column),
        lambda: MKLRegressor().fit(X, column),
        lambda: MKLClassifier().fit(X, Y, sample_weight=column),
        lambda: mklkit.compare(X, column),
    ):
        with pytest.raises(DataError, match=r"sparse matrix.*toarray"):
            fit()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_an_archive_of_scipy(form: str, kind: Any, tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "counts.npz", kind(X).asformat(form))
    frame = read_npz(tmp_path / "counts.npz").frame
    assert list(frame) == ["x0", "x1", "x2"]
    rows = sp.load_npz(tmp_path / "counts.npz").toarray()
    np.testing.assert_array_equal(frame.to_numpy(), rows)
    np.savez(tmp_path / "rows.npz", X=rows, y=Y)
    frame = read_npz(tmp_path / "rows.npz").frame
    np.testing.assert_array_equal(frame.to_numpy()[:, :3], X)
