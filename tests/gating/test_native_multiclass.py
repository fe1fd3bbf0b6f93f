"""Several classes at once, where combiner and learner can, beside one against one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.errors import IncompatibleError

PAIR = ["linear", "rbf(sigma='mean')"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["barolo", "grignolino", "barbera"])[y]


@pytest.mark.parametrize("combiner", ["uniform", "cluster-gating(n_clusters=2)"])
def test_native_takes_all_classes_at_once(wine, combiner):
    X, y = wine
    model = MKLClassifier(
        PAIR, combiner=combiner, learner="kda", multiclass="native", random_state=0
    )
    scores = model.fit(X, y).decision_function(X)
    assert scores.shape == (len(X), 3)
    assert len(model.decisions_) == len(model.problems_) == 1
    assert model.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    assert model.score(X, y) > 0.97
    assert set(model.weights_frame()["problem"]) == {"all classes"}


@pytest.mark.parametrize(
    ("combiner", "learner", "culprit"),
    [("uniform", "svm", "svm"), ("dimkl3", "kda", "dimkl3"), ("ifsl", "mhks", "ifsl")],
)
def test_parts_that_tell_only_two_classes_apart_say_so(wine, combiner, learner, culprit):
    X, y = wine
    model = MKLClassifier(PAIR, combiner=combiner, learner=learner, multiclass="native")
    with pytest.raises(IncompatibleError, match=rf"{culprit} handles two classes only.*'ovo'"):
        model.fit(X, y)


def test_weights_that_need_two_classes_fall_back_to_one_against_one(wine):
    X, y = wine
    model = MKLClassifier(PAIR, combiner="dimkl3", learner="kda").fit(X, y)
    assert len(model.problems_) == 3
    assert model.score(X, y) > 0.97
