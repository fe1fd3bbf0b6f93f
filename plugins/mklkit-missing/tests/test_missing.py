"""Completion and models per pattern, beside transcriptions row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_missing import Complete, Completion, PerPattern
from scipy.optimize import minimize
from sklearn.svm import SVC

from mklkit import DataError, IncompatibleError, MKLClassifier, MKLRegressor
from mklkit.persistence import load_model, save_model

GAMMAS = (0.3, 0.2, 0.5)
COLUMNS = (slice(0, 3), slice(3, 5), slice(5, 9))
KERNELS = [
    f"{n}:rbf(gamma={g})@{c.start}:{c.stop}" for n, g, c in zip("abc", GAMMAS, COLUMNS, strict=True)
]


@parametrize_with_component_checks([Complete, PerPattern])
def test_strategies_do_what_mklkit_asks(check):
    check()


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(90) < 0.45, 1, -1)
    X = rng.normal(size=(90, 9)) + 0.5 * y[:, None]
    for row in range(90):
        for source in rng.permutation(3)[: rng.integers(0, 3)]:
            X[row, COLUMNS[source]] = np.nan
    return X[:60], y[:60], X[60:]


def has(X):
    return np.column_stack([~np.isnan(X[:, c]).any(axis=1) for c in COLUMNS])


def rbf(A, B, m):
    d = np.square(A[:, None, COLUMNS[m]] - B[None, :, COLUMNS[m]]).sum(axis=2)
    return np.nan_to_num(np.exp(-GAMMAS[m] * d))


def test_a_row_is_decided_by_the_model_of_its_sources(rows):
    X, y, new = rows
    model = MKLClassifier(KERNELS, missing="per-pattern", learner="svm(C=2.0)").fit(X, y)
    values = model.decision_function(new)
    for row, value in zip(new, values, strict=True):
        used = np.flatnonzero(has(row[None])[0])
        members = np.flatnonzero(has(X)[:, used].all(axis=1))
        gram = np.mean([rbf(X[members], X[members], m) for m in used], axis=0)
        svm = SVC(C=2.0, kernel="precomputed", tol=1e-6).fit(gram, y[members])
        columns = np.mean([rbf(row[None], X[members], m) for m in used], axis=0)
        assert value == pytest.approx(svm.decision_function(columns)[0], abs=3e-3)


def test_a_pattern_that_training_lacks_has_the_model_of_its_largest_part(rows):
    X, y, _ = rows
    kept = ~(has(X) == [True, True, False]).all(axis=1)
    model = MKLClassifier(KERNELS, missing="per-pattern").fit(
        X[kept & has(X)[:, 2]], y[kept & has(X)[:, 2]]
    )
    row = X[has(X)[:, :2].all(axis=1)][:1].copy()
    row[:, 5:] = np.nan
    assert np.isfinite(model.decision_function(row)).all()


def test_completion_is_the_regression_on_the_other_sources_in_turn(rows):
    X, _, _ = rows
    there, grams = has(X), [rbf(X, X, m) for m in range(3)]
    completion = Completion.of(grams, there, 0.1, 2)
    kernels, known = grams, there
    whole = np.flatnonzero(there.all(axis=1))
    shares = np.zeros((3, 3))
    for m in range(3):
        others = [o for o in range(3) if o != m]

        def misfit(s, m=m, others=others):
            parts = [w * grams[o] for w, o in zip(s, others, strict=True)]
            error = grams[m] - sum(parts)
            return sum(error[i, j] ** 2 for i in whole for j in whole if i < j)

        s = minimize(misfit, [0.5, 0.5], bounds=[(0, None)] * 2, method="L-BFGS-B", tol=1e-12).x
        s = np.maximum(s, 0.1 * s.mean())
        shares[m, others] = s / s.sum()
    np.testing.assert_allclose(completion.shares, shares, atol=1e-4)
    for _ in range(2):
        after = []
        for m in range(3):
            members = np.flatnonzero(there[:, m])

            def mean(i, j, of_row, s=completion.shares[m], kernels=kernels, known=known):
                both = [o for o in range(3) if of_row[i, o] and known[j, o]]
                value = sum(s[o] * kernels[o][i, j] for o in both)
                parts = [sum(s[mask[k]]) or 1 for mask, k in ((of_row, i), (known, j))]
                return value / np.sqrt(parts[0] * parts[1])

            among = np.array([[mean(i, j, known) for j in members] for i in members])
            among += 0.1 * np.diag(among).mean() * np.eye(len(members))
            images = np.eye(len(X)) * there[:, m]
            for i in np.flatnonzero(~there[:, m]):
                beside = np.array([mean(i, j, there) for j in members])
                images[i, members] = np.linalg.solve(among, beside)
            after.append(images @ grams[m] @ images.T)
        kernels, known = after, np.ones_like(there)
    for completed, expected in zip(completion.similar, kernels, strict=True):
        np.testing.assert_allclose(completed, expected, atol=1e-8)
        assert np.linalg.eigvalsh(completed).min() > -1e-9
    # A training row that comes again is completed as it was.
    again = completion.coefficients(grams, there)
    np.testing.assert_allclose(again, completion.roots, atol=1e-8)


def test_an_unlike_source_has_a_tenth_of_the_mean_and_few_complete_rows_equal_shares():
    first, second = np.random.default_rng(3).normal(size=(2, 12, 2))
    there = np.ones((12, 3), bool)
    there[0, 1] = False
    grams = [first @ first.T, there[:, 1:2] * (first @ first.T) * there[:, 1], second @ second.T]
    shares = Completion.of(grams, there, 0.1, 2).shares
    # The first source is a copy of the second: least squares give the third nothing.
    np.testing.assert_allclose(shares[0], np.array([0, 1, 0.05]) / 1.05, atol=1e-9)
    np.testing.assert_allclose(shares[1], np.array([1, 0, 0.05]) / 1.05, atol=1e-9)
    there[2:] = [True, True, False]
    shares = Completion.of(grams, there, 0.1, 2).shares
    np.testing.assert_allclose(shares, (1 - np.eye(3)) / 2)


@pytest.mark.parametrize("missing", ["complete", "per-pattern"])
@pytest.mark.parametrize("combiner", ["uniform", "alignment", "dimkl3"])
def test_rows_alone_shuffled_and_loaded_have_the_same_values(rows, missing, combiner, tmp_path):
    X, y, new = rows
    model = MKLClassifier(KERNELS, missing=missing, combiner=combiner).fit(X, y)
    values = model.decision_function(new)
    alone = np.concatenate([model.decision_function(row[None]) for row in new])
    np.testing.assert_allclose(alone, values, atol=1e-8)
    save_model(model, tmp_path / "model.mkl")
    np.testing.assert_array_equal(load_model(tmp_path / "model.mkl").decision_function(new), values)
    assert (model.predict(X) == y).mean() > 0.7


@pytest.mark.parametrize("missing", ["complete", "per-pattern"])
def test_rows_that_have_everything_are_those_of_the_plain_sum(rows, missing):
    X, y, _ = rows
    X = np.where(np.isnan(X), 0.3, X)
    plain, wrapped = (MKLClassifier(KERNELS, missing=m).fit(X, y) for m in ("present", missing))
    np.testing.assert_allclose(wrapped.decision_function(X), plain.decision_function(X), atol=1e-6)


def test_numbers_are_learned_and_features_and_text_refused(rows):
    X, y, new = rows
    for missing in ("complete", "per-pattern"):
        model = MKLRegressor(KERNELS, missing=missing).fit(X, y + 0.1)
        assert np.isfinite(model.predict(new)).all()
    two = MKLRegressor(KERNELS, missing="per-pattern").fit(X, np.column_stack([y, 2 * y]))
    one = MKLRegressor(KERNELS, missing="per-pattern").fit(X, y)
    np.testing.assert_allclose(two.predict(new)[:, 0], one.predict(new), atol=1e-6)
    with pytest.raises(IncompatibleError, match="implicit"):
        MKLClassifier(KERNELS, missing="complete", feature_map="fourier", learner="mhks").fit(X, y)
    frame = pd.DataFrame({"text": ["a b", None] * 30, "x": y + 0.1 * np.arange(60)})
    with pytest.raises(IncompatibleError, match=r"'complete' .*'t' reads text"):
        MKLClassifier(["t:token-set@text", "x:rbf@x"], missing="complete").fit(frame, y)


def test_several_classes_at_once_are_decided_by_models_that_know_all(rows):
    X, y, new = rows
    three = np.where(np.arange(60) % 3, y, 2)
    X[three == 2, 5:] = np.nan
    X[three == 2, :5] = 0
    model = MKLClassifier(KERNELS, missing="per-pattern", learner="kda", multiclass="native")
    assert model.fit(X, three).decision_function(new).shape == (30, 3)


def test_a_row_whose_sources_have_no_model_has_the_mean(rows):
    X, y, _ = rows
    X[:, :5], X[1:, 5:] = 1.0 * y[:, None], np.nan
    row = np.full((1, 9), np.nan)
    row[:, 5:] = 0.0
    model = MKLRegressor(KERNELS, missing="per-pattern").fit(X, y + 5.0)
    assert model.predict(row) == pytest.approx(np.mean(y + 5.0))


def test_patterns_without_two_classes_or_a_part_of_the_kernels_are_refused(rows):
    X, y, _ = rows
    X[:] = 1.0
    X[y > 0, :5], X[y < 0, 5:] = np.nan, np.nan
    with pytest.raises(DataError, match="per-pattern"):
        MKLClassifier(KERNELS, missing="per-pattern").fit(X, y)
    for combiner in ("svm2k", "given(weights=[1, 2])"):
        with pytest.raises(IncompatibleError, match=combiner[:5]):
            MKLClassifier(KERNELS[1:], missing="per-pattern", combiner=combiner).fit(X, y)


def test_a_source_that_no_row_has_is_completed_without_a_warning(rows, recwarn):
    X, y, new = rows
    X[:, :3], X[:, 3:] = np.nan, np.nan_to_num(X[:, 3:])
    model = MKLClassifier(KERNELS, missing="complete").fit(X, y)
    assert np.isfinite(model.decision_function(new)).all()
    assert not [w for w in recwarn if w.category is RuntimeWarning]
