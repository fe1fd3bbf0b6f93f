"""Model files of the whole family: the same predictions after reload, also in a fresh process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from builders import ifsl_search

from mklkit import (
    MKLClassifier,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    load_model,
    read_facts,
    save_model,
)
from mklkit.datasets.pipeline import build_pipeline
from mklkit.persistence.facts import facts_of_model

NAMES = np.array(["nettle", "fern", "moss"])
IN_A_FRESH_PROCESS = """
import sys
import numpy as np
from mklkit import load_model
for folder in sys.argv[1:]:
    model = load_model(folder + "/model.mkl")
    rows = np.load(folder + "/rows.npy")
    found = {"predictions": model.predict(rows)}
    if hasattr(model, "decision_function"):
        found["values"] = model.decision_function(rows)
    np.savez(folder + "/found.npz", **found)
"""
MODELS = {
    "multik-mhks": MKLClassifier(combiner="ifsl(lam=0.5)"),
    "multiv-kmhks": MKLClassifier(combiner="ifsl(lam=0.5, weights=(3, 2, 1))", learner="kmhks"),
    "shared maps": MKLClassifier(
        combiner="ifsl", feature_map="empirical(subset=15)", random_state=0, multiclass="ovr"
    ),
    "vote": MKLVotingClassifier(
        MKLClassifier(combiner="ifsl", feature_map="empirical(subset=9)"), random_state=0
    ),
    "vote of searches": MKLVotingClassifier(
        ifsl_search(feature_map="empirical(subset=9)", ridges=(0.5, 4.0), lams=(0.5, 4.0), cv=2),
        random_state=0,
    ),
    "rpemekl": RPEMEKLClassifier(subset=(0.1, 0.3), random_state=0),
    "search": ifsl_search(ridges=(0.5, 4.0), lams=(0.5, 4.0), cv=2, random_state=0),
}


def values_of(model, rows):
    found = {"predictions": model.predict(rows)}
    if hasattr(model, "decision_function"):
        found["values"] = model.decision_function(rows)
    return found


def save(name, training_data, new, folder):
    """Fit a model, save it in a folder beside new rows, and return what it says of them."""
    X, labels = training_data
    model = MODELS[name].fit(X, NAMES[labels])
    expected = values_of(model, new)
    assert set(expected["predictions"]) == set(NAMES)
    save_model(model, folder / "model.mkl")
    np.save(folder / "rows.npy", new)
    return expected


def assert_same(found, expected):
    assert set(found) == set(expected)
    for key, values in expected.items():
        np.testing.assert_array_equal(found[key], values)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_the_same(three_classes, rng, tmp_path, name):
    new = rng.normal(size=(60, 4))
    expected = save(name, three_classes, new, tmp_path)
    assert_same(values_of(load_model(tmp_path / "model.mkl"), new), expected)


@pytest.mark.process
def test_another_process_predicts_the_same(three_classes, rng, tmp_path):
    new = rng.normal(size=(60, 4))
    expected = {}
    for name in MODELS:
        folder = tmp_path / name
        folder.mkdir()
        expected[str(folder)] = save(name, three_classes, new, folder)
    subprocess.run([sys.executable, "-c", IN_A_FRESH_PROCESS, *expected], check=True)
    for folder, values in expected.items():
        with np.load(f"{folder}/found.npz") as found:
            assert_same(dict(found), values)


def test_what_a_search_found_is_kept(two_classes, tmp_path):
    X, y = two_classes
    search = ifsl_search(ridges=(0.5, 4.0), lams=(0.5, 4.0), cv=2, random_state=0)
    save_model(search.fit(X, y), tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    assert restored.best_params_ == search.best_params_
    assert list(restored.cv_results_) == list(search.cv_results_)
    for key, values in search.cv_results_.items():
        np.testing.assert_array_equal(restored.cv_results_[key], values)
    np.testing.assert_array_equal(restored.weights_, search.weights_)


def test_histories_are_kept(two_classes, tmp_path):
    X, y = two_classes
    model = MKLClassifier(combiner="ifsl").fit(X, y)
    save_model(model, tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    assert restored.decisions_[0].history == model.decisions_[0].history


def test_shared_maps_stay_shared(three_classes, tmp_path):
    X, y = three_classes
    sizes = {}
    for feature_map in ("empirical(subset=45)", "empirical"):
        model = MKLClassifier(
            ["rbf"] * 3, combiner="ifsl", feature_map=feature_map, random_state=0
        ).fit(np.repeat(X, 10, axis=1), y)
        path = tmp_path / "model.mkl"
        save_model(model, path)
        restored = load_model(path)
        maps = {id(p.map) for one in restored.decisions_ for p in one.projectors}
        sizes[feature_map] = (len(maps), path.stat().st_size)
    assert sizes["empirical(subset=45)"][0] == 3
    assert sizes["empirical"][0] == 9
    assert sizes["empirical(subset=45)"][1] < sizes["empirical"][1]


def test_votes_in_a_pipeline(three_classes, tmp_path):
    X, labels = three_classes
    model = build_pipeline(RPEMEKLClassifier(subset=12, random_state=0)).fit(X, NAMES[labels])
    facts = facts_of_model(model)
    assert facts["members"] == 3
    assert facts["classes"] == sorted(NAMES)
    pairs = {"moss vs fern", "nettle vs fern", "nettle vs moss"}
    assert {row["problem"] for row in facts["weights"]} == pairs
    save_model(model, tmp_path / "model.mkl", facts)
    restored, kept = load_model(tmp_path / "model.mkl"), read_facts(tmp_path / "model.mkl")
    assert kept["weights"] == facts["weights"]
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))
