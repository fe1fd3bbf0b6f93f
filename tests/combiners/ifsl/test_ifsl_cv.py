"""MKLSearchCV against scikit-learn's own search over single fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.builders import ifsl_search
from scipy.stats import rankdata
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.combiners import IFSL
from mklkit.errors import DataError, IncompatibleError, SpecError
from mklkit.learners.ho_kashyap.rules import PAPER_GRID

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


def assert_same_results(ours, reference, n_splits=3):
    position = by_params(reference)
    order = [position[key] for key in by_params(ours)]
    assert len(order) == len(reference["params"])
    for key in [f"split{k}_test_score" for k in range(n_splits)] + ["mean_test_score"]:
        np.testing.assert_allclose(ours[key], reference[key][order], rtol=1e-12)
    np.testing.assert_allclose(
        ours["std_test_score"], reference["std_test_score"][order], atol=1e-12
    )
    # scikit-learn tells means apart that differ in their last bit; equal is equal here.
    rounded = reference["mean_test_score"][order].round(9)
    np.testing.assert_array_equal(ours["rank_test_score"], rankdata(-rounded, method="min"))
    for key in ("param_learner__alpha", "param_combiner__lam"):
        np.testing.assert_array_equal(ours[key], reference[key][order].astype(float))


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


def test_the_papers_grid_is_the_default(two_classes):
    X, y = two_classes
    search = ifsl_search(cv=2, random_state=0).fit(X, y)
    assert tuple(2.0**k for k in (-4, -3, -2, -1, 0, 1, 2, 3, 4)) == PAPER_GRID
    pairs = [(p["learner__alpha"], p["combiner__lam"]) for p in search.cv_results_["params"]]
    assert pairs == [(c, lam) for c in PAPER_GRID for lam in PAPER_GRID]


def test_fewer_folds_where_a_class_has_fewer_rows(rng):
    X = rng.normal(size=(30, 3))
    y = np.array([0] * 14 + [1] * 13 + [2] * 3)
    search = ifsl_search(ridges=(1.0,), lams=(1.0,), cv=5, random_state=0).fit(X, y)
    assert search.n_splits_ == 3
    assert {"split2_test_score"} <= set(search.cv_results_)
    assert "split3_test_score" not in search.cv_results_
    with pytest.raises(
        DataError, match="Every class has a single sample, so nothing can be scored"
    ):
        search.fit(X[[0, -1]], y[[0, -1]])


def test_progress_counts_every_problem_of_every_fold(three_classes):
    counts: list[tuple[int, int]] = []
    ifsl_search(
        ridges=(1.0,), lams=(1.0,), cv=2, progress=lambda done, total: counts.append((done, total))
    ).fit(*three_classes)
    assert counts == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize("grid", [{"learner__d": [1]}, {"learner": 1.0}, "c", [], [1], {"a": []}])
def test_a_grid_that_is_none_is_refused(two_classes, grid):
    with pytest.raises(SpecError):
        MKLSearchCV(MKLClassifier(combiner="ifsl"), grid).fit(*two_classes)


@pytest.mark.parametrize("estimator", ["ifsl", None, MKLSearchCV(MKLClassifier())])
def test_only_classifiers_of_this_library_are_searched(two_classes, estimator):
    with pytest.raises(SpecError, match=r"MKLClassifier.*; got"):
        MKLSearchCV(estimator).fit(*two_classes)


def test_a_learner_must_be_given_to_be_varied():
    with pytest.raises(SpecError, match=r"for MKLClassifier: .* Give learner='mhks'"):
        ifsl_search().set_params(estimator__learner__alpha=1.0)


def test_folds_that_leave_a_class_out_are_refused(three_classes):
    X, y = three_classes
    in_order = np.argsort(y)
    search = ifsl_search(ridges=(1.0,), lams=(1.0,), cv=KFold(3))
    with pytest.raises(DataError, match="fold 0 lack class 0; use stratified folds"):
        search.fit(X[in_order], y[in_order])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ridges": ()}, SpecError, "learner__alpha"),
        ({"ridges": (-1,)}, SpecError, "'alpha' must be >= 0: -1"),
        ({"ridges": ("a",)}, SpecError, "mhks: .*'a'"),
        ({"lams": (np.inf,)}, SpecError, "'lam' must be a finite number"),
        ({"lams": [[1.0]]}, SpecError, "ifsl: "),
        ({"combiner": "uniform"}, SpecError, "svm has no parameter 'alpha'"),
        ({"learner": "kmhks", "feature_map": "empirical"}, IncompatibleError, "Gram matrix"),
        ({"combiner": "ifsl(weights=[1, 2])"}, SpecError, "2 weights for 3 kernels"),
        ({"cv": 1}, SpecError, "cv"),
        ({"multiclass": "all"}, SpecError, "multiclass"),
    ],
    ids=str,
)
def test_mistakes_are_named(two_classes, given, error, words):
    with pytest.raises(error, match=words):
        ifsl_search(**given).fit(*two_classes)
