"""The package as users meet it: listed with its origin, fitted, saved and loaded by the CLI."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from mklkit_views import KernelNmCCA
from sklearn.pipeline import make_pipeline

from mklkit import MKLClassifier, load_model, save_model
from mklkit.__main__ import main


@pytest.fixture
def mklkit(capsys, monkeypatch):
    """Return a function that calls the command line, and returns its exit code and what it said."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["mklkit", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "rows.csv"
    lines = ["a,b,c,target"]
    for number in range(60):
        kind = ("red", "green")[number % 2]
        values = rng.normal(size=3) + (1.0 if kind == "red" else -1.0)
        lines.append(",".join(f"{value:.4f}" for value in values) + f",{kind}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_combiners_are_listed_with_their_origin(mklkit):
    code, out, _ = mklkit("list", "combiners")
    assert code == 0
    for name in ("cca-mhks1", "cca-mhks2", "svm2k", "svm-concat"):
        assert any({name, "mklkit-views"} <= set(line.split()) for line in out.splitlines())


def test_a_combiner_where_a_learner_is_expected_is_named_as_such(mklkit):
    code, out, said = mklkit("fit", "--learner", "svm2k")
    assert (code, out) == (2, "")
    assert "'svm2k' is a combiner" in " ".join(said.split())


def test_fit_save_and_predict(mklkit, tmp_path, table):
    path = tmp_path / "model.mkl"
    code, _, said = mklkit("fit", table, "--combiner", "cca-mhks2", "-o", path)
    assert code == 0, said
    code, out, said = mklkit("predict", path, table)
    assert code == 0, said
    predicted = [line.split(",")[0] for line in out.splitlines()[1:]]
    assert np.mean(np.array(predicted) == np.tile(["red", "green"], 30)) > 0.85


def three_classes():
    rng = np.random.default_rng(4)
    rows, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    rows[:, 0] += y
    return rows, y


@pytest.mark.parametrize("feature_map", [None, "empirical"])
@pytest.mark.parametrize("combiner", ["cca-mhks1", "cca-mhks2", "svm2k", "svm-concat"])
def test_a_saved_model_decides_as_before(tmp_path, combiner, feature_map):
    rows, y = three_classes()
    model = MKLClassifier(["linear", "rbf"], feature_map=feature_map, combiner=combiner).fit(
        rows, y
    )
    save_model(model, tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(restored.decision_function(rows), model.decision_function(rows))
    halves = rows.astype(np.float32)
    assert (
        MKLClassifier(["linear", "rbf"], feature_map=feature_map, combiner=combiner)
        .fit(halves, y)
        .score(halves, y)
        > 0.4
    )


def test_a_pipeline_with_the_transformer_is_saved(tmp_path):
    rows, y = three_classes()
    model = make_pipeline(KernelNmCCA(["linear", "rbf"], n_components=2), MKLClassifier("linear"))
    model.fit(rows, y)
    save_model(model, tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(restored.predict(rows), model.predict(rows))
