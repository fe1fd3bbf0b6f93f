"""Eigenvectors in factored form, against those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit.numerics.eigenpairs import AppliedSpectrum


@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_products_are_those_with_the_eigenvectors(rng, size):
    matrix = rng.normal(size=(size, size))
    matrix = matrix + matrix.T + np.eye(size)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-9 * values[-1]
    found = AppliedSpectrum.of(matrix, 1e-9)
    assert found.values == pytest.approx(values[kept][::-1], rel=1e-9)
    columns = rng.normal(size=(size, 3))
    coordinates = found.coordinates(columns)
    projector = vectors[:, kept] @ vectors[:, kept].T
    assert found.combined(coordinates) == pytest.approx(projector @ columns)
    positive = (vectors * np.where(kept, values, 0)) @ vectors.T
    through = coordinates.T @ (found.values[:, None] * coordinates)
    assert through == pytest.approx(columns.T @ positive @ columns)


def test_a_matrix_of_rank_zero_has_no_eigenpairs(capfd):
    found = AppliedSpectrum.of(np.zeros((4, 4)), 1e-12)
    assert found.coordinates(np.ones((4, 2))).shape == (0, 2)
    assert not found.combined(np.empty((0, 1))).any()
    assert found.combined(np.empty((0, 0))).shape == (4, 0)
    assert capfd.readouterr() == ("", "")  # LAPACK prints what it refuses


def test_what_is_not_finite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="NaN or infinity"):
        AppliedSpectrum.of(np.full((2, 2), np.nan), 1e-12)
