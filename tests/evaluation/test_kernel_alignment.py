"""Kernel alignment against the dense formula, tile by tile and without Gram matrices."""

from __future__ import annotations

import gc
import re
import tracemalloc

import numpy as np
import pytest
from helpers.builders import TRIO, ifsl_search, trio_grams
from oracles.blocks import in_the_middle
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from mklkit import MKLClassifier, RPEMEKLClassifier, alignment_matrix, kernel_alignment
from mklkit.errors import DataError
from mklkit.evaluation.alignment import self_similarity

FIVE = [*TRIO, "laplacian(gamma=0.2)", "rbf(gamma=5)"]
each_form = pytest.mark.parametrize("centered", [False, True])


def five_grams(rows):
    return [*trio_grams(rows), laplacian_kernel(rows, gamma=0.2), rbf_kernel(rows, gamma=5)]


@each_form
@pytest.mark.parametrize("n_rows", [2, 3, 50, 255, 256, 257, 1281])
def test_every_pair_whatever_the_tiles(rng, n_rows, centered):
    rows = rng.normal(size=(n_rows, 3))
    table = alignment_matrix(FIVE, rows, centered=centered)
    grams = five_grams(rows)
    compared = [in_the_middle(gram) for gram in grams] if centered else grams
    units = np.stack([gram.ravel() / np.linalg.norm(gram) for gram in compared])
    expected = units @ units.T
    np.testing.assert_allclose(table, expected, atol=1e-11)
    np.testing.assert_allclose(np.diag(table), 1)
    for i, j in [(0, 1), (2, 0), (3, 4)]:
        alignment = kernel_alignment(grams[i], grams[j], centered=centered)
        assert alignment == pytest.approx(expected[i][j], abs=1e-11)


def test_it_is_a_table_with_names(rng):
    table = alignment_matrix(["wide:rbf(sigma=9)", "linear", "linear"], rng.normal(size=(9, 2)))
    assert list(table.index) == list(table.columns) == ["wide", "linear", "linear #2"]


@each_form
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_sizes_do_not_matter(rng, scale, centered):
    first, second = five_grams(rng.normal(size=(9, 3)))[:2]
    value = kernel_alignment(first, second, centered)
    assert kernel_alignment(scale * first, second, centered) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (MKLClassifier(["rbf(gamma=1)", "linear"]), ["rbf(gamma=1)", "linear"]),
        (
            ifsl_search(["rbf", "linear"], ridges=(1,), lams=(1,), cv=2),
            ["rbf", "linear"],
        ),
        (RPEMEKLClassifier(subset=9, random_state=0), ["cosine", "rbf", "rbf_narrow"]),
    ],
    ids=["classifier", "search", "vote"],
)
def test_a_fitted_estimator_stands_for_its_kernels(two_classes, estimator, names):
    X, y = two_classes
    estimator.fit(X, y)
    table = alignment_matrix(estimator, X)
    assert table.shape == (len(names), len(names))
    assert list(table.index) == names
    if hasattr(estimator, "kernels_"):
        np.testing.assert_array_equal(table, alignment_matrix(estimator.kernels_, X))


@each_form
@pytest.mark.process
def test_five_kernels_take_less_than_one_gram_matrix(rng, centered):
    rows = rng.normal(size=(2000, 4))
    alignment_matrix(FIVE, rows[:99])  # what the first call loads is not what is measured
    gc.collect()
    tracemalloc.start()
    alignment_matrix(FIVE, rows, centered=centered)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2000**2


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (np.ones((2, 3)), np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.eye(2), np.eye(3), "same rows"),
        (np.ones(4), np.ones(4), "a square Gram matrix"),
        (np.full((2, 2), np.nan), np.eye(2), "NaN"),
        (np.eye(2), np.array([[np.inf, 0], [0, 1]]), "infinity"),
    ],
)
def test_what_is_no_pair_of_gram_matrices_is_refused(first, second, words):
    with pytest.raises(DataError, match=words):
        kernel_alignment(first, second)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ones((1, 2)), "at least two rows"),
        (np.ones(5), r"2D array"),
        (np.array([[1.0], [np.inf]]), "infinity"),
        ([["a"], ["b"]], "table of numbers: could not convert"),
        ([[1.0, 2.0], [3.0]], "table of numbers"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(rows, words):
    with pytest.raises(DataError, match=words):
        alignment_matrix(["linear", "rbf"], rows)


def test_a_constant_kernel_is_aligned_with_nothing_once_it_is_centered(rng):
    rows = rng.normal(size=(60, 3)) * 1e-9
    table = alignment_matrix(["polynomial(gamma=1e-9, coef0=0.1)", "rbf"], rows, centered=True)
    # What is zero is so exactly; the last digit of one depends on the processor.
    np.testing.assert_allclose(table, [[0, 0], [0, 1]], rtol=1e-14, atol=0)


def exactly_centered(gram):
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()


@pytest.mark.parametrize("offset", [0.0, 1e5, 5e9, 1e12])
def test_centered_alignment_keeps_its_digits_far_from_zero(rng, offset):
    X = rng.normal(size=(30, 3)) + offset
    rows = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    first, second = exactly_centered(rows @ rows.T), exactly_centered(np.exp(-squares / 2))
    norms = np.sqrt((first**2).sum() * (second**2).sum())
    table = alignment_matrix(["linear", "rbf(sigma=1)"], X, centered=True)
    assert table.iloc[0, 1] == pytest.approx(float((first * second).sum() / norms), rel=1e-9)


def test_rows_with_other_columns_are_refused_as_in_predicting():
    X, y = load_iris(return_X_y=True, as_frame=True)
    of_table = MKLClassifier(["linear@0", "rbf@1", "rbf"]).fit(X, y)
    reordered, renamed, missing = X[X.columns[::-1]], X.add_prefix("my "), X.iloc[:, 1:]
    of_array = MKLClassifier(["linear@0", "rbf@1", "rbf"]).fit(X.to_numpy(), y)
    wrong = [(of_table, rows) for rows in (reordered, renamed, missing)]
    wrong += [(of_array, X.to_numpy()[:, 1:]), (of_array, np.hstack([X, X]))]
    for model, rows in wrong:
        with pytest.raises(ValueError, match="feature") as told:
            model.predict(rows)
        for look in (alignment_matrix, self_similarity):
            with pytest.raises(ValueError, match=f"^{re.escape(str(told.value))}$"):
                look(model, rows)
