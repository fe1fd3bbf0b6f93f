"""Vote and average by hand, and beside the single kernels' decisions."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_fusion import AverageScores, Vote

from mklkit import DataError, MKLClassifier

KERNELS = ["linear", "rbf(gamma=0.3)", "polynomial(degree=2)", "laplacian(gamma=0.2)"]


def two_classes(n_rows=70):
    rng = np.random.default_rng(7)
    y = np.where(np.arange(n_rows) % 5 < 2, "no", "yes")
    rows = rng.normal(size=(n_rows, 4))
    rows[:, :2] += np.where(y == "yes", 0.7, -0.7)[:, None]
    return rows, y, rng.normal(size=(300, 4))


def single_scores(rows, y, new, kernels):
    return np.column_stack([MKLClassifier(k).fit(rows, y).decision_function(new) for k in kernels])


@pytest.mark.parametrize(
    ("scores", "positive"),
    [
        ([0.1, 0.2, -50.0], True),
        ([-0.1, -0.2, 50.0], False),
        ([1e-9, 1e-9, 1e-9, -1e200, -1e200], True),
        ([0.1, -3.0], False),
        ([3.0, -0.1], True),
        ([2.0, 0.0, 0.0, -1.0], True),
        ([0.0, 0.0], False),
    ],
)
def test_votes_by_hand(scores, positive):
    assert (Vote().fuse(np.array([scores]))[0] > 0) == positive


@pytest.mark.parametrize("n_kernels", [2, 5, 9])
def test_a_row_with_more_votes_ranks_above_one_with_fewer(n_kernels):
    rng = np.random.default_rng(1)
    signs = rng.choice([-1, 1], size=(500, n_kernels))
    # The minority is sure, and the majority hardly above zero.
    sure = np.sign(signs.sum(axis=1, keepdims=True)) != signs
    scores = signs * 10 ** (rng.uniform(0, 9, size=signs.shape) * np.where(sure, 1, -1))
    values, votes = Vote().fuse(scores), np.sign(scores).sum(axis=1)
    more = votes[:, None] > votes[None, :]
    assert (values[:, None] > values[None, :])[more].all()


def test_rounding_casts_no_vote():
    values = Vote().fuse(np.array([[1e-17, 1e-17], [-1e-17, 0.0]]))
    np.testing.assert_allclose(values, 0, atol=1e-12)


def test_averages_by_hand():
    scores = np.array([[3.0, -1.0], [0.75, -1e200]])
    np.testing.assert_allclose(AverageScores().fuse(scores), [1.0, -5e199])
    expected = [(3 / 10**0.5 - 1 / 2**0.5) / 2, (0.6 - 1) / 2]
    np.testing.assert_allclose(AverageScores(squash=True).fuse(scores), expected)


def test_the_vote_of_three_kernels_is_the_majority_of_their_predictions():
    rows, y, new = two_classes()
    model = MKLClassifier(KERNELS[:3], combiner="vote").fit(rows, y)
    votes = (single_scores(rows, y, new, KERNELS[:3]) > 0).sum(axis=1)
    assert {0, 1, 2, 3} >= set(votes) > {1, 2}
    np.testing.assert_array_equal(model.predict(new), np.where(votes >= 2, "yes", "no"))


@pytest.mark.parametrize("squash", [False, True])
def test_the_average_is_that_of_single_kernels(squash):
    rows, y, new = two_classes()
    model = MKLClassifier(KERNELS, combiner="average-scores")
    model.set_params(combiner__squash=squash).fit(rows, y)
    scores = single_scores(rows, y, new, KERNELS)
    scores = scores / np.sqrt(1 + scores**2) if squash else scores
    np.testing.assert_allclose(model.decision_function(new), scores.mean(axis=1), atol=1e-8)
    np.testing.assert_allclose(model.weights_, [[0.25] * 4])
    parts = model.decision_function(new, split=True)
    np.testing.assert_allclose(parts[:, :4], scores / 4, atol=1e-8)


@pytest.mark.filterwarnings("ignore::mklkit.MKLKitWarning")
@pytest.mark.parametrize("learner", ["svm", "kmhks"])
def test_far_from_one_a_fit_is_finite_or_refused_in_our_words(learner):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    X = (X * 1e18).astype(np.float32)
    model = MKLClassifier(combiner="average-scores", learner=learner)
    try:
        model.fit(X, y)
    except DataError as error:
        assert "scale the data" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(model.decision_function(X)).all()
