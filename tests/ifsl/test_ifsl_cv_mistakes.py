"""What MKLSearchCV says of mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from builders import ifsl_search
from sklearn.model_selection import KFold

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
        ({"ridges": ()}, SpecError, "learner__alpha"),
        ({"ridges": (-1,)}, SpecError, "'alpha' must be >= 0: -1"),
        ({"ridges": ("a",)}, SpecError, "mhks: .*'a'"),
        ({"lams": (np.inf,)}, SpecError, "'lam' must be a finite number"),
        ({"lams": [[1.0]]}, SpecError, "ifsl: "),
        ({"combiner": "uniform"}, SpecError, "svm has no parameter 'alpha'"),
        ({"learner": "kmhks", "feature_map": "empirical"}, IncompatibleError, "Gram matrix"),
        ({"combiner": "ifsl(weights=[1, 2])"}, SpecError, "2 weights for 3 kernels"),
        ({"cv": 1}, ValueError, "n_splits"),
        ({"multiclass": "all"}, SpecError, "multiclass"),
    ],
    ids=str,
)
def test_mistakes_are_named(two_classes, given, error, words):
    with pytest.raises(error, match=words):
        ifsl_search(**given).fit(*two_classes)
