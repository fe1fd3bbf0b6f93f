"""Spectra against NumPy's; ridge systems against dense solves of the bordered normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mklkit.numerics.eigenpairs import AppliedSpectrum
from mklkit.numerics.least_squares import (
    ArrowheadSystem,
    NormalMatrix,
    SpectralSystem,
    Spectrum,
)
from mklkit.numerics.ridge import GramRidge, WeightedRows, left_out, spectrum_of_features


def test_spectrum_rebuilds_the_matrix_largest_first(rng):
    basis = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    matrix = basis @ np.diag([5.0, 3.0, 1.0, 1e-3, 0.0, 0.0]) @ basis.T
    spectrum = Spectrum.of((matrix + matrix.T) / 2)
    np.testing.assert_allclose(spectrum.values, [5.0, 3.0, 1.0, 1e-3], rtol=1e-10)
    rebuilt = spectrum.vectors * spectrum.values @ spectrum.vectors.T
    np.testing.assert_allclose(rebuilt, matrix, atol=1e-13)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), -np.eye(3)])
def test_spectrum_of_nothing_positive_is_empty(matrix):
    assert Spectrum.of(matrix).values.shape == (0,)
    assert Spectrum.of(matrix).vectors.shape == (3, 0)


def test_spectrum_leaves_the_rounding_of_single_precision_out(rng):
    rows = rng.normal(size=(12, 3)).astype(np.float32) * [1e-9, 1, 1]
    gram = (rows @ rows.T).astype(np.float32)
    assert len(Spectrum.of(gram, 1e-12).values) == 2


@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_products_are_those_with_the_eigenvectors(rng, size):
    matrix = rng.normal(size=(size, size))
    matrix = matrix + matrix.T + np.eye(size)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-9 * values[-1]
    spectrum = AppliedSpectrum.of(matrix, 1e-9)
    assert spectrum.values == pytest.approx(values[kept][::-1], rel=1e-9)
    columns = rng.normal(size=(size, 3))
    coordinates = spectrum.coordinates(columns)
    projector = vectors[:, kept] @ vectors[:, kept].T
    assert spectrum.combined(coordinates) == pytest.approx(projector @ columns)
    positive = (vectors * np.where(kept, values, 0)) @ vectors.T
    through = coordinates.T @ (spectrum.values[:, None] * coordinates)
    assert through == pytest.approx(columns.T @ positive @ columns)


def test_a_matrix_of_rank_zero_has_no_eigenpairs(capfd):
    spectrum = AppliedSpectrum.of(np.zeros((4, 4)), 1e-12)
    assert spectrum.coordinates(np.ones((4, 2))).shape == (0, 2)
    assert not spectrum.combined(np.empty((0, 1))).any()
    assert spectrum.combined(np.empty((0, 0))).shape == (4, 0)
    assert capfd.readouterr() == ("", "")  # LAPACK prints what it refuses


@pytest.mark.parametrize("kind", [AppliedSpectrum, Spectrum])
def test_what_is_not_finite_is_refused(kind):
    with pytest.raises(np.linalg.LinAlgError, match="NaN or infinity"):
        kind.of(np.full((2, 2), np.nan), 1e-12)


def dense_weights(features, targets, data_weights, alphas):
    """Return the weights of each column's bordered normal equations, the bias left out."""
    design = np.column_stack([features, np.ones(len(features))])
    solutions = []
    for target, weight, ridge in zip(targets.T, data_weights, alphas, strict=True):
        penalty = ridge * np.eye(design.shape[1])
        penalty[-1, -1] = 0
        system = weight * design.T @ design + penalty
        solutions.append(np.linalg.lstsq(system, design.T @ target, rcond=1e-13)[0][:-1])
    return np.column_stack(solutions)


def solved(system, features, targets, data_weights, alphas):
    return system.solve(features.T @ targets, targets.mean(axis=0), data_weights, alphas)


COLUMNS = {
    "data_weights": np.array([1.0, 1.75, 1.0, 0.5, 3.0]),
    "alphas": np.array([1.0, 1.0, 1e-4, 40.0, 0.3]),
}


@pytest.mark.parametrize("n_features", [3, 12, 40])
def test_arrowhead_systems_are_the_dense_ones(rng, n_features):
    # Orthogonal columns, whose products are diagonal: as on a full empirical map.
    basis = np.linalg.qr(rng.normal(size=(40, 40)))[0][:, :n_features]
    features = basis * 10.0 ** rng.uniform(-2, 2, size=n_features)
    targets = rng.normal(size=(40, 5))
    products = (features**2).sum(axis=0)
    system = ArrowheadSystem(NormalMatrix(products, features.sum(axis=0), 40))
    solution = solved(system, features, targets, **COLUMNS)
    expected = dense_weights(features, targets, **COLUMNS)
    np.testing.assert_allclose(solution, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("alphas", [COLUMNS["alphas"], np.zeros(5)], ids=["alphas", "no ridge"])
def test_spectral_systems_are_the_dense_ones(rng, alphas):
    features, targets = rng.normal(size=(40, 6)) + 2.0, rng.normal(size=(40, 5))
    normal = NormalMatrix(features.T @ features, features.sum(axis=0), 40)
    system = SpectralSystem(normal.spectrum(), normal.sums)
    columns = {"data_weights": COLUMNS["data_weights"], "alphas": alphas}
    solution = solved(system, features, targets, **columns)
    np.testing.assert_allclose(solution, dense_weights(features, targets, **columns), atol=1e-10)


def test_without_a_ridge_the_shortest_weights_are_found(rng):
    features, targets = rng.normal(size=(10, 25)), rng.normal(size=(10, 2))
    normal = NormalMatrix(features.T @ features, features.sum(axis=0), 10)
    system = SpectralSystem(normal.spectrum(), normal.sums)
    solution = solved(system, features, targets, np.ones(2), np.zeros(2))
    centered = features - features.mean(axis=0)
    expected = np.linalg.pinv(centered) @ (targets - targets.mean(axis=0))
    np.testing.assert_allclose(solution, expected, atol=1e-10)


@pytest.mark.filterwarnings("error")
def test_a_ridge_that_is_lost_beside_its_data_weight_leaves_no_ridge(rng):
    # With all rows as landmarks features are orthogonal, and hold the vector of ones.
    rows = rng.normal(size=(8, 8))
    values, vectors = np.linalg.eigh(rows @ rows.T)
    features, targets = vectors * np.sqrt(values), rng.normal(size=(8, 1))
    system = ArrowheadSystem(NormalMatrix(values, features.sum(axis=0), 8))
    solution = solved(system, features, targets, np.array([1e200]), np.ones(1))
    centered = features - features.mean(axis=0)
    expected = np.linalg.pinv(centered) @ (targets - targets.mean())
    np.testing.assert_allclose(solution * 1e200, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_columns", [3, 20])
def test_leave_one_out_errors_are_those_of_fits_without_each_row(rng, n_columns):
    rows, targets = rng.normal(size=(14, n_columns)), np.eye(3)[rng.integers(0, 3, 14)]
    alphas = [0.01, 0.3, 3.0, 50.0]

    def errors(alpha):
        answers = []
        for row in range(14):
            others = np.arange(14) != row
            fit = Ridge(alpha=alpha).fit(rows[others], targets[others])
            answers.append(fit.predict(rows[[row]])[0])
        return ((targets - answers) ** 2).sum(axis=1)

    naive = min((errors(alpha) for alpha in alphas), key=sum)
    weighted = WeightedRows.of(14, None, True)
    spectra = [GramRidge(rows @ rows.T, weighted).spectrum]
    if n_columns < 14:
        spectra.append(spectrum_of_features(rows, weighted))
    for spectrum in spectra:
        result = left_out(spectrum, weighted, targets, alphas)
        assert result.errors == pytest.approx(naive, rel=1e-9)
        assert errors(result.alpha) == pytest.approx(naive)


def test_the_spectrum_of_features_is_that_of_their_products(rng):
    features, weights = rng.normal(2.0, 1.0, (30, 4)), rng.uniform(0.5, 3, 30)
    weighted = WeightedRows.of(30, weights, True)
    spectrum = spectrum_of_features(features, weighted)
    centered = features - np.average(features, axis=0, weights=weights)
    products = np.sqrt(weights)[:, None] * centered @ centered.T * np.sqrt(weights)
    rebuilt = spectrum.vectors * spectrum.values @ spectrum.vectors.T
    np.testing.assert_allclose(rebuilt, products, atol=1e-10)
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(4), atol=1e-10)
