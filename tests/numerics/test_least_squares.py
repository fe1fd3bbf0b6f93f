"""Ridge systems with a free bias against dense solves of the bordered normal equations."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit.numerics.least_squares import Spectrum


def test_spectrum_rebuilds_the_matrix_largest_first(rng):
    basis = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    matrix = basis @ np.diag([5.0, 3.0, 1.0, 1e-3, 0.0, 0.0]) @ basis.T
    spectrum = Spectrum.of((matrix + matrix.T) / 2)
    np.testing.assert_allclose(spectrum.values, [5.0, 3.0, 1.0, 1e-3], rtol=1e-10)
    rebuilt = spectrum.vectors * spectrum.values @ spectrum.vectors.T
    np.testing.assert_allclose(rebuilt, matrix, atol=1e-13)


def test_spectrum_leaves_negative_eigenvalues_out():
    assert Spectrum.of(np.diag([2.0, -5.0, 1.0])).values.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), -np.eye(3)])
def test_spectrum_of_nothing_positive_is_empty(matrix):
    assert Spectrum.of(matrix).values.shape == (0,)
    assert Spectrum.of(matrix).vectors.shape == (3, 0)


def test_spectrum_tolerance_is_relative_to_the_largest():
    assert len(Spectrum.of(np.diag([1e6, 1.0, 1e-4]), tolerance=1e-7).values) == 2
