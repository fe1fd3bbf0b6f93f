"""Leave-one-out errors of representations against ridge regressions fitted again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from mklkit.estimators.proposing import RIDGES, Candidate, Judge, is_clear
from mklkit.estimators.training_data import TrainingData
from mklkit.numerics.ridge import LeftOut
from mklkit.protocols import NUMBERS, TWO_CLASSES, Rows
from mklkit.registry.columns import bind_kernels

N, GROUPS = 24, 6


def judge_of(
    X: np.ndarray,
    targets: np.ndarray,
    weights: Any = None,
    groups: Any = None,
    landmarks: Any = None,
) -> Judge:
    codes = np.zeros(len(X), np.intp)
    return Judge(Rows.of(X), targets, codes, weights, groups, landmarks, len(X))


def refitted(
    features: np.ndarray, targets: np.ndarray, alpha: float, weights: np.ndarray, groups: Any
) -> np.ndarray:
    """Return the squared errors (N,) of each sample, times its weight, by refits.

    A sample is left out with all of its weight, and a group as a whole.
    """
    errors = np.zeros(len(features))
    for place in range(len(features)):
        kept = weights.copy()
        kept[place if groups is None else groups == groups[place]] = 0
        some = kept > 0
        fit = Ridge(alpha=alpha).fit(features[some], targets[some], kept[some])
        errors[place] = (
            weights[place] * ((targets[place] - fit.predict(features[[place]])[0]) ** 2).sum()
        )
    return errors


def best_refitted(
    features: np.ndarray, targets: np.ndarray, weights: Any = None, groups: Any = None
) -> np.ndarray:
    """Return the errors at the ridge of least sum, a multiple of the mean squared distance."""
    weights = np.ones(len(features)) if weights is None else weights
    mean = np.average(features, axis=0, weights=weights)
    spread = (weights * ((features - mean) ** 2).sum(axis=1)).sum() / len(features)
    by_ridge = [refitted(features, targets, r * spread, weights, groups) for r in RIDGES]
    return min(by_ridge, key=np.sum)


@pytest.fixture(params=["classes", "numbers"])
def problem(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return samples, and their three classes as indicators, or two numbers each."""
    X = rng.normal(size=(N, 5))
    if request.param == "classes":
        return X, np.eye(3)[np.digitize(X[:, 0] + rng.normal(size=N), [-0.5, 0.5])]
    return X, X[:, :2] + rng.normal(size=(N, 2))


@pytest.mark.parametrize("grouped", [False, True], ids=["one", "group"])
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
@pytest.mark.parametrize("n_landmarks", [None, N], ids=["exact", "landmarks"])
def test_errors_are_those_of_refits(
    problem: Any, weighted: bool, grouped: bool, n_landmarks: int | None, rng: np.random.Generator
) -> None:
    X, targets = problem
    weights = rng.integers(1, 4, N).astype(float) if weighted else None
    groups = rng.permutation(np.arange(N) % GROUPS) if grouped else None
    landmarks = None if n_landmarks is None else np.arange(n_landmarks)
    judge = judge_of(X, targets, weights, groups, landmarks)
    result = judge.left_out(X @ X.T)
    expected = best_refitted(X, targets, weights, groups)
    np.testing.assert_allclose(result.errors, expected, rtol=1e-6)


def test_samples_without_the_source_do_not_count(problem: Any, rng: np.random.Generator) -> None:
    X, targets = problem
    weights, groups = rng.integers(1, 3, N).astype(float), np.arange(N) % GROUPS
    missing = np.arange(N) % 5 == 1
    gram = np.where(missing[:, None] | missing, 0.0, X @ X.T)
    result = judge_of(X, targets, weights, groups).left_out(gram, missing)
    has = ~missing
    expected = best_refitted(X[has], targets[has], weights[has], groups[has])
    np.testing.assert_allclose(result.errors, expected, rtol=1e-6)


def test_few_landmarks_are_ridge_regression_on_their_features(problem: Any) -> None:
    X, targets = problem
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    gram = np.exp(-squared / squared.mean())
    landmarks = np.arange(0, N, 4)
    between, own = gram[:, landmarks], gram[np.ix_(landmarks, landmarks)]
    features = between @ np.linalg.inv(np.linalg.cholesky(own)).T
    result = judge_of(X, targets, landmarks=landmarks).left_out(between)
    np.testing.assert_allclose(result.errors, best_refitted(features, targets), rtol=1e-6)


def test_shares_are_relative_to_the_mean_of_all_other_samples(problem: Any) -> None:
    X, targets = problem
    judge = judge_of(X, targets)
    missing = np.arange(N) % 3 == 0
    for mask, present in ((None, targets), (missing, targets[~missing])):
        size = len(present)
        means = [np.delete(present, place, 0).mean(axis=0) for place in range(size)]
        error = ((present - means) ** 2).sum()
        # Samples that miss the source are left out of both.
        assert judge.ratio(np.full(size, 0.25 * error / size), mask) == pytest.approx(0.25)
        assert judge.share(np.full(size, 0.25 * error / size), mask) == "0.25"


@pytest.mark.parametrize("grouped", [False, True])
def test_better_by_two_standard_errors_of_paired_differences(
    grouped: bool, rng: np.random.Generator
) -> None:
    groups = np.arange(N) % GROUPS if grouped else None
    judge = judge_of(rng.normal(size=(N, 2)), np.eye(2)[np.arange(N) % 2], groups=groups)
    (source,) = bind_kernels("rbf")
    usual = rng.random(N)

    def clear(gains: np.ndarray) -> bool:
        first, second = (
            Candidate(source, source, np.eye(N), LeftOut(errors, 1.0))
            for errors in (usual, usual - gains)
        )
        return is_clear(first, second, judge)

    noise = rng.normal(size=N)
    units = noise if groups is None else np.bincount(groups, noise)
    n_units = len(units)
    per_unit = 1.0 if groups is None else np.bincount(groups).mean()
    # Adding a constant to each sample moves the mean of units and hardly their deviation.
    middle = (2 * units.std() / np.sqrt(n_units) - units.mean()) / per_unit
    assert not clear(noise + middle - 0.2)
    assert clear(noise + middle + 0.2)


class TestTargets:
    """What is predicted."""

    def test_classes_have_an_indicator_each(self, rng: np.random.Generator) -> None:
        codes = np.arange(9) % 3
        judge = Judge.of(TrainingData(Rows.of(rng.normal(size=(9, 2))), codes), TWO_CLASSES)
        np.testing.assert_array_equal(judge.targets, np.eye(3)[codes])

    @pytest.mark.parametrize("shape", [(9,), (9, 2)])
    def test_numbers_have_mean_zero_and_deviation_one(
        self, shape: tuple[int, ...], rng: np.random.Generator
    ) -> None:
        values = 1e3 + 1e2 * rng.normal(size=shape)
        judge = Judge.of(TrainingData(Rows.of(rng.normal(size=(9, 2))), values), NUMBERS)
        expected = StandardScaler().fit_transform(values.reshape(9, -1))
        np.testing.assert_allclose(judge.targets, expected)
