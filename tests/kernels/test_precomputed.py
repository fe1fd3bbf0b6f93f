"""Precomputed kernels: rows by id, so that cross-validation slices the matrix."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from helpers.builders import ids
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.svm import SVC

from mklkit import MKLClassifier, save_model
from mklkit.errors import DataError, ModelFileError, SpecError
from mklkit.kernels import Cosine, Precomputed


@pytest.fixture
def gram(rng):
    return rbf_kernel(rng.normal(size=(9, 3)))


def test_values_are_looked_up(gram):
    a, b = np.array([[3.0], [0.0]]), np.array([[8.0], [8.0], [1.0]])
    np.testing.assert_array_equal(
        Precomputed(gram)(a, b), [[gram[3, 8]] * 2 + [gram[3, 1]], [gram[0, 8]] * 2 + [gram[0, 1]]]
    )
    np.testing.assert_array_equal(Precomputed(gram).diagonal(a), gram[[3, 0], [3, 0]])


def test_cross_validation_is_scikit_learns():
    X, y = load_iris(return_X_y=True)
    gram = rbf_kernel(X, gamma=0.5)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    model = MKLClassifier(Precomputed(gram), learner="svm(C=1.0)")
    peer = SVC(kernel="precomputed")
    np.testing.assert_array_equal(
        cross_val_predict(model, ids(150), y, cv=folds), cross_val_predict(peer, gram, y, cv=folds)
    )
    np.testing.assert_allclose(
        cross_val_score(model, ids(150), y, cv=folds), cross_val_score(peer, gram, y, cv=folds)
    )


@pytest.mark.parametrize("wrapped", [False, True])
def test_other_kernels_do_not_learn_from_the_ids(two_classes, wrapped):
    X, y = two_classes
    gram = rbf_kernel(X, gamma=0.3)
    by_class = np.argsort(y, kind="stable")  # in this order the ids tell the class
    both = np.column_stack([np.arange(70), X])[by_class]
    kernel = Cosine(Precomputed(gram)) if wrapped else Precomputed(gram)
    model = MKLClassifier([("graph", kernel, [0]), "linear"]).fit(both, y[by_class])
    peer = MKLClassifier([("graph", kernel, [0]), ("linear", "linear", slice(1, 5))])
    np.testing.assert_array_equal(
        model.decision_function(both), peer.fit(both, y[by_class]).decision_function(both)
    )
    with pytest.raises(DataError, match="'linear'"):
        MKLClassifier([kernel, "linear"]).fit(ids(70), y)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5]], "whole numbers 0 to 8"),
        ([[-1.0]], "whole numbers 0 to 8"),
        ([[0.0, 1.0]], r"one column of row numbers, got text \(or 2 columns\)"),
    ],
)
def test_what_is_no_row_id_is_refused(gram, rows, message):
    with pytest.raises(DataError, match=message):
        Precomputed(gram)(np.array(rows), np.array([[0.0]]))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"square matrix, got shape \(2, 3\)"),
        (np.zeros(4), "square"),
        (np.zeros((0, 0)), "square"),
        (np.array([[np.inf]]), "finite"),
        (np.eye(2) * 1j, "must hold real numbers; got complex128"),
        (np.triu(np.ones((300, 300))), "symmetric"),
        (np.eye(2000) + 1e-3 * np.eye(2000, k=1700), "symmetric"),
    ],
)
def test_what_is_no_kernel_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Precomputed(matrix)


def test_whole_numbers_become_floats_and_single_precision_stays():
    assert Precomputed([[2, 1], [1, 2]]).matrix.dtype == np.float64
    assert Precomputed(np.eye(2, dtype=np.float32)).matrix.dtype == np.float32


def test_matrices_and_functions_stand_for_kernels(two_classes, tmp_path):
    X, y = two_classes
    train, new = np.arange(0, 70, 2), np.arange(1, 70, 2)
    narrow = partial(rbf_kernel, gamma=0.3)
    grams = [narrow(X, X), X @ X.T]
    usual = MKLClassifier(["rbf(gamma=0.3)", "linear"]).fit(X[train], y[train])
    expected = usual.decision_function(X[new])
    banks = [grams, np.array(grams), [csr_array(gram) for gram in grams]]
    for bank in [*banks, [narrow, ("sum", np.inner, None)]]:
        rows = X if bank[0] is narrow else ids(70)
        model = clone(MKLClassifier(bank)).fit(rows[train], y[train])
        np.testing.assert_allclose(model.decision_function(rows[new]), expected, atol=1e-6)
    assert model.kernel_names_ == ["partial", "sum"]
    with pytest.raises(ModelFileError, match=r"Precomputed\(K\)"):
        save_model(model, tmp_path / "model.mkl")
    apart = [
        Precomputed(gram[np.ix_(train, train)], new=gram[np.ix_(new, train)]) for gram in grams
    ]
    model = MKLClassifier(apart).fit(ids(70)[:35], y[train])
    np.testing.assert_allclose(model.decision_function(ids(70)[35:]), expected, atol=1e-6)
    np.testing.assert_array_equal(apart[1](ids(35), ids(70)[40:]), grams[1][train][:, new[5:]])
    with pytest.raises(DataError, match=r"Precomputed\(K\) of all samples"):
        apart[0].diagonal(ids(70))


@pytest.mark.parametrize(
    ("kernel", "error", "word"),
    [
        (np.ones((3, 70)), SpecError, r"new=K_new"),
        (np.triu(np.ones((70, 70))), SpecError, "symmetric"),
        (lambda a, b: np.ones(3), DataError, r"got \(3,\)"),
        ([1.0, 2.0], SpecError, "Expected a kernel"),
    ],
)
def test_what_can_not_stand_for_a_kernel_is_refused(two_classes, kernel, error, word):
    with pytest.raises(error, match=word):
        MKLClassifier([kernel]).fit(ids(70), two_classes[1])
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        Precomputed(np.eye(2), new=np.ones((2, 3)))
