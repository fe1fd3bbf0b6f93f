"""Rows with weights: a row of weight 2 is the same row twice, for all that weigh rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from helpers.builders import in_blocks, views_of
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from mklkit import IncompatibleError
from mklkit.errors import DataError
from mklkit.estimators.training_data import TrainingData
from mklkit.learners import KDA, MHKS, SVM
from mklkit.learners.smoothed_hinge import best_bias, solve_smoothed
from mklkit.learners.support_vectors import choose_C, solve_primal
from mklkit.plugin import SEVERAL_CLASSES, GramSide, Target
from mklkit.views.sides import FeatureSide

EXACT = {"rtol": 1e-8, "atol": 1e-8}

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(seed, n_rows=14, n_columns=3):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(n_rows, n_columns))
    y = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    rows[:, 0] += 0.8 * y
    return rows, y, draw.integers(1, 4, n_rows)


def gram_of(a, b):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / 4)


def on_gram(learner, rows, y, new, weights=None):
    side = GramSide(gram_of(rows, rows))
    return learner.fit(side, Target.two_classes(y, weights)).decide(gram_of(new, rows))


def on_features(learner, rows, y, new, weights=None):
    return learner.fit(FeatureSide(rows), Target.two_classes(y, weights)).decide(new)


@quietly
@pytest.mark.parametrize(
    "learner", [MHKS(alpha=0.5, max_iter=20), KDA(alpha=1.0), SVM(C=1.0, tol=1e-11)]
)
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "made again"])
def test_features_in_blocks_are_weighted_as_features_in_memory(learner, kept):
    rows, y, often = problem(3, n_rows=40 if kept else 1100)
    whole = views_of("rbf", rows, "empirical(subset=9)")
    if not kept:
        in_blocks(whole)
    view, weights = whole[0], often.astype(float)
    in_memory = FeatureSide(view.projector.transform(rows))
    target = Target.two_classes(y, weights)
    new = view.projector.transform(rows[:6] + 0.1)
    expected = learner.fit(in_memory, target).decide(new)
    np.testing.assert_allclose(learner.fit(view, target).decide(new), expected, **EXACT)
    joined = whole.weighted(np.ones(1))
    np.testing.assert_allclose(learner.fit(joined, target).decide(new), expected, **EXACT)


@quietly
def test_features_far_from_zero_keep_their_digits():
    rows, y, often = problem(5, n_rows=30)
    far, new = rows + 1e7, rows[:5] + 0.3
    learner = MHKS(alpha=0.5, max_iter=20)
    near = on_features(learner, rows, y, new, often.astype(float))
    moved = on_features(learner, far, y, new + 1e7, often.astype(float))
    np.testing.assert_allclose(moved, near, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_fractional_weights_of_support_vector_machines(seed):
    rows, y, _ = problem(seed, n_rows=40)
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(y))
    gram = gram_of(rows, rows)
    peer = SVC(C=1.5, kernel="precomputed", tol=1e-11).fit(gram, y, sample_weight=weights)
    values = on_gram(SVM(C=1.5, tol=1e-11), rows, y, rows, weights)
    np.testing.assert_allclose(values, peer.decision_function(gram), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_many_rows_have_the_minimum_of_the_weighted_hinge_loss(seed):
    rows, y, _ = problem(seed, n_rows=300)
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(y))

    def objective(plane):
        slack = np.maximum(1 - y * (rows @ plane.coefficients + plane.bias), 0)
        return 0.5 * plane.coefficients @ plane.coefficients + 0.5 * weights @ slack

    side = FeatureSide(rows)
    by_sums = solve_smoothed(side, y, 0.5, 1e-6, 1000, weights)
    by_libsvm = solve_primal(side, y, 0.5, 1e-9, row_weights=weights)
    assert by_sums.ended
    assert objective(by_sums) <= objective(by_libsvm) * (1 + 1e-5)


@given(seed=st.integers(0, 10_000), fractional=st.booleans())
def test_the_bias_minimizes_the_weighted_hinge_loss(seed, fractional):
    draw = np.random.default_rng(seed)
    outputs = draw.normal(size=9)
    y = np.where(np.arange(9) % 3, 1.0, -1.0)
    weights = draw.uniform(0.1, 2, 9) if fractional else draw.integers(1, 4, 9).astype(float)

    def loss(bias):
        return weights @ np.maximum(1 - y * (outputs + bias), 0)

    best = best_bias(outputs, y, weights)
    assert loss(best) <= min(map(loss, y - outputs)) + 1e-12
    if not fractional:
        often = weights.astype(int)
        assert np.isclose(best, best_bias(outputs.repeat(often), y.repeat(often)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("on", [on_gram, on_features])
def test_fractional_weights_of_discriminant_analysis(seed, on):
    rows, y, _ = problem(seed, n_rows=25)
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(y))
    features, gram = rows, gram_of(rows, rows)
    if on is on_gram:  # features whose inner products are the kernel
        values, vectors = np.linalg.eigh(gram)
        features = vectors * np.sqrt(np.maximum(values, 0))
    total, within = np.zeros((2, features.shape[1], features.shape[1]))
    center = np.average(features, axis=0, weights=weights)
    total += (weights[:, None] * (features - center)).T @ (features - center)
    means = []
    for label in (-1, 1):
        members, share = features[y == label], weights[y == label]
        means.append(np.average(members, axis=0, weights=share))
        within += (share[:, None] * (members - means[-1])).T @ (members - means[-1])
    ridged = within + 0.3 * np.eye(len(within))
    direction = scipy.linalg.eigh(total, ridged)[1][:, -1]
    direction /= np.linalg.norm(direction)
    first, second = ((features - mean) @ direction for mean in means)
    decided = on(KDA(alpha=0.3), rows, y, rows, weights)
    np.testing.assert_allclose(decided, first**2 - second**2, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("on", [on_gram, on_features])
def test_the_embedding_of_several_classes_is_whitened_by_weighted_rows(on):
    """The weighted scatter within classes, with its ridge, is the same in all directions."""
    draw = np.random.default_rng(2)
    codes = np.arange(45) % 3
    rows = draw.normal(size=(45, 4)) * [1, 2, 0.5, 1] + 1.5 * np.eye(4)[codes]
    often = draw.integers(1, 5, 45)
    side_of = FeatureSide if on is on_features else (lambda a: GramSide(gram_of(a, a)))
    columns = rows if on is on_features else gram_of(rows, rows)
    learner = KDA(alpha=0.2)
    fitted = learner.fit(side_of(rows), Target(SEVERAL_CLASSES, codes, often.astype(float)))
    points = columns @ fitted.projection
    means = np.stack(
        [np.average(points[codes == c], axis=0, weights=often[codes == c]) for c in range(3)]
    )
    apart = points - means[codes]
    metric = np.eye(4) if on is on_features else columns
    ridge = 0.2 * fitted.projection.T @ metric @ fitted.projection
    np.testing.assert_allclose(apart.T @ (often[:, None] * apart) + ridge, np.eye(2), atol=1e-8)
    # A row of weight 2 is the same row twice.
    twice, labels = rows.repeat(often, axis=0), codes.repeat(often)
    repeated = learner.fit(side_of(twice), Target(SEVERAL_CLASSES, labels))
    new = rows[:7] + 0.2
    decided = fitted.decide(new if on is on_features else gram_of(new, rows))
    expected = repeated.decide(new if on is on_features else gram_of(new, twice))
    np.testing.assert_allclose(decided, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_the_chosen_C_takes_equal_rows_for_one(seed):
    # Of fixed examples: where all α are at their bounds, rounding decides libsvm's bias.
    rows, y, often = problem(seed, n_rows=24)
    rows[:, 0] -= 0.5 * y
    twice, labels = rows.repeat(often, axis=0), y.repeat(often)
    order = np.random.default_rng(seed).permutation(len(twice))
    for side_of in (FeatureSide, lambda a: GramSide(gram_of(a, a))):
        weighted = choose_C(side_of(rows), Target.two_classes(y, often.astype(float)))
        assert np.isclose(
            weighted, choose_C(side_of(twice[order]), Target.two_classes(labels[order]))
        )


def test_graphs_of_the_user_have_no_weights():
    rows, y, often = problem(0)
    with pytest.raises(IncompatibleError, match="with custom graphs"):
        on_gram(KDA(graphs=lambda labels: None), rows, y, rows, often.astype(float))


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_a_product_with_the_class_weight_that_is_no_number_is_refused(size):
    data = TrainingData(np.eye(2), np.array([0, 1]), np.array([1.0, size]))
    with pytest.raises(DataError, match="Sample weights"):
        data.with_class_weights(np.array([1.0, size]))
