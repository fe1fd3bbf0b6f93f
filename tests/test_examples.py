"""The examples run: each as a reader would run it, but with pictures in memory."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents import ROOT
from processes import run_script

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WITH_ARGUMENTS = ("feature_maps.py",)


@pytest.mark.process
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
@pytest.mark.parametrize(
    "path", [one for one in EXAMPLES if one.name not in WITH_ARGUMENTS], ids=lambda path: path.stem
)
def test_an_example_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setitem(os.environ, "MPLBACKEND", "agg")
    pyplot.switch_backend("agg")
    runpy.run_path(str(path), run_name="__main__")
    drawn, printed = pyplot.get_fignums(), capsys.readouterr().out
    pyplot.close("all")
    assert bool(drawn) == path.name.startswith("plot_")
    assert printed or drawn


@pytest.mark.process
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
