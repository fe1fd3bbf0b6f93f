"""Several classes at once, where combiner and learner can, beside one against one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier, save_model
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
    ("how", "wrapper"), [("ovo", OneVsOneClassifier), ("ovr", OneVsRestClassifier)]
)
def test_two_at_a_time_when_asked(wine, how, wrapper):
    X, y = wine
    model = MKLClassifier(PAIR, learner="kda(alpha=0.1)", multiclass=how).fit(X, y)
    peer = wrapper(MKLClassifier(PAIR, learner="kda(alpha=0.1)")).fit(X, y)
    assert len(model.decisions_) == 3
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    native = MKLClassifier(PAIR, learner="kda(alpha=0.1)", multiclass="native").fit(X, y)
    assert (native.predict(X) == model.predict(X)).mean() > 0.95


def test_two_classes_are_binary_whatever_is_asked():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    scores = [
        MKLClassifier(PAIR, learner="kda", multiclass=how).fit(X, y).decision_function(X)
        for how in ("native", "ovo", "ovr")
    ]
    assert scores[0].shape == (100,)
    for others in scores[1:]:
        np.testing.assert_array_equal(others, scores[0])


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


@pytest.mark.process
def test_a_fresh_process_reads_mixture_and_gates(tmp_path, wine):
    X, y = wine
    gating = "cluster-gating(clusterer='bayesian-gaussian-mixture(max_iter=1000)', n_clusters=3)"
    for name, combiner in (("gauss", "cluster-gating(n_clusters=3)"), ("bayes", gating)):
        model = MKLClassifier(PAIR, combiner=combiner, random_state=0).fit(X, y)
        save_model(model, tmp_path / f"{name}.mkl")
        np.savez(tmp_path / f"{name}.npz", gates=model.gate_weights(X), labels=model.predict(X))
    np.save(tmp_path / "rows.npy", X)
    script = (
        "import sys, numpy as np; from mklkit.persistence import load_model\n"
        "for name in ('gauss', 'bayes'):\n"
        "    model = load_model(f'{sys.argv[1]}/{name}.mkl')\n"
        "    X, kept = np.load(f'{sys.argv[1]}/rows.npy'), np.load(f'{sys.argv[1]}/{name}.npz')\n"
        "    np.testing.assert_array_equal(model.gate_weights(X), kept['gates'])\n"
        "    np.testing.assert_array_equal(model.predict(X), kept['labels'])\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
