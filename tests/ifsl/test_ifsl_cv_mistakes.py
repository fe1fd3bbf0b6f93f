"""What MKLSearchCV says of mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from builders import ifsl_search
from sklearn.model_selection import KFold, StratifiedKFold

from mklkit.errors import DataError, IncompatibleError, SpecError


def test_folds_that_leave_a_class_out_are_refused(three_classes):
    X, y = three_classes
    in_order = np.argsort(y)
    search = ifsl_search(ridges=(1.0,), lams=(1.0,), cv=KFold(3))
    with pytest.raises(DataError, match="fold 0 lack class 0; use stratified folds"):
        search.fit(X[in_order], y[in_order])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ridges": ()}, SpecError, "learner__alpha needs a sequence of values"),
        ({"ridges": (-1,)}, SpecError, "'alpha' must be >= 0: -1"),
        ({"ridges": 2.0}, SpecError, "learner__alpha"),
        ({"ridges": ("a",)}, SpecError, "mhks: .*'a'"),
        ({"lams": (np.nan,)}, SpecError, "lam"),
        ({"lams": (np.inf,)}, SpecError, "'lam' must be a finite number"),
        ({"lams": [[1.0]]}, SpecError, "ifsl: "),
        ({"combiner": "uniform"}, SpecError, "svm has no parameter 'alpha'"),
        ({"learner": "svm"}, SpecError, "svm has no parameter 'alpha'"),
        ({"learner": "kmhks", "feature_map": "empirical"}, IncompatibleError, "Gram matrix"),
        ({"combiner": "ifsl(weights=[1, 2])"}, SpecError, "2 weights for 3 kernels"),
        ({"cv": 1}, ValueError, "n_splits"),
        ({"cv": "many"}, ValueError, "cv"),
        ({"multiclass": "all"}, SpecError, "multiclass"),
    ],
    ids=str,
)
def test_mistakes_are_named(two_classes, given, error, words):
    with pytest.raises(error, match=words):
        ifsl_search(**given).fit(*two_classes)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3)])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_class_of_one_row_is_trained_on_and_the_search_goes_on(cv) -> None:
    X = np.random.default_rng(0).normal(size=(25, 2)) + 4 * (np.arange(25) % 3 == 0)[:, None]
    y = np.where(np.arange(25) % 3 == 0, "often", "also")
    y[-1] = "once"
    X[-1] = 40.0
    search = ifsl_search("linear", ridges=[1.0], lams=[1.0], cv=cv, random_state=0).fit(X, y)
    assert "1 class has a single row, always trained on and never scored" in search.choices_
    assert search.predict(X[-1:]) == ["once"]
    # Of the 24 rows that are scored, 8 a fold, one or the other may be wrong.
    scores = [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    assert all(float(8 * score).is_integer() for score in scores)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("cv", [5, None])
def test_a_class_of_fewer_rows_than_folds_is_said(cv) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.array([0] * 17 + [1] * 3)
    search = ifsl_search("linear", ridges=[1.0], lams=[1.0], cv=cv, random_state=0).fit(X, y)
    assert "3 folds instead of 5: the smallest class has 3 rows" in search.choices_
