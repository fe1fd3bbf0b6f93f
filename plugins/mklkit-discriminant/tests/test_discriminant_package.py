"""The package as users meet it: listed with its origin, fitted, saved and loaded by the CLI."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import mklkit_discriminant
import numpy as np
import pytest

from mklkit import MKLClassifier, load_model, save_model
from mklkit.__main__ import main

COMBINERS = ("mkda", "mkda(form='sdp')", "localized", "localized(gating='sigmoid')")


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


def three_classes(n_rows=60):
    rng = np.random.default_rng(4)
    rows, y = rng.normal(size=(n_rows, 3)), np.arange(n_rows) % 3
    rows[:, 0] += 2 * y
    return rows, y


def test_only_public_names_of_mklkit_are_imported():
    for path in Path(mklkit_discriminant.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mklkit":
                assert node.module in ("mklkit", "mklkit.plugin", "mklkit.learners"), path
                public = dir(import_module(node.module))
                assert {alias.name for alias in node.names} <= set(public)
            if isinstance(node, ast.Import):
                assert not any(alias.name.split(".")[0] == "mklkit" for alias in node.names)


def test_combiners_are_listed_with_their_origin(command_line):
    code, out, _ = command_line("list", "combiners")
    assert code == 0
    lines = out.splitlines()
    for name in ("mkda", "localized"):
        assert any({name, "mklkit-discriminant"} <= set(line.split()) for line in lines)


@pytest.mark.parametrize("combiner", ["mkda(alpha=0.01)", "localized"])
def test_fit_save_and_predict_on_the_command_line(command_line, tmp_path, combiner):
    rows, y = three_classes()
    table, model = tmp_path / "rows.csv", tmp_path / "model.mkl"
    lines = [",".join(map(str, [*row, "xyz"[label]])) for row, label in zip(rows, y, strict=True)]
    table.write_text("\n".join(["a,b,c,kind", *lines]) + "\n", encoding="utf-8")
    code, _, said = command_line("fit", table, "--combiner", combiner, "-o", model)
    assert code == 0, said
    code, out, said = command_line("predict", model, table)
    assert code == 0, said
    predicted = out.splitlines()[1:]
    assert len(predicted) == len(y)
    right = ["xyz"[label] == line.split(",")[0] for label, line in zip(y, predicted, strict=True)]
    assert np.mean(right) > 0.7


@pytest.mark.parametrize("combiner", COMBINERS)
def test_a_saved_model_decides_as_before(tmp_path, combiner):
    rows, y = three_classes()
    model = MKLClassifier(["linear", "rbf"], combiner=combiner, random_state=0).fit(rows, y)
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    save_model(model, tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(restored.decision_function(rows), model.decision_function(rows))
    single = rows.astype(np.float32)
    again = MKLClassifier(["linear", "rbf"], combiner=combiner, random_state=0).fit(single, y)
    assert again.score(single, y) == pytest.approx(model.score(rows, y), abs=0.05)
