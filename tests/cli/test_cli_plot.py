"""``mklkit fit --plot``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from helpers.processes import FIXED, Run
from sklearn.datasets import load_iris

PLAIN = ("fit", "iris", "-k", "linear", "-k", "near:rbf", "--combiner", "dimkl3", *FIXED)


FORMATS = {"w.png": b"\x89PNG", "w.pdf": b"%PDF", "W.SVG": b"<?xml"}


@pytest.mark.parametrize("name", FORMATS)
def test_the_ending_chooses_the_format(mklkit: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    done = mklkit(*PLAIN, "--plot", path)
    assert done.code == 0, done
    # When first run, matplotlib may say that it looks for fonts.
    assert done.err.endswith(f"drew {path}\n")
    assert path.read_bytes().startswith(FORMATS[name])
    # Nothing half written stays behind.
    assert os.listdir(tmp_path) == [name]


def test_gating_draws_its_clusters(mklkit: Run, tmp_path: Path) -> None:
    path = tmp_path / "theta.svg"
    arguments = ("--combiner", "cluster-gating(n_clusters=2)", "--plot", path, "--json")
    two = load_iris(as_frame=True).frame.query("target > 0")[::2]
    two.to_csv(tmp_path / "two.csv", index=False)
    done = mklkit("fit", tmp_path / "two.csv", "-k", "linear", "-k", "near:rbf", *arguments)
    assert done.code == 0, done
    # matplotlib names each drawn text in a comment.
    texts = re.findall(r"<!-- (.*?) -->", path.read_text())
    assert {"cluster 0", "cluster 1", "linear", "near"} <= set(texts)
    for weight in done.json["model"]["weights"]:
        assert f"{weight['weight']:.2f}" in texts


def test_without_matplotlib_it_is_named(
    mklkit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = mklkit(*PLAIN, "--plot", tmp_path / "w.png")
    done.refused("Plots need matplotlib: pip install matplotlib")
    assert not (tmp_path / "w.png").exists()
