"""The examples run; those that draw are run by the build of the documentation, and read here."""

from __future__ import annotations

import ast
import runpy
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.documents import ROOT
from helpers.processes import run_script

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PICTURES = [path for path in EXAMPLES if path.name.startswith("plot_")]
WITH_ARGUMENTS = ("feature_maps.py",)
PUBLIC = (
    "mklkit",
    "mklkit.combiners",
    "mklkit.datasets",
    "mklkit.evaluation",
    "mklkit.feature_maps",
    "mklkit.kernels",
    "mklkit.learners",
    "mklkit.plotting",
    "mklkit.plugin",
)
PACKAGES = (
    "mklkit_survival",
    "mklkit_optimize.alignment_display",
    "mklkit_optimize.consensus_display",
    "mklkit_optimize.search_surface",
    "mklkit_papers.gates",
    "mklkit_papers.stars",
)


@pytest.mark.parametrize(
    "path",
    [path for path in EXAMPLES if path not in PICTURES and path.name not in WITH_ARGUMENTS],
    ids=lambda path: path.stem,
)
def test_an_example_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_has_a_title_a_text_and_public_names(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    compile(tree, path, "exec")
    title, line, empty, *text = (ast.get_docstring(tree) or "").splitlines()
    assert line == "=" * len(title)
    assert not empty
    assert len(" ".join(text).split(". ")) >= 3
    assert "# %%" in source
    assert source.endswith("pyplot.show()\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("mklkit"):
            assert node.module in (*PUBLIC, *PACKAGES)
            if node.module in PACKAGES:  # they need not be installed here
                continue
            module = import_module(node.module)
            public = {*dir(module), *getattr(module, "__all__", ())}
            assert {name.name for name in node.names} <= public


def test_feature_maps_prints_its_table(tmp_path: Path) -> None:
    letters = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 2)), columns=["a", "b"])
    letters.assign(target=np.where(letters["a"] > 0, "A", "Z")).to_csv(tmp_path / "letter.csv")
    script = ROOT / "examples" / "feature_maps.py"
    small = ("--rows", 120, "--features", 8, "--seeds", 1, "--letters", "letter.csv")
    done = run_script(script, *small, cwd=tmp_path)
    assert done.code == 0, done.err
    lines = done.out.strip().splitlines()
    head, *rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:1] + lines[2:]
    ]
    assert head[2:] == ["uniform", "kmeans", "leverage", "fourier"]
    assert [row[:2] for row in rows] == [[row[0], "8"] for row in rows]
    assert len(rows) == 3
    errors = np.array([[float(cell.split(",")[0]) for cell in row[2:]] for row in rows])
    assert (errors[:, :3] < 1).all()
