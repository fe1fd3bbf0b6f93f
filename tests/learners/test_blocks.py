"""Learners and rules on blocks of features against the same on all features at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from helpers.builders import views_of
from sklearn.base import clone

from mklkit import IncompatibleError, MKLClassifier, RPEMEKLClassifier
from mklkit.combiners.dimkl import bhattacharyya_of_moments, rkhs_bhattacharyya
from mklkit.learners import KDA
from mklkit.numerics.graph_embedding import discriminant_graphs
from mklkit.plugin import Target

KERNELS = ["linear", "rbf(sigma=2.0)"]


def three_classes(rng, n_rows=2300, offset=0.0):
    codes = rng.integers(0, 3, n_rows)
    return rng.normal(size=(n_rows, 3)) + np.eye(3)[codes] + offset, codes.astype(np.float64)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-7), (np.float32, 2e-2)])
def test_kda_from_moments_is_kda_on_features(rng, n_classes, dtype, rtol):
    """Graphs that a user gives are applied to all features in memory."""
    rows, codes = three_classes(rng)
    y = (codes if n_classes == 3 else np.where(codes > 0, 1.0, -1.0)).astype(dtype)
    side = views_of(KERNELS, rows.astype(dtype), "empirical(subset=9)").weighted(
        np.array([0.4, 0.6])
    )
    features = side.features()
    fitted = KDA(alpha=0.1).fit(side, Target.two_classes(y))
    expected = (
        KDA(alpha=0.1, graphs=discriminant_graphs).fit(side, Target.two_classes(y)).decide(features)
    )
    sign = np.sign(fitted.decide(features).ravel() @ expected.ravel())
    assert sign > 0
    size = rtol * np.abs(expected).max()
    np.testing.assert_allclose(fitted.decide(features), expected, atol=size)


@pytest.mark.parametrize(("rank", "floor"), [(2, 1e-3), (50, 1e-2), (3, 10.0)])
def test_dimkl6_from_moments_is_that_of_the_gram_matrix(rng, rank, floor):
    rows, codes = three_classes(rng, 300)
    y = np.where(codes > 0, 1.0, -1.0)
    for view in views_of(KERNELS, rows, "empirical(subset=9)"):
        features = view.features()
        expected = rkhs_bhattacharyya(features @ features.T, y, rank, floor)
        distance = bhattacharyya_of_moments(view.class_moments(y), rank, floor)
        assert distance == pytest.approx(expected, rel=1e-8)


def test_gram_matrices_have_no_class_moments(rng):
    view = views_of("rbf", rng.normal(size=(20, 2)))[0]
    with pytest.raises(IncompatibleError, match="implicit"):
        view.class_moments(np.ones(20))


@pytest.fixture
def stored(rng, tmp_path):
    """Rows in a file, whose features of two times 125 landmarks take 25 MB each."""
    rows = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (25_000, 4))
    rows[:] = rng.normal(size=rows.shape)
    return rows, np.asarray(rows[:, 0] * rows[:, 1] > 0).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("combiner", "learner"),
    [
        ("uniform", "svm"),
        ("uniform", "svm(C=1.0)"),
        ("uniform", "kda"),
        ("dimkl6", "kda"),
        ("best-single(cv=2)", "kda"),
        ("best-single(cv=2)", "svm(C=1.0)"),
    ],
)
def test_features_of_rows_in_a_file_are_never_in_memory_together(stored, combiner, learner):
    rows, y = stored
    model = MKLClassifier(
        ["rbf(sigma=0.5)", "rbf(sigma=2.0)"],
        feature_map="empirical(subset=125)",
        combiner=combiner,
        learner=learner,
        max_memory="22MB",  # A block of features takes 16 MB, and their sums 5.
        random_state=0,
    )
    clone(model).fit(rows[:300], y[:300])  # What is imported or compiled once does not count.
    tracemalloc.start()
    model.fit(rows, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32e6  # of 50
    assert model.score(rows, y) > 0.9


@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.process
def test_ensembles_and_searches_read_rows_of_files(rng, tmp_path, tune):
    rows = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (400, 3))
    rows[:] = rng.normal(size=rows.shape)
    y = (rows[:, 0] > 0).astype(int) + (rows[:, 1] > 1)
    settings = {"subset": 9, "n_members": 2, "tune": tune, "cv": 2, "random_state": 0}
    in_parts, expected = (
        RPEMEKLClassifier("rbf", max_memory="1MB", **settings).fit(source, y)
        for source in (rows, np.array(rows))
    )
    assert in_parts.best_params_ == expected.best_params_
    np.testing.assert_allclose(in_parts.weights_, expected.weights_, rtol=1e-6)
    np.testing.assert_array_equal(in_parts.predict(rows), expected.predict(rows))
