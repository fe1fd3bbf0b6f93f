"""Several classes as one-hot targets of ridge: one problem by default, one-vs-one with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge as LinearRidge
from sklearn.preprocessing import StandardScaler

from mklkit import (
    MKLClassifier,
    MKLRegressor,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    load_model,
    save_model,
)
from mklkit.persistence.metadata import metadata_of_model
from mklkit.views.deciding import RowBlock

WINES, CODES = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINES)
LABELS = np.array(["barbera", "barolo", "grignolino"])
Y, ONE_HOT = LABELS[CODES], np.eye(3)[CODES]
TRAIN, TEST = np.arange(0, 178, 2), np.arange(1, 178, 2)
SOURCES = ["first:linear@0:5", "second:rbf(sigma='mean')@5:13"]
RIDGE = "ridge(alpha=0.5)"


def halves(rows: Any) -> Any:
    """Features whose products are the mean of the linear kernels of two halves of the columns."""
    return rows * np.sqrt(0.5)


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).uniform(1, 3, len(TRAIN))])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical", "empirical(subset=1.0)"])
def test_it_is_scikit_learns_ridge_on_one_hot_targets(feature_map: str, weights: Any) -> None:
    model = MKLClassifier(
        ["linear@0:6", "linear@6:13"], learner=RIDGE, feature_map=feature_map, random_state=0
    ).fit(X[TRAIN], Y[TRAIN], weights)
    reference = LinearRidge(alpha=0.5).fit(halves(X[TRAIN]), ONE_HOT[TRAIN], weights)
    scores = model.decision_function(X[TEST])
    np.testing.assert_allclose(scores, reference.predict(halves(X[TEST])), atol=1e-7)
    np.testing.assert_array_equal(model.predict(X[TEST]), LABELS[scores.argmax(axis=1)])
    assert (len(model.decisions_), model.problems_) == (1, [("(all)", "(all)")])
    assert model.score(X[TEST], Y[TEST]) > 0.95


def test_weights_of_classes_count() -> None:
    balanced = MKLClassifier("linear", learner=RIDGE, class_weight="balanced").fit(X, Y)
    counts = np.bincount(CODES)
    weights = len(X) / (3 * counts[CODES])
    reference = LinearRidge(alpha=0.5).fit(X, ONE_HOT, weights)
    np.testing.assert_allclose(balanced.decision_function(X), reference.predict(X), atol=1e-7)


def test_parts_of_kernels_are_those_of_their_features() -> None:
    model = MKLClassifier(["linear@0:6", "linear@6:13"], learner=RIDGE).fit(X[TRAIN], Y[TRAIN])
    reference = LinearRidge(alpha=0.5).fit(halves(X[TRAIN]), ONE_HOT[TRAIN])
    parts = model.decision_function(X[TEST], split=True)
    assert parts.shape == (len(TEST), 3, 3)
    slopes, new = reference.coef_.T, halves(X[TEST])
    np.testing.assert_allclose(parts[:, 0], new[:, :6] @ slopes[:6], atol=1e-7)
    np.testing.assert_allclose(parts[:, 1], new[:, 6:] @ slopes[6:], atol=1e-7)
    np.testing.assert_allclose(
        parts[:, 2], np.tile(reference.intercept_, (len(TEST), 1)), atol=1e-7
    )


@pytest.mark.parametrize("missing", ["present", "present-centered", "impute", "drop"])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical(subset=60)"])
def test_missing_sources_are_those_of_a_regression_on_one_hot_targets(
    missing: str, feature_map: str
) -> None:
    rows, new = X[TRAIN].copy(), X[TEST].copy()
    rows[::7, :5], rows[3::7, 5:] = np.nan, np.nan
    if missing != "drop":
        new[::5, :5] = np.nan
    settings: Any = {
        "learner": RIDGE,
        "missing": missing,
        "feature_map": feature_map,
        "random_state": 0,
    }
    model = MKLClassifier(SOURCES, **settings).fit(rows, Y[TRAIN])
    peer = MKLRegressor(SOURCES, **settings).fit(rows, ONE_HOT[TRAIN])
    np.testing.assert_allclose(model.decision_function(new), peer.predict(new), atol=1e-6)


def test_cluster_gating_passes_its_composite_to_one_ridge_regression() -> None:
    gating: Any = {"combiner": "cluster-gating(n_clusters=2)", "random_state": 0}
    model = MKLClassifier(SOURCES, learner="ridge(alpha=0.5, intercept=False)", **gating)
    scores = model.fit(X[TRAIN], Y[TRAIN]).decision_function(X[TEST])
    (decision,) = model.decisions_
    grams = [decision.composite(RowBlock(X[rows])) for rows in (TRAIN, TEST)]
    reference = KernelRidge(alpha=0.5, kernel="precomputed").fit(grams[0], ONE_HOT[TRAIN])
    np.testing.assert_allclose(scores, reference.predict(grams[1]), atol=1e-6)
    together = MKLClassifier(SOURCES, learner="kda", multiclass="native", **gating)
    np.testing.assert_allclose(model.weights_, together.fit(X[TRAIN], Y[TRAIN]).weights_)


@pytest.mark.parametrize(
    ("settings", "n_problems", "reason"),
    [
        ({"learner": "ridge"}, 1, "uniform and ridge learn one-hot targets together"),
        ({"combiner": "given(weights=[1, 2])", "learner": "ridge"}, 1, "given and ridge learn"),
        ({"learner": "svm(C=1)"}, 3, "svm learns two classes"),
        ({"learner": "kda"}, 3, "kda does not learn one-hot targets"),
        ({"combiner": "dimkl3", "learner": "ridge"}, 3, "dimkl3 learns two classes"),
        ({"combiner": "ifsl", "learner": "ridge"}, 3, "ifsl learns two classes"),
    ],
)
def test_auto_is_one_problem_where_combiner_and_learner_can(
    settings: Any, n_problems: int, reason: str
) -> None:
    model = MKLClassifier(["linear", "rbf"], **settings).fit(X, Y)
    assert len(model.problems_) == n_problems
    (choice,) = [note for note in model.choices_ if note.startswith("3 classes")]
    assert reason in choice
    assert ("one problem" if n_problems == 1 else "one-vs-one in 3 problems") in choice
    named = "native" if n_problems == 1 else "ovo"
    assert metadata_of_model(model)["multiclass"] == named
    same = MKLClassifier(["linear", "rbf"], multiclass=named, **settings).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
    assert not [note for note in same.choices_ if "classes" in note]


def test_two_classes_are_labels_of_one_regression() -> None:
    two = CODES < 2
    model = MKLClassifier("linear", learner=RIDGE).fit(X[two], Y[two])
    reference = LinearRidge(alpha=0.5).fit(X[two], 2.0 * CODES[two] - 1)
    np.testing.assert_allclose(model.decision_function(X), reference.predict(X), atol=1e-7)
    assert model.problems_ == [("barbera", "barolo")]
    assert not [note for note in model.choices_ if "classes" in note]


def test_a_learner_that_is_chosen_with_the_kernels_counts() -> None:
    model = MKLClassifier("auto", random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert model.learner_.name == "ridge"  # by its errors on these rows
    assert len(model.problems_) == 1
    assert model.decision_function(X).shape == (len(X), 3)


def test_members_of_votes_learn_all_classes_at_once() -> None:
    member = MKLClassifier("rbf", feature_map="empirical(subset=30)", learner="ridge")
    vote = MKLVotingClassifier(member, random_state=0).fit(X, Y)
    assert [len(each.problems_) for each in vote.members_] == [1, 1, 1]
    assert len(RPEMEKLClassifier(random_state=0).fit(X, Y).problems_) == 3
    assert vote.score(X, Y) > 0.95


def test_a_model_file_has_one_ridge_for_all_classes(tmp_path: Path) -> None:
    model = MKLClassifier(SOURCES, learner="ridge").fit(X, Y)
    assert len(model.chosen_["learner__alpha"]) == 1
    save_model(model, tmp_path / "wine.mklkit")
    loaded = load_model(tmp_path / "wine.mklkit")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
