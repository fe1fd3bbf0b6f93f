"""Data sets nobody tuned for: labels of every kind, scales, gaps (odd rows: conformance kit)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mklkit import MKLClassifier
from mklkit.errors import DataError


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([7, 900]),
        np.array([0.0, 1.0]),
        pd.Categorical(["low", "high"]),
        pd.Series(["b", "a"]),
    ],
    ids=["strings", "objects", "booleans", "signs", "integers", "floats", "categories", "series"],
)
def test_labels_of_every_kind(rng, labels):
    codes = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + 6 * codes[:, None]
    y = np.asarray(labels)[codes]
    model = MKLClassifier("rbf", combiner="dimkl3").fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.score(X, y) == 1
    model.fit(pd.DataFrame(X), pd.Series(y, index=range(40, 80)))
    np.testing.assert_array_equal(model.predict(pd.DataFrame(X)), y)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_features_of_any_scale(rng, scale):
    y = np.arange(40) % 2
    X = (rng.normal(size=(40, 3)) + 3 * y[:, None]) * scale
    for learner in ("svm", "mhks", "kmhks"):
        model = MKLClassifier("rbf", learner=learner).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) > 0.9


def test_a_column_far_from_zero(rng):
    # Time stamps beside small numbers: the distances are as good as without the offset.
    y = np.arange(40) % 2
    X = np.round(rng.normal(size=(40, 2)) + 3 * y[:, None], 5)
    near = MKLClassifier("rbf").fit(X, y)
    moved = X + np.array([1e9, 0])
    far = MKLClassifier("rbf").fit(moved, y)
    np.testing.assert_allclose(far.decision_function(moved), near.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [2.0]], [1, 1], "there is only one class, 1"),
        ([[1.0], [2.0]], ["a", "a"], "there is only one class, 'a'"),
        ([[1.0]], [1], "at least 2"),
        ([[np.nan], [2.0]], [0, 1], "Sample 0"),
        ([[np.inf], [2.0]], [0, 1], "infinity"),
        ([["x"], ["y"]], [0, 1], "could not convert string to float"),
        ([[1.0], [2.0]], [0.5, 1.7], "continuous"),
        ([[1.0], [2.0]], [0, 1, 1], "it has 3 for 2"),
        (np.zeros((2, 0)), [0, 1], "0 feature"),
    ],
)
def test_data_that_can_not_be_learned_from_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier().fit(X, y)


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b", None],
        np.array(["a", np.nan, "b", np.nan], dtype=object),
        pd.Series(["a", pd.NA, "b", pd.NA], dtype="string"),
        pd.Categorical(["a", None, "b", None]),
    ],
)
def test_rows_without_a_label_are_counted(labels):
    with pytest.raises(DataError, match="2 of 4 samples have no class label; the first is 1"):
        MKLClassifier("linear").fit(np.eye(4), labels)


def test_gaps_of_new_rows_are_the_medians_of_training_rows(rng: np.random.Generator) -> None:
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    gaps, filled = X[:1].copy(), X[:1].copy()
    gaps[0, 1], filled[0, 1] = np.nan, np.median(X[:, 1])
    model = MKLClassifier().fit(X, y)
    np.testing.assert_array_equal(model.decision_function(gaps), model.decision_function(filled))
    parts = MKLClassifier("rbf(gamma=1.0)", feature_map="fourier", learner="kda")
    for classes in (np.arange(2), None):
        parts.partial_fit(X, y, classes=classes)
    with pytest.raises(DataError, match="Sample 0"):
        parts.predict(gaps)


def test_repeated_column_names_are_named():
    with pytest.raises(DataError, match="unique, and 'a' occurs 2 times"):
        MKLClassifier().fit(pd.DataFrame(np.eye(3), columns=list("aab")), [0, 1, 0])
