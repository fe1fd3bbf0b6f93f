"""DiMKL 6 against full class covariances in explicit coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import ids, views_of, weights_by
from oracles.blocks import bhattacharyya_in_coordinates
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from mklkit.combiners.dimkl import rkhs_bhattacharyya
from mklkit.errors import WeightsWarning
from mklkit.kernels import Precomputed

GRAMS = {
    "wide rbf": lambda a: rbf_kernel(a, gamma=0.01),
    "narrow rbf": lambda a: rbf_kernel(a, gamma=2),
    "linear": linear_kernel,
    "polynomial": lambda a: polynomial_kernel(a, degree=2, gamma=1.0, coef0=1.0),
    "tiny": lambda a: 1e-5 * rbf_kernel(a, gamma=0.5),
    "large": lambda a: 1e6 * rbf_kernel(a, gamma=0.5),
}
each_gram = pytest.mark.parametrize("name", GRAMS)


@each_gram
@pytest.mark.parametrize(("rank", "floor"), [(5, 1e-3), (1, 1e-2), (3, 1.0), (200, 1e-3)])
def test_distances_are_those_of_the_covariances(two_classes, name, rank, floor):
    rows, y = two_classes
    gram = GRAMS[name](rows)
    expected = bhattacharyya_in_coordinates(gram, y, rank, floor)
    assert rkhs_bhattacharyya(gram, y, rank, floor) == pytest.approx(expected, rel=1e-6, abs=1e-10)


@each_gram
def test_one_sample_in_a_class(two_classes, name):
    rows, _ = two_classes
    y = np.where(np.arange(70) == 3, 1.0, -1.0)
    gram = GRAMS[name](rows)
    for labels in (y, -y):
        expected = bhattacharyya_in_coordinates_with_one(gram, labels)
        assert rkhs_bhattacharyya(gram, labels) == pytest.approx(expected, rel=1e-6, abs=1e-10)


def bhattacharyya_in_coordinates_with_one(gram, y, rank=5, floor=1e-3):
    """The transcription, with the single sample doubled: the same mean, the same covariance."""
    single = np.flatnonzero(y == (1 if (y == 1).sum() == 1 else -1))
    members = np.append(np.arange(len(y)), single)
    return bhattacharyya_in_coordinates(gram[np.ix_(members, members)], y[members], rank, floor)


def test_a_kernel_in_which_all_rows_are_one_has_no_weight(two_classes):
    rows, y = two_classes
    views = views_of([Precomputed(np.ones((70, 70))), Precomputed(linear_kernel(rows))], ids(70))
    weights = weights_by("dimkl6", views, y)
    assert weights[0] == pytest.approx(0, abs=1e-12)
    with pytest.warns(WeightsWarning, match="every kernel the weight zero"):
        np.testing.assert_array_equal(
            weights_by("dimkl6", views_of([Precomputed(np.zeros((70, 70)))] * 2, ids(70)), y),
            [0.5, 0.5],
        )


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_extreme_magnitudes_have_a_distance(two_classes, scale):
    rows, y = two_classes
    gram = rbf_kernel(rows, gamma=0.3) * scale
    distance = rkhs_bhattacharyya(gram, y)
    assert np.isfinite(distance)
    if scale < 1:
        # Nothing rises above the floor: both covariances are ρI, and the means alone speak.
        means = np.where(y > 0, 1 / (y > 0).sum(), -1 / (y < 0).sum())
        assert distance == pytest.approx(float(means @ gram @ means) / 1e-3 / 8, rel=1e-10)
