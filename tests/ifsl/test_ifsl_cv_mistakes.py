"""What IFSLClassifierCV says of mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold

from mklkit import IFSLClassifierCV
from mklkit.errors import DataError, IncompatibleError, SpecError


def test_folds_that_leave_a_class_out_are_refused(three_classes):
    X, y = three_classes
    in_order = np.argsort(y)
    search = IFSLClassifierCV(ridges=(1.0,), lams=(1.0,), cv=KFold(3))
    with pytest.raises(DataError, match="fold 0 have none of class 0; use stratified folds"):
        search.fit(X[in_order], y[in_order])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ridges": ()}, SpecError, "ridges must be finite numbers"),
        ({"ridges": (-1,)}, SpecError, r"0 or above; got \(-1,\)"),
        ({"ridges": 2.0}, SpecError, "ridges"),
        ({"ridges": ("a",)}, SpecError, "got"),
        ({"lams": (np.nan,)}, SpecError, "lams"),
        ({"lams": (np.inf,)}, SpecError, "lams must be finite"),
        ({"lams": [[1.0]]}, SpecError, "lams"),
        ({"combiner": "uniform"}, IncompatibleError, "'uniform'.*GridSearchCV over MKLClassifier"),
        ({"learner": "svm"}, IncompatibleError, "'mhks' or 'kmhks'"),
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
        IFSLClassifierCV(**given).fit(*two_classes)
