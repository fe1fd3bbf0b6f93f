"""DiMKL 1–5 against a naive transcription in extended precision."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import TRIO, ids, trio_grams, views_of, weights_by
from hypothesis import given
from hypothesis import strategies as st
from oracles.blocks import dimkl_weights
from sklearn.metrics.pairwise import laplacian_kernel

from mklkit import MKLClassifier
from mklkit.errors import WeightsWarning
from mklkit.kernels import Precomputed

NUMBERS = range(1, 6)
each_number = pytest.mark.parametrize("number", NUMBERS)

# Where long doubles are plain ones, the transcription itself overflows at 1e300.
needs_range = pytest.mark.skipif(
    np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="no extended precision here"
)


def check(grams, y, number):
    """Compare the weights on given Gram matrices; where there are none, a warning and uniform."""
    views = views_of([Precomputed(gram) for gram in grams], ids(len(y)))
    expected = dimkl_weights(grams, y, number)
    if expected is None:
        with pytest.warns(WeightsWarning, match=f"dimkl{number} .*uniform weights are used"):
            weights = weights_by(f"dimkl{number}", views, y)
        np.testing.assert_array_equal(weights, np.full(len(grams), 1 / len(grams)))
    else:
        weights = weights_by(f"dimkl{number}", views, y)
        np.testing.assert_allclose(weights, expected, rtol=1e-10, atol=1e-15)


def labels(n_rows, n_first):
    return np.where(np.arange(n_rows) < n_first, 1.0, -1.0)


def random_gram(rng, n_rows, scale=1.0):
    rows = rng.normal(size=(n_rows, 4))
    return scale * (rows @ rows.T + 1)


@each_number
@given(st.integers(2, 14), st.data())
def test_symmetric_matrices_with_ties_and_constant_blocks(number, n_rows, data):
    n_first = data.draw(st.integers(1, n_rows - 1))
    seed = data.draw(st.integers(0, 2**32 - 1))
    span = data.draw(st.sampled_from([0, 1, 3, 64]))
    generator = np.random.default_rng(seed)
    grams = []
    for _ in range(3):
        # Eighths: sums are exact, so that a block is constant in both or in neither.
        half = generator.integers(-span, span + 1, size=(n_rows, n_rows)) / 8.0
        grams.append(np.tril(half) + np.tril(half, -1).T)
    check(grams, labels(n_rows, n_first), number)


FIRST, SECOND = slice(0, 11), slice(11, 30)
PLACES = {
    "within first": [(FIRST, FIRST)],
    "between": [(FIRST, SECOND), (SECOND, FIRST)],
    "within second": [(SECOND, SECOND)],
}


@each_number
@pytest.mark.parametrize("places", [*PLACES.values(), [(slice(None), slice(None))]])
def test_a_constant_quadrant(rng, number, places):
    adversary = random_gram(rng, 30)
    for place in places:
        adversary[place] = 0.5
    check([random_gram(rng, 30), adversary, random_gram(rng, 30)], labels(30, 11), number)
    check([adversary, adversary], labels(30, 11), number)


@needs_range
@each_number
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_quadrants_six_hundred_decades_apart(rng, number, places):
    gram = random_gram(rng, 30, 1e-300)
    for place in places:
        gram[place] *= 1e300
        gram[place] *= 1e300
    check([gram, random_gram(rng, 30)], labels(30, 11), number)
    check([gram], labels(30, 11), number)


def test_nearly_equal_spreads_keep_the_digits_of_their_divergence(rng):
    # dimkl5's logarithm of a ratio near one; what it leaves is of the order of the gap squared.
    y = labels(60, 30)
    flat = rng.normal(size=(60, 60))
    gram = flat + flat.T
    gram[30:, :30] = gram[:30, 30:] = gram[:30, :30] * (1 + 1e-4)
    gram[30:, 30:] = gram[:30, :30]
    check([gram, random_gram(rng, 60)], y, 5)


@each_number
def test_the_second_class_label_is_the_first_class_of_the_paper(two_classes, number):
    rows, y = two_classes
    grams = trio_grams(rows)
    model = MKLClassifier(TRIO, combiner=f"dimkl{number}")
    model.fit(rows, np.where(y > 0, "positive", "negative"))
    expected = dimkl_weights(grams, y, number)
    assert not np.allclose(expected, dimkl_weights(grams, -y, number))  # or nothing is tested
    np.testing.assert_allclose(model.weights_, [expected], rtol=1e-10)


def printed_weights(grams, y):
    """Return the weights of equation (10) with the logarithm as it is printed."""
    raw = []
    for gram in grams:
        blocks = [
            gram[np.ix_(a, b)] for a, b in ((y > 0, y > 0), (y > 0, y <= 0), (y <= 0, y <= 0))
        ]
        (m1, m2, m3), (s1, s2, s3) = zip(*[(b.mean(), b.std()) for b in blocks], strict=True)
        weights = sum(
            (m - m2) ** 2 / (4 * (s**2 + s2**2)) + 0.5 * np.log((s**2 + s2**2) / (2 * s**2 * s2**2))
            for m, s in ((m1, s1), (m3, s3))
        )
        raw.append(max(weights, 0) / (max(weights, 0) + s1 + 2 * s2))
    return np.array(raw) / sum(raw)


def test_dimkl5_with_the_printed_logarithm(rng):
    y = np.where(rng.random(60) < 0.4, 1.0, -1.0)
    rows = rng.uniform(-1, 1, size=(60, 5)) + 0.2 * y[:, None]
    views = views_of([*TRIO, "laplacian"], rows)
    weights = weights_by("dimkl5(distance='printed')", views, y)
    expected = printed_weights([*trio_grams(rows), laplacian_kernel(rows)], y)
    np.testing.assert_allclose(weights, expected, rtol=1e-10)
    assert np.abs(weights - weights_by("dimkl5", views, y)).max() > 0.01
