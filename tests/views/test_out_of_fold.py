"""Decision values out of fold against scikit-learn's cross-validated support vector machine."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import TRIO, trio_grams, views_of
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from mklkit.learners import SVM
from mklkit.plugin import Target, out_of_fold


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_those_of_machines_on_the_other_folds(two_classes, feature_map, grouped):
    rows, y = two_classes
    target = Target.two_classes(y, groups=np.arange(70) // 2 if grouped else None)
    splits = target.folds(4, np.random.RandomState(1))
    views, learner = views_of(TRIO, rows, feature_map), SVM(C=2.0, tol=1e-8)
    grams, weights = trio_grams(rows), np.array([0.5, 0.3, 0.2])
    sides = [*views, views.weighted(weights)]
    grams.append(np.tensordot(weights, grams, 1))
    for side, gram in zip(sides, grams, strict=True):
        machine = SVC(kernel="precomputed", C=2.0, tol=1e-8)
        expected = cross_val_predict(machine, gram, y, cv=splits, method="decision_function")
        values = out_of_fold(side, target, learner, splits)
        np.testing.assert_allclose(values, expected, atol=1e-4)
        values = out_of_fold(side, target, learner, splits[:1])
        np.testing.assert_array_equal(np.flatnonzero(~np.isnan(values)), splits[0].test)
