"""MKLSearchCV against scikit-learn's own search over single fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from builders import ifsl_search
from coupled_fits import TRIO
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.combiners import IFSL
from mklkit.combiners.ifsl.rules import PAPER_GRID
from mklkit.errors import DataError, SpecError
from mklkit.feature_maps import Empirical
from mklkit.learners import KMHKS, MHKS
from mklkit.registry.composing import DEFAULT_KERNELS

RIDGES = (2.0**-3, 1.0, 8.0)
LAMS = (0.0, 0.5, 4.0)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=4)
CASES = [("mhks", "empirical"), ("mhks", "empirical(rank=5)"), ("kmhks", "implicit")]


def plain_search(learner, feature_map, cv=FOLDS, ridges=RIDGES, lams=LAMS, **settings):
    """Return scikit-learn's search over the same grid."""
    model = MKLClassifier(combiner=IFSL(), learner=learner, feature_map=feature_map, **settings)
    grid = {"learner__alpha": ridges, "combiner__lam": lams}
    return GridSearchCV(model, grid, cv=cv, error_score="raise")


def by_params(results):
    return {
        (params["learner__alpha"], params["combiner__lam"]): index
        for index, params in enumerate(results["params"])
    }


def assert_same_results(ours, theirs, n_splits=3):
    position = by_params(theirs)
    order = [position[key] for key in by_params(ours)]
    assert len(order) == len(theirs["params"])
    for key in [f"split{k}_test_score" for k in range(n_splits)] + ["mean_test_score"]:
        np.testing.assert_allclose(ours[key], theirs[key][order], rtol=1e-12)
    np.testing.assert_allclose(ours["std_test_score"], theirs["std_test_score"][order], atol=1e-12)
    # scikit-learn tells means apart that differ in their last bit; equal is equal here.
    rounded = theirs["mean_test_score"][order].round(9)
    np.testing.assert_array_equal(ours["rank_test_score"], rankdata(-rounded, method="min"))
    for key in ("param_learner__alpha", "param_combiner__lam"):
        np.testing.assert_array_equal(ours[key], theirs[key][order].astype(float))


@pytest.mark.parametrize(("learner", "feature_map"), CASES)
def test_two_classes_score_as_in_a_plain_search(two_classes, learner, feature_map):
    X, y = two_classes
    search = ifsl_search(
        learner=learner, feature_map=feature_map, ridges=RIDGES, lams=LAMS, cv=FOLDS
    ).fit(X, y)
    plain = plain_search(learner, feature_map).fit(X, y)
    assert_same_results(search.cv_results_, plain.cv_results_)
    assert len(set(search.cv_results_["mean_test_score"])) > 2  # or agreement says nothing
    assert search.n_splits_ == plain.n_splits_ == 3
    assert search.best_score_ == pytest.approx(plain.best_score_)


@pytest.mark.parametrize(
    ("learner", "feature_map", "multiclass"), [(*CASES[0], "ovo"), (*CASES[2], "ovr")]
)
def test_three_classes_score_as_in_a_plain_search(three_classes, learner, feature_map, multiclass):
    X, labels = three_classes
    y = np.array(["nettle", "fern", "moss"])[labels]
    given = {"ridges": RIDGES[:2], "lams": LAMS[1:], "cv": FOLDS, "multiclass": multiclass}
    search = ifsl_search(learner=learner, feature_map=feature_map, **given).fit(X, y)
    plain = plain_search(learner, feature_map, **given).fit(X, y)
    assert_same_results(search.cv_results_, plain.cv_results_)


def test_repeated_and_unbalanced_folds_score_as_in_a_plain_search(two_classes):
    X, y = two_classes
    groups = np.repeat(np.arange(5), [4, 6, 10, 20, 30])
    for cv in (
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        list(GroupKFold(3).split(X, y, groups)),
        KFold(3, shuffle=True, random_state=1),
    ):
        given = {"ridges": RIDGES[:2], "lams": LAMS[:2], "cv": cv}
        search = ifsl_search(**given).fit(X, y)
        plain = plain_search("mhks", "empirical", **given).fit(X, y)
        assert_same_results(search.cv_results_, plain.cv_results_, search.n_splits_)


def test_the_results_are_a_table_as_users_of_searches_know_it(two_classes):
    X, y = two_classes
    search = ifsl_search(ridges=RIDGES, lams=LAMS, cv=FOLDS).fit(X, y)
    frame = pd.DataFrame(search.cv_results_)
    assert len(frame) == 9
    plain = plain_search("mhks", "empirical").fit(X, y).cv_results_
    timing = {"mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"}
    assert set(frame.columns) == (set(plain) - timing) | {"mean_n_iter"}
    splits = frame[[f"split{k}_test_score" for k in range(3)]]
    np.testing.assert_allclose(splits.mean(axis=1), frame["mean_test_score"])
    np.testing.assert_allclose(splits.std(axis=1, ddof=0), frame["std_test_score"])
    assert frame["rank_test_score"].min() == 1
    assert (frame.loc[frame["rank_test_score"] == 1, "mean_test_score"]).nunique() == 1
    assert (frame["mean_n_iter"] >= 2).all()


def test_the_mean_number_of_passes_is_that_of_the_fits(two_classes):
    X, y = two_classes
    splits = list(FOLDS.split(X, y))
    search = ifsl_search(ridges=(0.5,), lams=(2.0,), cv=splits).fit(X, y)
    lengths = [
        len(
            MKLClassifier(combiner="ifsl(lam=2.0)", learner="mhks(alpha=0.5)")
            .fit(X[training], y[training])
            .decisions_[0]
            .history
        )
        for training, _ in splits
    ]
    assert search.cv_results_["mean_n_iter"] == pytest.approx(np.mean(lengths))


def test_the_papers_grid_is_the_default(two_classes):
    X, y = two_classes
    search = ifsl_search(cv=2, random_state=0).fit(X, y)
    assert tuple(2.0**k for k in (-4, -3, -2, -1, 0, 1, 2, 3, 4)) == PAPER_GRID
    pairs = [(p["learner__alpha"], p["combiner__lam"]) for p in search.cv_results_["params"]]
    assert pairs == [(c, lam) for c in PAPER_GRID for lam in PAPER_GRID]


def test_equal_scores_go_to_most_agreement_then_most_ridge():
    told_apart = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 12)
        X = rng.normal(size=(24, 2)) + 0.9 * y[:, None]
        search = ifsl_search(
            ["linear", "rbf", "polynomial(degree=2)"],
            ridges=RIDGES,
            lams=LAMS,
            cv=2,
            random_state=0,
        ).fit(X, y)
        results = search.cv_results_
        assert results["params"][search.best_index_] == search.best_params_
        ties = [results["params"][i] for i in np.flatnonzero(results["rank_test_score"] == 1)]
        by_agreement = max(ties, key=lambda p: (p["combiner__lam"], p["learner__alpha"]))
        by_ridge = max(ties, key=lambda p: (p["learner__alpha"], p["combiner__lam"]))
        assert search.best_params_ == by_agreement
        told_apart += by_agreement != by_ridge
    assert told_apart > 0  # or the order of the two says nothing


def test_the_best_estimator_is_a_fit_on_all_rows(two_classes, rng):
    X, y = two_classes
    search = ifsl_search(
        TRIO,
        combiner=IFSL(weights=(2, 1, 1), initial="zeros"),
        learner=KMHKS(tol=1e-5),
        ridges=RIDGES,
        lams=LAMS,
        cv=FOLDS,
    ).fit(X, y)
    best = search.best_params_
    alone = MKLClassifier(
        TRIO,
        combiner=IFSL(lam=best["combiner__lam"], weights=(2, 1, 1), initial="zeros"),
        learner=KMHKS(alpha=best["learner__alpha"], tol=1e-5),
        feature_map="implicit",
    ).fit(X, y)
    new = rng.normal(size=(25, 4))
    np.testing.assert_array_equal(search.decision_function(new), alone.decision_function(new))
    np.testing.assert_array_equal(search.predict(new), alone.predict(new))
    np.testing.assert_array_equal(search.weights_, alone.weights_)
    assert search.kernel_names_ == alone.kernel_names_
    pd.testing.assert_frame_equal(search.weights_frame(), alone.weights_frame())
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=20)"])
def test_threads_and_seeds(three_classes, feature_map):
    X, y = three_classes

    def results(n_jobs, seed):
        search = ifsl_search(
            feature_map=feature_map,
            ridges=RIDGES[1:],
            lams=LAMS[1:],
            cv=2,
            random_state=seed,
            n_jobs=n_jobs,
        ).fit(X, y)
        return search, pd.DataFrame(search.cv_results_).drop(columns="params")

    (one, frame), (_, threaded), (_, again), (_, other) = (
        results(*given) for given in ((None, 0), (3, 0), (None, 0), (None, 1))
    )
    pd.testing.assert_frame_equal(frame, threaded)
    pd.testing.assert_frame_equal(frame, again)
    assert not frame.equals(other)
    assert one.best_estimator_.random_state == 0


def test_columns_by_name(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    named = ifsl_search(
        ["linear@a,b", "rbf(gamma=0.3)@[cd]"], ridges=RIDGES, lams=LAMS, cv=FOLDS
    ).fit(frame, y)
    placed = ifsl_search(
        ["linear@0:2", "rbf(gamma=0.3)@2:4"], ridges=RIDGES, lams=LAMS, cv=FOLDS
    ).fit(X, y)
    assert list(named.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(
        named.cv_results_["mean_test_score"], placed.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(named.predict(frame), placed.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"a": "z"}))


def test_fewer_folds_where_a_class_has_fewer_rows(rng):
    X = rng.normal(size=(30, 3))
    y = np.array([0] * 14 + [1] * 13 + [2] * 3)
    search = ifsl_search(ridges=(1.0,), lams=(1.0,), cv=5, random_state=0).fit(X, y)
    assert search.n_splits_ == 3
    assert {"split2_test_score"} <= set(search.cv_results_)
    assert "split3_test_score" not in search.cv_results_
    with pytest.raises(DataError, match="Every class has a single row, so nothing can be scored"):
        search.fit(X[[0, -1]], y[[0, -1]])


def test_whole_numbers_of_numpy_make_shuffled_folds_too(two_classes):
    X, y = two_classes
    scores = [
        ifsl_search(ridges=RIDGES, lams=LAMS, cv=cv, random_state=2)
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for cv in (3, np.int64(3))
    ]
    np.testing.assert_array_equal(*scores)


def test_progress_counts_every_problem_of_every_fold(three_classes):
    seen: list[tuple[int, int]] = []
    ifsl_search(
        ridges=(1.0,), lams=(1.0,), cv=2, progress=lambda done, total: seen.append((done, total))
    ).fit(*three_classes)
    assert seen == [(done, 6) for done in range(1, 7)]


def test_it_works_inside_scikit_learns_own_tools(two_classes):
    X, y = two_classes
    search = ifsl_search(
        feature_map=Empirical(subset=15),
        learner=MHKS(max_iter=2000),
        ridges=RIDGES,
        lams=LAMS,
        cv=2,
        random_state=0,
    )
    scores = cross_val_score(make_pipeline(StandardScaler(), clone(search)), X, y, cv=3)
    assert scores.mean() > 0.6


@pytest.mark.parametrize("kernels", [None, ["rbf"]])
def test_nested_parameters_reach_what_is_searched(three_classes, kernels):
    X, y = three_classes
    given = {"ridges": (1.0,), "lams": (0.5, 1.0), "cv": FOLDS}
    search = ifsl_search(kernels=kernels, **given)
    search.set_params(estimator__kernels__rbf__sigma=0.3, estimator__combiner__rule="fixed-mean")
    assert search.get_params()["estimator__kernels__rbf__sigma"] == 0.3
    again = clone(search).fit(X, y)
    by_hand = [
        "rbf:rbf(sigma=0.3)" if kernel.startswith("rbf") else kernel
        for kernel in kernels or DEFAULT_KERNELS
    ]
    expected = ifsl_search(by_hand, combiner=IFSL(rule="fixed-mean"), **given).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), expected.decision_function(X))
    usual = ifsl_search(kernels, **given).fit(X, y)
    assert not np.array_equal(again.decision_function(X), usual.decision_function(X))


def test_other_parameters_may_stand_beside_those_of_the_search_space(two_classes):
    X, y = two_classes
    model = MKLClassifier(
        ["rbf", "linear"], feature_map="empirical", combiner="ifsl", learner="mhks"
    )
    grid = {"kernels__rbf__sigma": (0.5, 2.0), "combiner__lam": LAMS, "learner__alpha": RIDGES}
    search = MKLSearchCV(model, grid, cv=FOLDS).fit(X, y)
    plain = GridSearchCV(model, grid, cv=FOLDS).fit(X, y).cv_results_
    order = [plain["params"].index(params) for params in search.cv_results_["params"]]
    assert sorted(order) == list(range(18))
    ours, theirs = search.cv_results_["mean_test_score"], plain["mean_test_score"][order]
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert search.best_estimator_.get_params()["kernels__rbf__sigma"] in (0.5, 2.0)
    several = [{"learner__alpha": (1.0,)}, {"combiner__lam": (0.5, 4.0)}]
    found = MKLSearchCV(model, several, cv=FOLDS).fit(X, y).cv_results_["params"]
    assert found == [{"learner__alpha": 1.0}, {"combiner__lam": 0.5}, {"combiner__lam": 4.0}]


@pytest.mark.parametrize("grid", [{"learner__d": [1]}, {"learner": 1.0}, "c", [], [1], {"a": []}])
def test_a_grid_that_is_none_is_refused(two_classes, grid):
    with pytest.raises(SpecError):
        MKLSearchCV(MKLClassifier(combiner="ifsl"), grid).fit(*two_classes)


@pytest.mark.parametrize("estimator", ["ifsl", None, MKLSearchCV(MKLClassifier())])
def test_only_classifiers_of_this_library_are_searched(two_classes, estimator):
    with pytest.raises(SpecError, match="an MKLClassifier; got"):
        MKLSearchCV(estimator).fit(*two_classes)


def test_a_learner_must_be_given_to_be_varied():
    with pytest.raises(SpecError, match=r"for MKLClassifier: .* Give learner='mhks'"):
        ifsl_search().set_params(estimator__learner__alpha=1.0)
