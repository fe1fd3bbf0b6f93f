"""Rows that lack a source, beside a transcription of the formula pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracles.blocks import dimkl_score
from scipy.optimize import least_squares
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import mklkit
from mklkit import (
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    MKLVotingClassifier,
)
from mklkit.errors import DataError
from mklkit.persistence import load_model, save_model

GAMMAS = (0.3, 0.2, 0.5)
COLUMNS = (slice(0, 3), slice(3, 5), slice(5, 9))
KERNELS = [
    f"{name}:rbf(gamma={g})@{c.start}:{c.stop}"
    for name, g, c in zip("abc", GAMMAS, COLUMNS, strict=True)
]
SVM = "svm(C=2.0)"


def incomplete_rows(rng: np.random.Generator, n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three sources of which each row has one to three, and labels −1 and +1."""
    y = np.where(rng.random(n_rows) < 0.45, 1, -1)
    X = rng.normal(size=(n_rows, 9)) + 0.5 * y[:, None]
    for row in range(n_rows):
        for source in rng.permutation(3)[: rng.integers(0, 3)]:
            X[row, COLUMNS[source]] = np.nan
    return X, y


def has(row: np.ndarray, source: int) -> bool:
    return not np.isnan(row[COLUMNS[source]]).any()


def composite(A: np.ndarray, B: np.ndarray, weights: Any) -> np.ndarray:
    """K(x, z) = Σ w_m a_m(x) a_m(z) k_m(x, z) / √(s(x) s(z)), one pair after another."""
    values = np.zeros((len(A), len(B)))
    for i, x in enumerate(A):
        for j, z in enumerate(B):
            for m, weight in enumerate(weights):
                if has(x, m) and has(z, m):
                    d = x[COLUMNS[m]] - z[COLUMNS[m]]
                    values[i, j] += weight * np.exp(-GAMMAS[m] * d @ d)
            sums = [sum(w for m, w in enumerate(weights) if has(row, m)) for row in (x, z)]
            values[i, j] /= np.sqrt(sums[0] * sums[1])
    return values


@pytest.fixture
def halves(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    X, y = incomplete_rows(rng, 90)
    return X[:60], y[:60], X[60:]


@pytest.mark.parametrize("combiner", ["uniform", "alignment", "centered-alignment", "dimkl3"])
def test_decisions_are_those_of_the_composite(halves: Any, combiner: str) -> None:
    X, y, new = halves
    model = MKLClassifier(KERNELS, combiner=combiner, learner=SVM).fit(X, y)
    weights = model.weights_[0]
    svm = SVC(C=2.0, kernel="precomputed", tol=1e-6).fit(composite(X, X, weights), y)
    expected = svm.decision_function(composite(new, X, weights))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=2e-3)


@pytest.mark.parametrize("combiner", ["alignment", "centered-alignment", "dimkl2", "dimkl3"])
def test_rules_score_a_kernel_on_the_rows_that_have_its_source(halves: Any, combiner: str) -> None:
    X, y, _ = halves
    together = MKLClassifier(KERNELS, combiner=combiner).fit(X, y).weights_[0]
    from mklkit.registry.registry import get_registry
    from mklkit.views.bound_kernels import BoundKernel
    from mklkit.views.view_set import ViewSet

    registry, scores = get_registry(), []
    rule, implicit = (
        registry.create("combiner", combiner),
        registry.create("feature_map", "implicit"),
    )
    for m, gamma in enumerate(GAMMAS):
        members = [row for row in range(len(X)) if has(X[row], m)]
        kernel = BoundKernel("", registry.create("kernel", f"rbf(gamma={gamma})"))
        rows = np.ascontiguousarray(X[members][:, COLUMNS[m]])
        views = ViewSet.fit([kernel], implicit, rows, np.random.RandomState(0))
        scores.append(rule.weights(views, y[members].astype(float))[0])
    np.testing.assert_allclose(together, np.array(scores) / sum(scores), rtol=1e-9)


def test_the_sum_is_definite_with_ones_on_its_diagonal(halves: Any) -> None:
    X, _, new = halves
    model = mklkit.MKLTransformer(KERNELS)
    gram = model.fit_transform(X)
    np.testing.assert_allclose(gram, composite(X, X, [1 / 3] * 3), atol=1e-12)
    assert (gram == gram.T).all()
    assert np.linalg.eigvalsh(gram).min() > -1e-10
    np.testing.assert_allclose(np.diag(gram), 1)
    np.testing.assert_allclose(model.transform(new), composite(new, X, [1 / 3] * 3), atol=1e-12)


@pytest.mark.parametrize("combiner", ["uniform", "alignment"])
def test_features_have_the_composite_as_inner_products(halves: Any, combiner: str) -> None:
    X, y, new = halves
    model = mklkit.MKLTransformer(KERNELS, combiner=combiner, feature_map="empirical").fit(X, y)
    features, others = model.transform(X), model.transform(new)
    expected = composite(X, X, model.weights_[0])
    np.testing.assert_allclose(model.fit_transform(X, y), features, atol=1e-9)
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-8)
    # A new row is seen in the span of the training rows that have its sources.
    assert (np.square(others).sum(axis=1) <= 1 + 1e-8).all()
    rows = np.tile(new, (5, 1))  # enough for maps to be folded into coefficients
    mhks = MKLClassifier(KERNELS, combiner=combiner, feature_map="empirical", learner="mhks")
    decided = mhks.fit(X, y).decision_function(rows)
    of_gram = MKLClassifier(KERNELS, combiner=combiner, learner="kmhks").fit(X, y)
    np.testing.assert_allclose(decided, np.tile(mhks.decision_function(new), 5), atol=1e-9)
    assert np.mean(np.sign(decided[: len(new)]) == np.sign(of_gram.decision_function(new))) > 0.9


@pytest.mark.parametrize("missing", ["present", "present-centered", "impute"])
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"feature_map": "fourier(n_components=64)", "learner": "mhks"},
        {"feature_map": "empirical(subset=20)", "learner": "ridge", "combiner": "alignment"},
        {"feature_map": "empirical", "combiner": "ifsl", "learner": "mhks"},
        {"combiner": "ifsl", "learner": "kmhks"},
        {"learner": "kda"},
        {"combiner": "best-single"},
        {"combiner": "cluster-gating", "learner": "kda"},
    ],
)
def test_one_row_alone_has_the_values_that_it_has_among_others(
    halves: Any, parts: dict[str, str], missing: str, tmp_path: Path
) -> None:
    X, y, new = halves
    if missing == "present-centered" and parts.get("feature_map", "").startswith("fourier"):
        pytest.skip("Fourier features are of rbf kernels alone")
    model = MKLClassifier(KERNELS, missing=missing, random_state=0, **parts).fit(X, y)
    values = model.decision_function(new)
    assert np.isfinite(values).all()
    alone = [model.decision_function(row[None])[0] for row in new]
    shuffled = np.random.default_rng(0).permutation(len(new))
    many = model.decision_function(np.tile(new, (40, 1)))[-len(new) :]
    for others in (alone, model.decision_function(new[shuffled])[np.argsort(shuffled)], many):
        np.testing.assert_allclose(others, values, atol=1e-9)
    save_model(model, tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(loaded.decision_function(new), values)


def test_centered_kernels_have_the_mean_of_the_rows_that_have_the_source(halves: Any) -> None:
    X, y, _ = halves
    model = MKLClassifier(KERNELS, missing="present-centered", learner=SVM).fit(X, y)
    gram = np.zeros((len(X), len(X)))
    lacks = np.array([[not has(row, m) for m in range(3)] for row in X])
    for m in range(3):
        members = np.flatnonzero(~lacks[:, m])
        part = composite(X[members], X[members], np.eye(3)[m])
        part = part - part.mean(axis=0) - part.mean(axis=1)[:, None] + part.mean()
        gram[np.ix_(members, members)] += part
    root = np.sqrt((~lacks).sum(axis=1))
    gram /= np.outer(root, root)
    svm = SVC(C=2.0, kernel="precomputed", tol=1e-6).fit(gram, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(gram), atol=2e-3)


def test_single_gaps_become_the_median_of_the_rows_that_have_the_source(halves: Any) -> None:
    X, y, new = halves
    gappy = X.copy()
    row = next(row for row in range(len(X)) if has(X[row], 0))
    gappy[row, 0] = np.nan
    filled = gappy.copy()
    filled[row, 0] = np.nanmedian(gappy[:, 0])
    models = [MKLClassifier(KERNELS).fit(rows, y) for rows in (gappy, filled)]
    np.testing.assert_array_equal(*(model.decision_function(new) for model in models))


@pytest.mark.parametrize("kernel", ["rbf", "rbf(sigma='median')", "laplacian", "cosine(linear)"])
def test_a_kernel_is_fitted_to_the_rows_that_have_its_source(halves: Any, kernel: str) -> None:
    X, y, _ = halves
    members = [row for row in range(len(X)) if has(X[row], 0)]
    widths = [
        MKLClassifier(bank).fit(rows, labels).decisions_[0].projectors[0].map.kernel
        for bank, rows, labels in (
            ([f"{kernel}@0:3", "linear@3:5", "linear@5:9"], X, y),
            ([kernel], X[members][:, :3], y[members]),
        )
    ]
    assert widths[0] == widths[1]


def test_complete_rows_alone_and_what_a_new_row_may_lack(halves: Any) -> None:
    X, y, new = halves
    complete = ~np.isnan(X).any(axis=1)
    model = MKLClassifier(KERNELS, missing="drop").fit(X, y)
    there = new[~np.isnan(new).any(axis=1)]
    expected = MKLClassifier(KERNELS).fit(X[complete], y[complete])
    np.testing.assert_array_equal(model.decision_function(there), expected.decision_function(there))
    with pytest.raises(DataError, match="present"):
        model.predict(new)
    # A model of complete rows takes rows that lack sources too, one source alone included.
    assert np.isfinite(expected.decision_function(new)).all()
    # A single gap gets the median of the training rows.
    gap, filled = (
        np.where(np.arange(9) == 1, value, there[:1])
        for value in (np.nan, np.median(X[complete, 1]))
    )
    np.testing.assert_array_equal(
        expected.decision_function(gap), expected.decision_function(filled)
    )


def test_a_row_without_any_source_has_the_frequencies_of_the_classes(halves: Any) -> None:
    X, y, new = halves
    model = MKLClassifier(KERNELS, probability=True, random_state=0).fit(X, y)
    rows = new.copy()
    rows[3] = np.nan
    with pytest.raises(DataError, match="Sample 3"):
        model.predict(rows)
    probabilities = model.predict_proba(rows)
    np.testing.assert_allclose(probabilities[3], [np.mean(y == -1), np.mean(y == 1)])
    np.testing.assert_allclose(probabilities[:3], model.predict_proba(new[:3]))
    with pytest.raises(DataError, match="Sample 3"):
        MKLClassifier(KERNELS).fit(rows, y[: len(rows)])


def test_counts_are_told_by_source_and_class(halves: Any) -> None:
    X, y, _ = halves
    X = np.where(np.isnan(X), 0.0, X)
    X[y > 0, :3] = np.nan
    notes = " ".join(MKLClassifier(KERNELS).fit(X, np.where(y > 0, "ill", "well")).choices_)
    assert f"{(y > 0).sum()} of 60 samples lack a (ill 100 %, well 0 %)" in notes
    assert "predicts the class" in notes


def test_numbers_several_classes_outliers_votes_and_searches(halves: Any) -> None:
    X, y, new = halves
    codes = np.arange(len(X)) % 3
    for model, target in (
        (
            MKLRegressor(KERNELS, combiner="centered-alignment"),
            X[:, 3:].sum(axis=1, where=~np.isnan(X[:, 3:])),
        ),
        (MKLRegressor(KERNELS, learner="svr"), np.nan_to_num(X[:, 0])),
        (MKLClassifier(KERNELS, probability=True), codes),
        (MKLOneClass(KERNELS), None),
        (MKLVotingClassifier(MKLClassifier(KERNELS, feature_map="empirical(subset=15)")), y),
        (MKLSearchCV(MKLClassifier(KERNELS), {"missing": ["impute", "present"]}, cv=3), y),
        (MKLSearchCV(MKLClassifier(KERNELS, learner="svm"), cv=3), y),
        (MKLClassifier("auto"), y),
    ):
        fitted = model.fit(
            pd.DataFrame(X, columns=[f"{c}_{i}" for i, c in enumerate("aaabbcccc")])
            if getattr(model, "kernels", None) == "auto"
            else X,
            target,
        )
        rows = (
            pd.DataFrame(new, columns=fitted.feature_names_in_)
            if "feature_names_in_" in vars(fitted)
            else new
        )
        assert len(fitted.predict(rows)) == len(new)


@pytest.mark.parametrize("labels", [False, True], ids=["numbers", "labels"])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical(subset=12)"])
def test_coupled_views_minimize_over_the_rows_that_they_have(
    halves: Any, labels: bool, feature_map: str
) -> None:
    X, y, _ = halves
    target = y.astype(float) if labels else np.nan_to_num(X[:, 0]) + y
    lam, alpha, mu = 0.7, 0.3, np.array([1.0, 2.0, 1.5])
    name = ("kmhks" if feature_map == "implicit" else "mhks") if labels else "ridge"
    model = (MKLClassifier if labels else MKLRegressor)(
        KERNELS,
        combiner=f"ifsl(lam={lam}, weights=(1, 2, 1.5), rule='gradient')",
        learner=f"{name}(alpha={alpha}, tol=1e-11, max_iter=9000)",
        feature_map=feature_map,
        random_state=0,
    ).fit(X, target)
    there = np.array([[has(row, m) for m in range(3)] for row in X])
    features = []
    for projector, members in zip(model.decisions_[0].projectors, there.T, strict=True):
        values = projector.transform(X)[members]
        if feature_map == "implicit":  # of similarities among the rows that have the source
            pairs = np.linalg.eigh(values)
            values = pairs.eigenvectors * np.sqrt(np.maximum(pairs.eigenvalues, 0))
        features.append(np.zeros((len(X), values.shape[1])))
        features[-1][members] = values
    ends = np.cumsum([values.shape[1] + 1 for values in features])

    def functions(theta: np.ndarray) -> np.ndarray:
        parts = zip(features, np.split(theta, ends[:-1]), strict=True)
        return np.column_stack([values @ part[:-1] + part[-1] for values, part in parts])

    def means(f: np.ndarray) -> np.ndarray:
        return (there * mu * f).sum(axis=1) / (there * mu).sum(axis=1)

    def residuals(theta: np.ndarray) -> np.ndarray:
        f = functions(theta)
        misfits = np.maximum(0, 1 - target[:, None] * f) if labels else f - target[:, None]
        spreads = np.sqrt(lam) * (f - means(f)[:, None])
        ridges = [np.sqrt(alpha) * part[:-1] for part in np.split(theta, ends[:-1])]
        return np.concatenate([misfits[there], spreads[there], *ridges])

    expected = means(functions(least_squares(residuals, np.zeros(ends[-1])).x))
    fitted = model.decision_function(X) if labels else model.predict(X)
    np.testing.assert_allclose(fitted, expected, atol=2e-3)


# Of 1,200 features, the products of each pattern of sources take more than 128 MiB.
@pytest.mark.parametrize("n_components", [16, 400])
@pytest.mark.parametrize("combiner", ["alignment", "centered-alignment"])
def test_one_pass_has_the_alignments_of_each_kernels_rows_and_the_scaled_features(
    halves: Any, combiner: str, n_components: int
) -> None:
    X, y, new = halves
    model = MKLClassifier(
        KERNELS,
        combiner=combiner,
        feature_map=f"fourier(n_components={n_components})",
        learner="ridge(alpha=0.5)",
        random_state=0,
    ).fit(X, y)
    projectors = model.decisions_[0].projectors
    scores = []
    for m, projector in enumerate(projectors):
        members = [row for row in range(len(X)) if has(X[row], m)]
        features, labels = projector.transform(X)[members], y[members].astype(float)
        if combiner == "centered-alignment":
            features, labels = features - features.mean(axis=0), labels - labels.mean()
        gram = features @ features.T
        scores.append(labels @ gram @ labels / np.linalg.norm(gram) / (labels @ labels))
    weights = model.weights_[0]
    np.testing.assert_allclose(weights, np.array(scores) / sum(scores), rtol=1e-9)

    def side_by_side(rows: np.ndarray) -> np.ndarray:
        there = np.array([[has(row, m) for m in range(3)] for row in rows])
        parts = [np.nan_to_num(p.transform(rows)) * there[:, [m]] for m, p in enumerate(projectors)]
        scaled = [np.sqrt(w) * part for w, part in zip(weights, parts, strict=True)]
        return np.hstack(scaled) / np.sqrt(there @ weights)[:, None]

    expected = Ridge(alpha=0.5).fit(side_by_side(X), y).predict(side_by_side(new))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-9)


@pytest.mark.parametrize("n_components", [16, 400])
@pytest.mark.parametrize("number", [3, 5])
def test_one_pass_has_the_quadrants_of_the_rows_that_have_the_source(
    halves: Any, number: int, n_components: int
) -> None:
    X, y, _ = halves
    feature_map = f"fourier(n_components={n_components})"
    model = MKLClassifier(
        KERNELS, combiner=f"dimkl{number}", feature_map=feature_map, random_state=0
    ).fit(X, y)
    scores = []
    for m, projector in enumerate(model.decisions_[0].projectors):
        members = [row for row in range(len(X)) if has(X[row], m)]
        features = projector.transform(X)[members]
        scores.append(dimkl_score(features @ features.T, y[members], number))
    expected = np.array(scores, dtype=float) / float(sum(scores))
    np.testing.assert_allclose(model.weights_[0], expected, rtol=1e-9)


def test_probabilities_are_calibrated_by_rows_that_lack_the_same(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    n_rows = 240
    y = np.where(rng.random(n_rows) < 0.5, 1, -1)
    X = rng.normal(size=(n_rows, 9)) + 0.7 * y[:, None]
    X[:100, COLUMNS[0]] = rng.normal(size=(100, 3))  # says nothing of the first rows
    X[:100, 3:] = np.nan
    X[100:110, COLUMNS[2]] = np.nan  # too few for sigmoids of their own
    model = MKLClassifier(KERNELS, learner=SVM, probability=True, random_state=0).fit(X, y)
    assert set(model.pattern_calibrations_) == {"000", "011"}
    values, probabilities = model.decision_function(X), model.predict_proba(X)
    for members, calibration in (
        (slice(0, 100), model.pattern_calibrations_["011"]),
        (slice(100, 110), model.calibration_),
        (slice(110, None), model.pattern_calibrations_["000"]),
    ):
        sigmoid = calibration.calibrators[0]
        expected = 1 / (1 + np.exp(sigmoid.a_ * values[members] + sigmoid.b_))
        np.testing.assert_allclose(probabilities[members, 1], expected, rtol=1e-12)
    # Rows of which the source says nothing are nearer to even chances than by the shared sigmoids.
    shared = model.calibration_.predict_proba(values[:100])
    assert np.abs(probabilities[:100] - 0.5).mean() < np.abs(shared - 0.5).mean()
    alone = np.vstack([model.predict_proba(row[None]) for row in X[95:115]])
    np.testing.assert_allclose(alone, probabilities[95:115], atol=1e-12)
    save_model(model, tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(loaded.predict_proba(X), probabilities)


def test_a_row_without_a_text_has_no_similarity_by_it():
    texts = ["a b", "b c", None, "a", "c d", "b", "d", None]
    frame = pd.DataFrame({"text": texts, "x": np.arange(8.0)})
    frame.loc[3, "x"] = np.nan
    y = np.resize([0, 1], 8)
    kernels = ["t:token-set@text", "x:rbf(gamma=0.1)@x"]
    model = MKLClassifier(kernels, learner="svm(C=1.0, tol=1e-9)").fit(frame, y)
    sets = [set(text.split()) if text else set() for text in texts]
    common = [[len(a & b) / len(a | b) if a and b else 0 for b in sets] for a in sets]
    x = np.nan_to_num(np.exp(-0.1 * np.subtract.outer(frame.x.values, frame.x.values) ** 2))
    share = (frame.notna() / 2).sum(axis=1).to_numpy()
    gram = (np.array(common) + x) / 2 / np.sqrt(np.outer(share, share))
    usual = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(gram, y).decision_function(gram)
    np.testing.assert_allclose(model.decision_function(frame), usual, atol=1e-6)
    alone = [model.decision_function(frame[k : k + 1])[0] for k in range(8)]
    np.testing.assert_allclose(alone, usual, atol=1e-6)
    with pytest.raises(DataError, match="Row 1 "):
        model.predict(pd.DataFrame({"text": [None], "x": [np.nan]}))


@pytest.mark.parametrize(
    "parts",
    [
        {"learner": SVM, "probability": True},
        {"combiner": "dimkl5", "feature_map": "fourier(n_components=32)", "learner": "ridge"},
        {"combiner": "alignment", "feature_map": "empirical(subset=20)", "learner": "mhks"},
        {"combiner": "ifsl", "learner": "kmhks"},
        {"combiner": "ifsl", "feature_map": "empirical(subset=20)", "learner": "mhks"},
    ],
)
def test_complete_tables_have_the_same_bits_by_strategies_that_see_no_gaps(
    rng: np.random.Generator, parts: dict[str, Any]
) -> None:
    y = np.where(rng.random(80) < 0.5, 1, -1)
    X = rng.normal(size=(80, 9)) + 0.5 * y[:, None]
    models = [
        MKLClassifier(KERNELS, missing=missing, random_state=0, **parts).fit(X, y)
        for missing in ("present", "drop", "impute")
    ]
    for decide in ("decision_function", *["predict_proba"] * ("probability" in parts)):
        values = [getattr(model, decide)(X).tobytes() for model in models]
        assert values[0] == values[1] == values[2]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_without_any_source_is_named_by_its_index(
    rng: np.random.Generator, weighted: bool
) -> None:
    X, y = incomplete_rows(rng)
    X[[20, 30]] = np.nan
    weights = np.where(np.arange(len(y)) < 10, 0.0, 1.0) if weighted else None
    frame = pd.DataFrame(X, index=[f"p{row}" for row in range(len(y))])
    kernels = [(f"source {n}", "rbf", part) for n, part in enumerate(COLUMNS)]
    model = MKLClassifier(kernels)
    with pytest.raises(DataError, match=r"^The row with index 'p20' \(2 samples in all\)"):
        model.fit(frame, y, sample_weight=weights)
    model.fit(frame.drop(["p20", "p30"]), np.delete(y, [20, 30]))
    with pytest.raises(DataError, match=r"^The row with index 'p30' \(1 sample in all\)"):
        model.predict(frame[25:])
    with pytest.raises(DataError, match=r"^Sample 5 \(counted from 0\)"):
        model.predict(X[25:])
