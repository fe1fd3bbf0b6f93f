"""MKLRegressor against scikit-learn, on one and several targets, and through files."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVR

from mklkit import MKLRegressor
from mklkit.errors import DataError, IncompatibleError, SpecError

RNG = np.random.default_rng(1)
X, NEW = RNG.normal(size=(80, 4)), RNG.normal(size=(20, 4))
Y = np.column_stack([X[:, 0] - 2 * X[:, 1] + 100, np.sin(2 * X[:, 2]), 1e4 * np.cos(X[:, 0])])
KERNELS = ["linear", "rbf(sigma=2)"]


def summed(a, b):
    return 0.5 * linear_kernel(a, b) + 0.5 * rbf_kernel(a, b, gamma=1 / 8)


RIDGE, MACHINE = "ridge(alpha=0.5, intercept=False)", "svr(C=50, epsilon=0.2, tol=1e-6)"


@pytest.mark.parametrize(
    ("settings", "peer", "y"),
    [
        ({"learner": RIDGE}, KernelRidge(alpha=0.5), Y),
        ({"learner": RIDGE, "feature_map": "empirical"}, KernelRidge(alpha=0.5), Y),
        ({"learner": MACHINE}, SVR(C=50, epsilon=0.2, tol=1e-6), Y[:, 0]),
    ],
)
def test_it_is_scikit_learns_on_the_sum(settings, peer, y):
    model = MKLRegressor(KERNELS, **settings).fit(X, y)
    expected = peer.set_params(kernel="precomputed").fit(summed(X, X), y).predict(summed(NEW, X))
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-5, atol=1e-7)
    assert model.target_means_.any() == (settings["learner"] == MACHINE)


@pytest.mark.parametrize("feature_map", ["implicit", "empirical", "empirical(subset=10)"])
def test_several_targets_are_those_of_fits_of_their_own(feature_map):
    model = MKLRegressor(KERNELS, feature_map=feature_map, random_state=0)
    together = model.fit(X, Y).predict(NEW)
    assert together.shape == (20, 3)
    assert len(model.decisions_) == 1
    assert model.problems_ == ["all targets"]
    for column in range(3):
        alone = clone(model).fit(X, Y[:, column]).predict(NEW)
        np.testing.assert_allclose(together[:, column], alone, rtol=1e-6)


@pytest.mark.parametrize("settings", [{"combiner": "centered-alignment"}, {"learner": "svr"}])
def test_targets_that_cannot_share_a_fit_have_weights_of_their_own(settings):
    frame = pd.DataFrame(Y[:, :2], columns=["price", "rent"])
    model = MKLRegressor(KERNELS, **settings).fit(X, frame)
    assert model.weights_.shape == (2, 2)
    assert model.weights_frame()["problem"].unique().tolist() == ["price", "rent"]
    alone = clone(model).fit(X, frame["rent"])
    np.testing.assert_allclose(model.predict(NEW)[:, 1], alone.predict(NEW), rtol=1e-9)
    assert alone.problems_ == ["rent"]


@pytest.mark.parametrize("combiner", ["alignment", "centered-alignment", "best-single", "ifsl"])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_a_shift_and_a_scale_of_the_target_are_those_of_the_predictions(combiner, feature_map):
    model = MKLRegressor(KERNELS, combiner=combiner, feature_map=feature_map, random_state=0)
    usual = model.fit(X, Y[:, 1]).predict(NEW)
    weights = model.weights_
    rescaled = model.fit(X, 1000 * Y[:, 1] - 5e5).predict(NEW)
    np.testing.assert_allclose((rescaled + 5e5) / 1000, usual, atol=1e-5)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-6)


def test_alignments_of_numbers_are_those_of_their_centered_kernel():
    y = Y[:, 1] + 3
    centring = np.eye(80) - 1 / 80
    centered = centring @ y
    grams = [linear_kernel(X), rbf_kernel(X, gamma=1 / 8)]
    for combiner, matrices in [
        ("alignment", grams),
        ("centered-alignment", [centring @ gram @ centring for gram in grams]),
    ]:
        expected = np.array(
            [centered @ gram @ centered / np.linalg.norm(gram) for gram in matrices]
        )
        for feature_map in ("implicit", "empirical", "empirical(subset=80)"):
            model = MKLRegressor(
                KERNELS, combiner=combiner, feature_map=feature_map, random_state=0
            )
            weights = model.fit(X, y).weights_[0]
            np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-5)


def test_best_single_takes_the_kernel_of_least_squared_error():
    parts = {"combiner": "best-single", "learner": "ridge(alpha=0.1)", "random_state": 0}
    model = MKLRegressor(KERNELS, **parts)
    assert model.fit(X, Y[:, 0]).weights_.tolist() == [[1, 0]]
    assert model.fit(X, Y[:, 1]).weights_.tolist() == [[0, 1]]


def test_float32_rows_keep_the_digits_of_a_target_far_from_zero():
    y = Y[:, 1] + 1e7
    model = MKLRegressor(KERNELS)
    answers = model.fit(X.astype(np.float32), y).predict(NEW.astype(np.float32))
    np.testing.assert_allclose(answers, model.fit(X, y).predict(NEW), atol=0.01, rtol=0)


def test_kernels_are_proposed_for_numbers():
    informative = pd.DataFrame(np.column_stack([X, RNG.normal(size=(80, 4))]))
    model = MKLRegressor("auto").fit(informative.to_numpy(), Y[:, 0])
    assert model.kernel_names_
    ((told,),) = [re.findall(r"leave-one-out error of (0\.\d+) ", model.choices_[0])]
    squared = model.score(informative.to_numpy(), Y[:, 0])
    # Of samples that were learned from, the error is less than of those left out.
    assert 1 - squared < float(told) < 0.2
    assert model.score(informative.to_numpy(), Y[:, 0]) > 0.95


def test_rows_of_a_file_and_of_a_cluster(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    model = MKLRegressor(KERNELS, feature_map="empirical(subset=15)", random_state=0)
    expected = model.fit(X, Y).predict(NEW)
    stored = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_allclose(model.fit(stored, Y).predict(NEW), expected, rtol=1e-6)
    dask = pytest.importorskip("dask.array")
    model.fit(dask.from_array(X, chunks=(30, 4)), dask.from_array(Y, chunks=(30, 3)))
    answers = model.predict(dask.from_array(NEW, chunks=(10, 4)))
    np.testing.assert_allclose(answers.compute(), expected, rtol=1e-6)


def test_what_learns_no_numbers_is_refused_with_the_names_of_those_that_do():
    with pytest.raises(IncompatibleError, match="combiner 'dimkl3' can't learn from numbers"):
        MKLRegressor(KERNELS, combiner="dimkl3").fit(X, Y)
    with pytest.raises(IncompatibleError, match=r"learners that can: .*ridge, svr"):
        MKLRegressor(KERNELS, learner="svm").fit(X, Y)
    with pytest.raises(DataError, match="use MKLClassifier for classes"):
        MKLRegressor(KERNELS).fit(X, ["a", "b"] * 40)
    with pytest.raises(ValueError, match="NaN"):
        MKLRegressor(KERNELS).fit(X, np.full(80, np.nan))
    with pytest.raises(SpecError):
        MKLRegressor(KERNELS, learner="ridge(alpha=-1)").fit(X, Y)
    with pytest.raises(DataError, match="not finite"):
        MKLRegressor("polynomial(degree=3)").fit(X, Y).predict(np.full((1, 4), 1e200))
