"""Bandwidths of each binary problem's own rows, or of all training rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mklkit import MKLClassifier, MKLSearchCV
from mklkit.kernels.bandwidth import mean_distance

X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]
BY_RULE = ["rbf(sigma='mean')", "narrow:rbf(sigma='mean/4')@0:2", "linear"]
BY_NUMBER = [
    f"rbf(sigma={mean_distance(X)})",
    f"narrow:rbf(sigma={mean_distance(X[:, :2]) / 4})@0:2",
    "linear",
]


def model(kernels, **settings):
    return MKLClassifier(kernels, random_state=0, **settings)


SYSTEMS = {
    "support vector machine": {},
    "weights": {"combiner": "dimkl3"},
    "map": {"feature_map": "empirical", "learner": "mhks"},
    "shared map": {"feature_map": "empirical(subset=8)", "learner": "mhks"},
    "coupled": {"combiner": "ifsl"},
    "one against the rest": {"multiclass": "ovr"},
}


@pytest.mark.parametrize("settings", SYSTEMS.values(), ids=SYSTEMS)
def test_every_problem_has_the_bandwidth_of_all_rows(settings):
    fitted = model(BY_RULE, bandwidths="all-rows", **settings).fit(X, Y)
    expected = model(BY_NUMBER, **settings).fit(X, Y)
    np.testing.assert_allclose(
        fitted.decision_function(X), expected.decision_function(X), rtol=1e-9
    )
    np.testing.assert_allclose(fitted.weights_, expected.weights_, rtol=1e-9)
    separate = model(BY_RULE, **settings).fit(X, Y)
    same = settings in (SYSTEMS["shared map"], SYSTEMS["one against the rest"])
    assert np.allclose(separate.decision_function(X), fitted.decision_function(X)) == same


def test_a_search_reads_them_off_each_fold_s_training_rows():
    training, test = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)

    def iterations(kernel, bandwidths):
        base = model(kernel, combiner="ifsl", learner="mhks", bandwidths=bandwidths)
        search = MKLSearchCV(base, {"learner__alpha": (1e-4, 1e-2)}, cv=[(training, test)])
        return search.fit(X, Y).cv_results_["mean_n_iter"].tolist()

    counts = iterations("rbf(sigma='mean')", "all-rows")
    assert counts == iterations(f"rbf(sigma={mean_distance(X[training])})", "per-problem")
    assert counts != iterations("rbf(sigma='mean')", "per-problem")
