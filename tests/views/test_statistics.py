"""Tile statistics against the same numbers read off whole Gram matrices."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import ids, in_blocks, views_of
from oracles.blocks import alignment, block_values, centered_alignment
from sklearn.metrics.pairwise import (
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)

from mklkit.kernels import Precomputed

KERNELS = {
    "linear": linear_kernel,
    "polynomial(degree=2)": lambda a: polynomial_kernel(a, degree=2, gamma=1.0, coef0=1.0),
    "polynomial(degree=3, coef0=0)": lambda a: polynomial_kernel(a, degree=3, gamma=1.0, coef0=0.0),
    "rbf(gamma=0.05)": lambda a: rbf_kernel(a, gamma=0.05),
    "rbf(gamma=2)": lambda a: rbf_kernel(a, gamma=2),
    "laplacian(gamma=0.3)": lambda a: laplacian_kernel(a, gamma=0.3),
    "tanh(gamma=0.4, coef0=-0.2)": lambda a: sigmoid_kernel(a, gamma=0.4, coef0=-0.2),
    "cosine": lambda a: linear_kernel(a) / np.sqrt(np.outer(*[(a**2).sum(axis=1)] * 2)),
}


def labels(n_rows, n_first):
    return np.where(np.arange(n_rows) < n_first, 1.0, -1.0)


def check_quadrants(views, grams, y, rtol=1e-11):
    for view, gram in zip(views, grams, strict=True):
        blocks = view.quadrants(y)
        parts = (blocks.within_positive, blocks.between, blocks.within_negative)
        for part, values in zip(parts, block_values(gram, y), strict=True):
            low, high = np.percentile(values, [25, 75])
            close = {"rel": rtol, "abs": 1e-12 * float(np.abs(values).max())}
            assert part.mean == pytest.approx(float(values.mean()), **close)
            assert part.deviation == pytest.approx(float(values.std()), **close)
            lower, upper = part.quartiles()
            assert lower == pytest.approx(float(low), **close)
            assert upper == pytest.approx(float(high), **close)
            assert part.interquartile_range == upper - lower


@pytest.mark.parametrize(
    ("n_rows", "n_first"), [(40, 13), (60, 1), (513, 512), (600, 255), (1300, 257)]
)
def test_quadrants_are_those_of_the_whole_matrix(rng, n_rows, n_first):
    rows = rng.normal(size=(n_rows, 3))
    y = labels(n_rows, n_first)
    # One kernel of each base where the oracle has millions of numbers to sort.
    names = ["polynomial(degree=2)", "rbf(gamma=2)", "laplacian(gamma=0.3)"]
    names = names if n_rows > 1000 else list(KERNELS)
    check_quadrants(views_of(names, rows), [KERNELS[name](rows) for name in names], y)


def test_many_equal_distances(rng):
    # Few different rows: ties by the hundred in every rank, zeros beyond the diagonal.
    rows, names = rng.integers(0, 2, size=(120, 3)).astype(float), list(KERNELS)[:-1]
    check_quadrants(views_of(names, rows), [KERNELS[n](rows) for n in names], labels(120, 50))


@pytest.mark.parametrize("kernel", ["rbf(gamma=1e6)", "laplacian(gamma=1e6)"])
def test_the_diagonal_of_a_distance_kernel_is_exactly_one(rng, kernel):
    # Two rows a class: half of a block is its diagonal, which rounding must not move.
    for _ in range(20):
        parts = views_of(kernel, rng.normal(size=(4, 5)) * 1e3)[0].quadrants(labels(4, 2))
        assert parts.within_positive.quartiles()[1] == parts.within_negative.quartiles()[1] == 1.0


def test_single_precision_rows(rng):
    rows = rng.normal(size=(90, 3)).astype(np.float32)
    y = labels(90, 40).astype(np.float32)
    names = ["rbf(gamma=2)", "polynomial(degree=2)"]
    check_quadrants(views_of(names, rows), [KERNELS[n](rows.astype(float)) for n in names], y, 2e-5)


def test_quadrants_of_features_are_those_of_their_products(rng):
    rows, names = rng.normal([0, 1, 0, 3], size=(1100, 4)), list(KERNELS)[:4]
    views = in_blocks(views_of(names, rows, "empirical(subset=20)"))
    features = [view.projector.map.transform(rows) for view in views]
    check_quadrants(views, [values @ values.T for values in features], labels(1100, 440), 1e-9)


def test_features_of_a_wide_kernel_keep_the_digits_of_its_spread(rng):
    rows, y = rng.normal(size=(80, 3)).astype(np.float32), labels(80, 40).astype(np.float32)
    view = views_of("rbf(gamma=1e-4)", rows, "empirical(subset=30)")[0]
    features = view.projector.map.transform(rows.astype(np.float64))
    deviation = (features[:40] @ features[40:].T).std()
    assert view.quadrants(y).between.deviation == pytest.approx(deviation, rel=1e-3)


@pytest.mark.parametrize("n_rows", [40, 255, 256, 257, 1281])
def test_alignments_are_those_of_the_whole_matrix(rng, n_rows):
    rows = rng.normal(size=(n_rows, 3))
    y = labels(n_rows, n_rows // 3)
    names = list(KERNELS)[2:4] if n_rows > 1000 else list(KERNELS)
    for view, peer in zip(views_of(names, rows), map(KERNELS.get, names), strict=True):
        gram, close = peer(rows), {"rel": 1e-9, "abs": 1e-12}
        assert view.label_alignment(y) == pytest.approx(alignment(gram, y), **close)
        centered = view.label_alignment(y, centered=True)
        assert centered == pytest.approx(centered_alignment(gram, y), **close)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e160, 1e-170])
def test_alignments_do_not_depend_on_the_scale(two_classes, scale):
    rows, y = two_classes
    gram = rbf_kernel(rows, gamma=0.2)
    view = views_of(Precomputed(gram * scale), ids(70))[0]
    assert view.label_alignment(y) == pytest.approx(alignment(gram, y), rel=1e-12)
    centered = view.label_alignment(y, centered=True)
    assert centered == pytest.approx(centered_alignment(gram, y), rel=1e-12)


@pytest.mark.parametrize("kind", ["nearly constant", "far from zero"])
def test_centered_alignments_keep_the_digits_of_the_spread(two_classes, kind):
    rows, y = two_classes
    # A very wide rbf: ones, less a millionth; what is left of it when centred is all that counts.
    wide = kind == "nearly constant"
    gram = rbf_kernel(rows, gamma=1e-7) if wide else linear_kernel(rows + 3e3)
    alignment = views_of(Precomputed(gram), ids(70))[0].label_alignment(y, centered=True)
    assert alignment == pytest.approx(centered_alignment(gram, y), rel=1e-6)


def test_a_kernel_that_says_nothing_is_not_aligned(two_classes):
    y = two_classes[1]
    for value in (0.1, 1e300, 3e-300, 0.0):
        constant = views_of(Precomputed(np.full((70, 70), value)), ids(70))[0]
        assert constant.label_alignment(y, centered=True) == 0
    assert constant.label_alignment(y) == 0
