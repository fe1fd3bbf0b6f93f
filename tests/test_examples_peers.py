"""The script of the systems that paper 000 compares with runs, briefly, on built-in data."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import ROOT
from processes import run_script
from sklearn.datasets import load_iris

pytestmark = pytest.mark.process

SCRIPT = ROOT / "examples" / "paper_000_peers.py"


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Return a folder with the table of flowers."""
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path


def test_paper_000_peers_prints_its_table(flowers: Path) -> None:
    pytest.importorskip("mklkit_views")
    options = ("--splits", 1, "--only", "Iris", "--coarse")
    done = run_script(SCRIPT, "--data", flowers, *options, cwd=flowers)
    assert done.code == 0, done.err
    assert done.err == ""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        ["Iris", "CCA+MHKS1"],
        ["Iris", "CCA+MHKS2"],
        ["Iris", "SVM-2K"],
        ["Iris", "SVM1"],
        ["Iris", "SVM2"],
    ]
    compared = [float(row[4].partition("(")[0]) for row in rows]
    published = [float(row[5]) for row in rows]
    assert published == [92.67, 90.53, 97.20, 97.20, 97.47]
    # One half of 75 rows: four rows of chance either way.
    assert all(ours > theirs - 6 for ours, theirs in zip(compared, published, strict=True))
    gaps = [ours - theirs for ours, theirs in zip(compared, published, strict=True)]
    assert [float(row[6]) for row in rows] == pytest.approx(gaps, abs=0.011)


def test_paper_000_peers_runs_some_of_the_methods(flowers: Path) -> None:
    pytest.importorskip("mklkit_views")
    options = ("--splits", 1, "--only", "Iris", "--coarse", "--methods", "SVM2", "SVM1")
    done = run_script(SCRIPT, "--data", flowers, *options, cwd=flowers)
    assert done.code == 0, done.err
    methods = [line.split("|")[2].strip() for line in done.out.splitlines()[2:]]
    assert methods == ["SVM1", "SVM2"]


def test_paper_000_peers_says_which_plugin_it_misses(flowers: Path) -> None:
    done = run_script(SCRIPT, "--data", flowers, cwd=flowers, MKLKIT_DISABLE_PLUGINS="1")
    assert done.code == 2
    assert done.out == ""
    assert "cca-mhks1" in done.err
    assert "mklkit-views" in done.err
    assert "Traceback" not in done.err


def test_paper_000_peers_says_which_files_it_misses(tmp_path: Path) -> None:
    pytest.importorskip("mklkit_views")
    done = run_script(SCRIPT, "--data", tmp_path, "--only", "Sonar", cwd=tmp_path)
    assert done.code == 2
    assert "sonar.csv" in done.err
    assert "Traceback" not in done.err
