"""Random Fourier features: the Gaussian kernel within the standard error, and its limits."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import IncompatibleError, MKLClassifier
from mklkit.feature_maps import Fourier
from mklkit.kernels import RBF


@pytest.fixture
def rows(rng):
    return rng.normal(size=(40, 3))


def fitted(rows, n_components=64, gamma=0.3, seed=0):
    kernel = RBF(gamma=gamma).fit(rows)
    return Fourier(n_components=n_components).fit(kernel, rows, np.random.RandomState(seed))


def products(rows, **options):
    features = fitted(rows, **options).transform(rows)
    return features @ features.T


def test_the_mean_over_draws_is_the_kernel_with_the_standard_error_that_the_docstring_states(rows):
    exact = rbf_kernel(rows, gamma=0.3)
    draws = np.array([products(rows, n_components=32, seed=seed) for seed in range(400)])
    deviation = (1 - exact**2) / np.sqrt(32)
    others = ~np.eye(40, dtype=bool)
    scores = (draws.mean(axis=0) - exact)[others] / (deviation[others] / 20)
    assert np.abs(scores).max() < 5
    np.testing.assert_allclose(draws.std(axis=0)[others], deviation[others], rtol=0.25)


def test_directions_have_the_normal_distribution_whose_transform_is_the_kernel():
    """Bochner's theorem: exp(−γ‖d‖²) is the mean of cos(wᵀd) over w of variance 2γ."""
    directions = fitted(np.zeros((2, 3)), n_components=100_000).directions / np.sqrt(2 * 0.3)
    # Moments of 150,000 standard normal numbers: their standard errors are below 0.026.
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3)):
        error = np.sqrt(prod(range(1, 2 * power, 2)) / directions.size)
        assert abs((directions**power).mean() - moment) < 4 * error


def test_widths_share_a_draw_scaled_by_their_own(rows):
    kernels = [RBF(gamma=gamma).fit(rows) for gamma in (0.5, 2.0)]
    maps = list(Fourier().fit_all(kernels, [rows, rows], np.random.RandomState(1)))
    np.testing.assert_allclose(maps[1].directions, 2 * maps[0].directions)
    left = np.ascontiguousarray(rows[:, :2])
    maps = list(Fourier().fit_all(kernels, [rows, left], np.random.RandomState(1)))
    assert maps[1].transform(left).shape == (40, 256)


def test_rows_far_from_zero_keep_their_digits(rows):
    """Differences alone matter: in single precision an angle of 10⁵ has two digits left."""
    far = (rows + 2.0**14).astype(np.float32)
    near = far.astype(np.float64) - 2.0**14
    np.testing.assert_allclose(products(far), products(near), atol=1e-4)


def test_the_rows_beyond_the_first_are_not_read(rows):
    class Source:
        shape, dtype = (1000, 3), rows.dtype

        def __len__(self):
            return 1000

        def __getitem__(self, members):
            assert members.stop <= 1024
            return rows[members]

    kernel = RBF(gamma=0.3).fit(rows)
    [fitted_map] = Fourier().fit_all([kernel], [Source()], np.random.RandomState(0))
    np.testing.assert_array_equal(
        fitted_map.transform(rows), fitted(rows, n_components=256).transform(rows)
    )


@pytest.mark.parametrize("kernel", ["linear", "cosine(rbf)", "laplacian"])
def test_other_kernels_are_refused_by_name(kernel, rows):
    model = MKLClassifier(["rbf", kernel], feature_map="fourier", learner="mhks")
    with pytest.raises(IncompatibleError, match=r"'fourier' can't be fitted to .*: rbf;"):
        model.fit(rows, np.arange(40) % 2)


@pytest.mark.parametrize("value", [0, -2, 7, 2.0, "many", None, True, 2**31])
def test_numbers_of_features_that_are_no_pairs_are_refused(value):
    with pytest.raises(
        ValueError, match=r"n_components must be an even number|at most|expected a whole number"
    ):
        Fourier(n_components=value)
