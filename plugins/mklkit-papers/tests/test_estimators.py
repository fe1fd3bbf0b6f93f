"""The preferred scaling is the better of two searches by hand."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_papers.estimators import SCALINGS, PreferredScaling
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mklkit.errors import MKLKitError

SEARCH = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 9]}, cv=3)


@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_as_by_hand(load):
    X, y = load(return_X_y=True)
    scaler = StandardScaler().fit(X[::2])
    rows = dict(zip(SCALINGS, (X, scaler.transform(X)), strict=True))
    searches = {name: clone(SEARCH).fit(features[::2], y[::2]) for name, features in rows.items()}
    best = max(SCALINGS, key=lambda name: searches[name].best_score_)
    fitted = PreferredScaling(SEARCH).fit(X[::2], y[::2])
    assert fitted.best_params_ == {"scaling": best, **searches[best].best_params_}
    assert fitted.best_score_ == searches[best].best_score_
    assert fitted.refit_time_ == fitted.best_estimator_.refit_time_
    np.testing.assert_array_equal(fitted.classes_, np.unique(y))
    wanted = searches[best].predict(rows[best][1::2])
    np.testing.assert_array_equal(fitted.predict(X[1::2]), wanted)


def test_of_equal_scores_raw_features_are_preferred():
    X = np.repeat([[0.0], [100.0]], 10, axis=0)
    fitted = PreferredScaling(SEARCH).fit(X, np.repeat([0, 1], 10))
    assert fitted.best_params_["scaling"] == "raw"


class Choosy(KNeighborsClassifier):
    """A search that fails where a value is above a limit."""

    best_score_, best_params_, refit_time_ = 0.5, {}, 0.0

    def __init__(self, limit=10.0):
        super().__init__()
        self.limit = limit

    def fit(self, X, y):
        if np.max(X) > self.limit:
            raise MKLKitError("the values are too large")
        return super().fit(X, y)


def test_where_one_scaling_fails_it_is_the_other():
    X, y = load_wine(return_X_y=True)
    assert PreferredScaling(Choosy()).fit(X, y).best_params_ == {"scaling": "standardised"}
    small = 1e-3 * np.array([[0.0], [1.0], [2.0], [3.0]])
    fitted = PreferredScaling(Choosy(0.01)).fit(small, [0, 0, 1, 1])
    assert fitted.best_params_ == {"scaling": "raw"}
    with pytest.raises(MKLKitError, match="too large"):
        PreferredScaling(Choosy(-1e6)).fit(X, y)
