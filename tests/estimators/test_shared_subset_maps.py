"""One random-subset map for all pairs of classes: the same features, evaluated once."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
from helpers.builders import ifsl_search
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLClassifier, load_model, save_model
from mklkit.combiners import IFSL
from mklkit.protocols import FixedKernel

TRIO = ["linear", "rbf(sigma='mean')", "polynomial(degree=2)"]


@pytest.fixture
def four_classes(rng):
    labels = np.repeat([0, 1, 2, 3], [12, 20, 25, 33])
    rows = rng.normal(size=(90, 4))
    rows[:, :2] += 1.5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[labels]
    order = rng.permutation(90)
    return rows[order], np.array(["ash", "elm", "fir", "oak"])[labels[order]]


def fitted(X, y, **settings):
    model = MKLClassifier(
        settings.pop("kernels", TRIO),
        feature_map=settings.pop("feature_map", "empirical(subset=25)"),
        combiner="ifsl(lam=0.5, initial='zeros')",
        random_state=settings.pop("seed", 0),
        **settings,
    )
    return model.fit(X, y)


def maps_of(model):
    return [[projector.map for projector in decision.projectors] for decision in model.decisions_]


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_all_pairs_share_one_map_a_kernel(four_classes, multiclass):
    X, y = four_classes
    maps = maps_of(fitted(X, y, multiclass=multiclass))
    assert len(maps) == (6 if multiclass == "ovo" else 4)
    for of_pair in maps:
        assert all(pair_map is first for pair_map, first in zip(of_pair, maps[0], strict=True))
    assert len(maps[0][0].landmarks) == 25
    # The bandwidth is that of all rows, not of a pair's.
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    expected = np.exp(-(gaps**2) / (2 * gaps.mean() ** 2))
    np.testing.assert_allclose(maps[0][1].kernel(X, X), expected, rtol=1e-9)


def test_full_maps_are_each_pairs_own(four_classes):
    X, y = four_classes
    model = fitted(X, y, feature_map="empirical")
    for (negative, positive), maps in zip(model.problems_, maps_of(model), strict=True):
        pair_rows = X[(y == negative) | (y == positive)]
        np.testing.assert_array_equal(maps[0].landmarks, pair_rows)
        gaps = np.linalg.norm(pair_rows[:, None] - pair_rows[None], axis=2)
        expected = np.exp(-(gaps**2) / (2 * gaps.mean() ** 2))
        np.testing.assert_allclose(maps[1].kernel(pair_rows, pair_rows), expected, rtol=1e-9)


@attrs.frozen
class CountedGaussian(FixedKernel):
    """A kernel from outside that counts how often it is evaluated on new rows."""

    name: ClassVar[str] = "counted"
    calls: ClassVar[list[int]] = []

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        self.calls.append(len(a))
        return np.exp(-0.3 * ((a[:, None] - b[None]) ** 2).sum(axis=2))

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return np.ones(len(a))


def test_new_rows_meet_the_landmarks_once(four_classes, rng):
    X, y = four_classes
    new = rng.normal(size=(30, 4))
    for feature_map, evaluations in (("empirical(subset=25)", 1), ("empirical", 6)):
        CountedGaussian.calls.clear()
        model = fitted(X, y, kernels=[CountedGaussian()], feature_map=feature_map)
        assert CountedGaussian.calls.count(90) == (1 if evaluations == 1 else 0)
        CountedGaussian.calls.clear()
        model.predict(new)
        assert CountedGaussian.calls == [30] * evaluations


def test_the_grid_uses_the_shared_map_of_its_fold(four_classes):
    X, y = four_classes
    rows = np.arange(90)
    split = [(rows[:60], rows[60:])]
    search = ifsl_search(
        TRIO,
        feature_map="empirical(subset=20)",
        combiner=IFSL(initial="zeros"),
        ridges=(0.5,),
        lams=(2.0,),
        cv=split,
        random_state=0,
    )
    CountedGaussian.calls.clear()
    search.set_params(estimator__kernels=[CountedGaussian()]).fit(X, y)
    # Training rows once a fold; test rows once a pair, as each pair of the grid decides by itself.
    assert CountedGaussian.calls.count(60) == 1
    assert CountedGaussian.calls.count(30) == 6


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_all_kernels_of_a_member_stand_on_the_same_rows(four_classes, multiclass):
    X, y = four_classes
    kernels = [*TRIO, "front:laplacian@:2", "back:rbf@2:"]
    model = fitted(X, y, kernels=kernels, multiclass=multiclass)
    landmarks = [chosen.landmarks for chosen in maps_of(model)[0]]
    assert all(chosen is landmarks[0] for chosen in landmarks[: len(TRIO)])
    rows = landmarks[0]
    assert len(np.unique(rows, axis=0)) == 25
    np.testing.assert_array_equal(landmarks[-2], rows[:, :2])
    np.testing.assert_array_equal(landmarks[-1], rows[:, 2:])


def test_kernels_that_share_distances_have_their_own_values(four_classes):
    X, y = four_classes
    gammas = (0.1, 0.5, 2)
    model = fitted(X, y, kernels=[f"rbf(gamma={gamma})" for gamma in gammas])
    together = maps_of(model)[0]
    for gamma, chosen in zip(gammas, together, strict=True):
        across = rbf_kernel(X[:30], chosen.landmarks, gamma=gamma)
        among = rbf_kernel(chosen.landmarks, gamma=gamma)
        features = chosen.transform(X[:30])
        expected = across @ np.linalg.solve(among, across.T)
        np.testing.assert_allclose(features @ features.T, expected, atol=1e-6)


def test_shared_maps_stay_shared_in_a_model_file(three_classes, tmp_path):
    X, y = three_classes
    n_maps, sizes = [], []
    for feature_map in ("empirical(subset=45)", "empirical(tol=1e-11)"):
        model = fitted(np.repeat(X, 10, axis=1), y, kernels=["rbf"] * 3, feature_map=feature_map)
        save_model(model, tmp_path / "model.mkl")
        maps = maps_of(load_model(tmp_path / "model.mkl"))
        n_maps.append(len({id(fitted_map) for of_pair in maps for fitted_map in of_pair}))
        sizes.append((tmp_path / "model.mkl").stat().st_size)
    assert n_maps == [3, 9]
    assert sizes[0] < sizes[1]
