"""The file of finished runs: going on from it, refusing another plan, what a kill leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mklkit import Comparison
from mklkit.comparison import comparing
from mklkit.errors import DataError

SAME = ["seconds", "predict_seconds", "memory"]


class Counting(GaussianNB):
    """Counts its fits, and is interrupted at some of them."""

    fits = 0
    stop_at = -1

    def fit(self, X: Any, y: Any) -> Any:
        """Fit, or be interrupted as from the keyboard."""
        type(self).fits += 1
        if type(self).fits == type(self).stop_at:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the baselines out and begin to count."""
    monkeypatch.setattr(comparing, "baselines", lambda options: [])
    monkeypatch.setattr(comparing, "kernel_baselines", lambda options: [])
    monkeypatch.setattr(Counting, "fits", 0)
    monkeypatch.setattr(Counting, "stop_at", -1)


def run(path: Path | None, *more: Any, cv: str = "3x2", **settings: Any) -> Comparison:
    rng = np.random.default_rng(0)
    y = np.repeat(["n", "y"], 15)
    X = rng.normal(size=(30, 3)) + (y == "y")[:, None] * settings.pop("shift", 1.0)
    methods = [("bayes", Counting()), ("constant", DummyClassifier()), *more]
    return comparing.compare(X, y, methods=methods, cv=cv, results=path, **settings)


def table(found: Comparison) -> pd.DataFrame:
    return found.table().drop(columns=SAME)


def test_goes_on_after_an_interruption(tmp_path: Path) -> None:
    whole = run(None)
    Counting.fits, Counting.stop_at = 0, 4
    part = run(tmp_path / "a.jsonl")
    assert not part.complete
    assert len(part.cells) == 6
    assert part.table()["splits"].tolist() == [3, 3]
    after = run(tmp_path / "a.jsonl")
    assert after.complete
    assert (after.reused, Counting.fits) == (6, 4 + 3)
    pd.testing.assert_frame_equal(table(after), table(whole))
    assert after.verdict == whole.verdict
    pd.testing.assert_frame_equal(
        after.results.drop(columns=SAME), whole.results.drop(columns=SAME)
    )


def test_a_line_cut_by_a_kill_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    whole = run(path)
    content = path.read_bytes()
    for end in (len(content) - 20, content.index(b"\n") + 10, 40):
        path.write_bytes(content[:end])
        pd.testing.assert_frame_equal(table(run(path)), table(whole))
        assert path.read_bytes().count(b"\n") == content.count(b"\n")


def test_more_methods_compute_only_theirs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    run(path)
    found = run(path, ("again", Counting(var_smoothing=0.1)))
    assert (found.reused, Counting.fits) == (12, 12)
    assert run(path).reused == 12
    pd.testing.assert_frame_equal(table(run(path)), table(run(None)))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cv": "2x2"}, r"the splits \(description of data: '3 stratified folds, 2 times' there"),
        ({"seed": 1}, r"the seed \(0 there, 1 now\)"),
        ({"shift": 2.0}, r"the data \(fingerprint of data"),
    ],
)
def test_another_plan_is_refused(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    run(tmp_path / "a.jsonl")
    before = (tmp_path / "a.jsonl").read_bytes()
    with pytest.raises(DataError, match=said):
        run(tmp_path / "a.jsonl", **settings)
    assert (tmp_path / "a.jsonl").read_bytes() == before


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a file of results"):
        run(tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_text() == "a,b\n1,2\n"
    path = tmp_path / "a.jsonl"
    run(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{broken", *lines[2:], ""]))
    with pytest.raises(DataError, match="damaged in line 2"):
        run(path)
