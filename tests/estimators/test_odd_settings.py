"""Settings of estimators in wrong types: refused by name, before the work or in our words."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.builders import ifsl_search

from mklkit import MKLClassifier, MKLVotingClassifier, RPEMEKLClassifier
from mklkit.errors import SpecError

GRID = {"ridges": (1.0,), "lams": (1.0,)}


@pytest.mark.parametrize(
    ("model", "setting"),
    [
        (MKLClassifier(feature_map="empirical(subset=2.5)"), "subset"),
        (MKLClassifier(multiclass="all"), "multiclass"),
        (MKLClassifier(probability="no"), "probability"),
        *((MKLClassifier(bandwidths=value), "bandwidths") for value in ("each", None, 1)),
        *((MKLClassifier(n_jobs=value), "n_jobs") for value in ("two", 0, 1e-300, True, [1])),
        *((ifsl_search(cv=value, **GRID), "cv") for value in (0, 1, -3, True, "five", 0.5)),
        *((ifsl_search(cv=value, **GRID), "cv") for value in ({}, [], [None], int)),
        (ifsl_search(cv=[(["a"], ["b"])], **GRID), "cv"),
        (ifsl_search(cv=[([0, 1, 99], [2])], **GRID), "cv"),
        (ifsl_search(progress="x", **GRID), "progress"),
        *((RPEMEKLClassifier(subset=value), "subset") for value in ("−1", 0, True, 1.5, [])),
        (RPEMEKLClassifier(alpha=-1), "'alpha' must be >= 0"),
        (RPEMEKLClassifier(lam=float("inf")), "'lam' must be a finite number"),
        *((RPEMEKLClassifier(n_members=value), "n_members") for value in (True, 0, 2.0, "x" * 999)),
        (MKLVotingClassifier(n_members=None), "n_members"),
    ],
)
def test_wrong_settings_are_named(model, setting, two_classes):
    with pytest.raises(SpecError, match=setting) as caught:
        model.fit(*two_classes)
    assert len(str(caught.value)) < 400


def test_folds_may_be_given_by_rows_or_masks(two_classes):
    X, y = two_classes
    half = np.arange(len(y)) % 2 == 0
    by_mask = ifsl_search(cv=[(half, ~half)], **GRID).fit(X, y)
    rows = [(np.flatnonzero(half), np.flatnonzero(~half))]
    assert by_mask.best_score_ == ifsl_search(cv=rows, **GRID).fit(X, y).best_score_
