"""The package as users meet it: installed, listed, on the command line, in model files."""

from __future__ import annotations

import ast
import json
import sys
from importlib import import_module
from pathlib import Path

import mklkit_optimize
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

import mklkit
from mklkit import MKLClassifier, load_model, save_model
from mklkit.__main__ import main

NAMES = ("cka", "easymkl", "gamkl", "mklgl", "silp", "simplemkl")


@pytest.fixture
def command_line(capsys, monkeypatch):
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


def test_only_public_names_of_mklkit_are_imported():
    for path in Path(mklkit_optimize.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mklkit":
                assert node.module in ("mklkit", "mklkit.plugin", "mklkit.learners"), path
                public = dir(import_module(node.module))
                assert {alias.name for alias in node.names} <= set(public)
            if isinstance(node, ast.Import):
                assert not any(alias.name.split(".")[0] == "mklkit" for alias in node.names)


def test_the_combiners_are_listed_with_their_origin(command_line):
    listed = {entry.name: entry.distribution for entry in mklkit.get_registry().entries("combiner")}
    assert {name: listed[name] for name in NAMES} == dict.fromkeys(NAMES, "mklkit-optimize")
    code, out, _ = command_line("list", "combiners")
    assert code == 0
    assert "mklkit-optimize" in out


def test_fit_save_and_predict_on_the_command_line(command_line, tmp_path):
    X, y = load_iris(return_X_y=True)
    table = tmp_path / "flowers.csv"
    lines = ["a,b,c,d,kind"] + [
        ",".join(map(str, [*row, "xyz"[label]])) for row, label in zip(X, y, strict=True)
    ]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = tmp_path / "model.mkl"
    combiner = "mklgl(p=2, tol=0.001)"
    code, out, said = command_line("fit", table, "--combiner", combiner, "-o", model, "--json")
    assert code == 0, said
    assert model.exists()
    assert "mklgl" in json.loads(out)["model"]["combiner"]
    code, predicted, said = command_line("predict", model, table)
    assert code == 0, said
    assert len(predicted.splitlines()) == len(y) + 1
    pairs = zip(y, predicted.splitlines()[1:], strict=True)
    assert np.mean(["xyz"[label] in line.split(",") for label, line in pairs]) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_models_of_three_classes_survive_the_file(name, tmp_path):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    short = {"gamkl": "gamkl(generations=2, population=6)"}.get(name, name)
    model = MKLClassifier(combiner=short, random_state=0).fit(X, y)
    assert model.weights_.shape == (3, 3)
    assert model.weights_.min() >= 0
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    assert model.score(X, y) > 0.9
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl")
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name", NAMES)
def test_one_kernel_has_all_the_weight(name):
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(kernels=["rbf"], combiner=name).fit(X[50:], y[50:])
    np.testing.assert_allclose(model.weights_, [[1.0]])


def test_parameters_are_searched():
    X, y = load_iris(return_X_y=True)
    model = clone(MKLClassifier(combiner=mklkit_optimize.EasyMKL()))
    search = GridSearchCV(model, {"combiner__alpha": [0.1, 0.9]}, cv=2).fit(X[50:], y[50:])
    assert search.best_params_["combiner__alpha"] in (0.1, 0.9)
