"""The package as users meet it: listed with its origin, fitted, saved and loaded by the CLI."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from mklkit import MKLClassifier, load_model, save_model


def mklkit(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "mklkit", *map(str, arguments)],
        env={**os.environ, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


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


def test_combiners_are_listed_with_their_origin():
    code, out, _ = mklkit("list", "combiners")
    assert code == 0
    for name in ("vote", "average-scores", "defimkl"):
        assert any({name, "mklkit-fusion"} <= set(line.split()) for line in out.splitlines())


def test_fit_save_and_predict_with_the_package_and_without(tmp_path, table):
    path = tmp_path / "model.mkl"
    code, _, said = mklkit("fit", table, "--combiner", "defimkl(p=1)", "-o", path)
    assert code == 0, said
    code, out, said = mklkit("predict", path, table)
    assert code == 0, said
    predicted = [line.split(",")[0] for line in out.splitlines()[1:]]
    assert np.mean(np.array(predicted) == np.tile(["red", "green"], 30)) > 0.85
    code, _, said = mklkit("predict", path, table, MKLKIT_DISABLE_PLUGINS="1")
    assert code == 2
    assert "mklkit-fusion" in said
    assert "Traceback" not in said


def test_a_mistake_is_told_without_a_traceback(table):
    kernels = [part for width in range(1, 12) for part in ("-k", f"k{width}:rbf(gamma={width})")]
    code, _, said = mklkit("fit", table, "--combiner", "defimkl", *kernels)
    assert code == 2
    assert "at most 10 kernels" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("combiner", ["vote", "average-scores(normalise=True)", "defimkl"])
def test_a_saved_model_decides_as_before(tmp_path, combiner):
    rng = np.random.default_rng(4)
    rows, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    rows[:, 0] += y
    model = MKLClassifier(combiner=combiner).fit(rows, y)
    save_model(model, tmp_path / "model.mkl")
    restored = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(restored.decision_function(rows), model.decision_function(rows))
