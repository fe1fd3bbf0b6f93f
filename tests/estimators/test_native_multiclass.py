"""Several classes at once, where combiner and learner can, beside one against one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.errors import IncompatibleError

PAIR = ["linear", "rbf(sigma='mean')"]

WINES, CLASSES = load_wine(return_X_y=True)
X, Y = StandardScaler().fit_transform(WINES), np.array(["barolo", "grignolino", "barbera"])[CLASSES]


@pytest.mark.parametrize("combiner", ["uniform", "cluster-gating(n_clusters=2)"])
def test_native_takes_all_classes_at_once(combiner):
    model = MKLClassifier(
        PAIR, combiner=combiner, learner="kda", multiclass="native", random_state=0
    )
    scores = model.fit(X, Y).decision_function(X)
    assert scores.shape == (len(X), 3)
    assert len(model.decisions_) == len(model.problems_) == 1
    assert model.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    assert model.score(X, Y) > 0.97
    assert set(model.weights_frame()["problem"]) == {"all classes"}


@pytest.mark.parametrize(
    ("combiner", "learner", "culprit"),
    [("uniform", "svm", "svm"), ("dimkl3", "kda", "dimkl3"), ("ifsl", "mhks", "ifsl")],
)
def test_parts_that_tell_only_two_classes_apart_say_so(combiner, learner, culprit):
    model = MKLClassifier(PAIR, combiner=combiner, learner=learner, multiclass="native")
    with pytest.raises(IncompatibleError, match=rf"{culprit} handles two classes only.*'ovo'"):
        model.fit(X, Y)


def test_weights_that_need_two_classes_fall_back_to_one_against_one():
    model = MKLClassifier(PAIR, combiner="dimkl3", learner="kda").fit(X, Y)
    assert len(model.problems_) == 3
    assert model.score(X, Y) > 0.97
