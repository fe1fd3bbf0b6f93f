"""The file of finished runs: going on from it, refusing another plan, what a kill leaves."""

from __future__ import annotations

import json
import os
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

SAME = ["seconds", "predict_seconds", "refit_seconds", "memory"]


BROKEN_LINES: list[dict[str, Any]] = [
    {"accuracy": "high"},
    {"accuracy": 1.5},
    {"accuracy": None},
    {"auc": True},
    {"seconds": -1},
    {"memory": 10**400},
    {"n_test": None},
    {"split": 6},
    {"data": "another"},
    {"params": [1]},
    {"weights": {"rbf": "much"}},
    {"confusion": [[1]]},
    {"confusion": [[1, -1], [0, 1]]},
    {"calibration": {"rows": []}},
    {"reason": 5},
    {"unknown": 1},
]


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
        ({"cv": "2x2"}, "the splits"),
        ({"seed": 1}, "another comparison"),
        ({"shift": 2.0}, "the data"),
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


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the lines of a whole file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "baselines", lambda options: [])
        patch.setattr(comparing, "kernel_baselines", lambda options: [])
        path = tmp_path_factory.mktemp("finished") / "a.jsonl"
        run(path)
    return path.read_text().splitlines()


def refused(path: Path, said: str) -> None:
    """Check that a file is refused and stays as it was."""
    before = path.read_bytes()
    with pytest.raises(DataError, match=said):
        run(path)
    assert path.read_bytes() == before
    assert Counting.fits == 0


@pytest.mark.parametrize("change", BROKEN_LINES, ids="-".join)
def test_a_value_that_no_run_has(
    tmp_path: Path, finished: list[str], change: dict[str, Any]
) -> None:
    path = tmp_path / "a.jsonl"
    edited = json.dumps({**json.loads(finished[3]), **change})
    path.write_text("\n".join([*finished[:3], edited, ""]))
    refused(path, "damaged in line 4; delete this line")


@pytest.mark.parametrize(
    "line", ["[1]", "5", "", "{}", '{"split": NaN}', '{"methods": 1e999}', "[" * 100_000]
)
def test_a_line_that_is_no_run(tmp_path: Path, finished: list[str], line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([finished[0], line, ""]))
    refused(path, "damaged in line 2; delete this line")


def test_a_run_under_the_number_of_another_split(tmp_path: Path, finished: list[str]) -> None:
    path = tmp_path / "a.jsonl"
    edited = json.dumps({**json.loads(finished[3]), "fold": 2})
    path.write_text("\n".join([*finished[:3], edited, ""]))
    refused(path, '"split": 1 has the numbers of another split')


def test_a_first_line_of_other_values(tmp_path: Path, finished: list[str]) -> None:
    path = tmp_path / "a.jsonl"
    for change, reason in (
        ({"data": [5]}, "another comparison"),
        ({"splits": None}, "another comparison"),
        ({"methods": 1}, "damaged in line 1; it says what"),
    ):
        path.write_text(json.dumps({**json.loads(finished[0]), **change}) + "\n")
        refused(path, reason)


@pytest.mark.parametrize("content", ["{", '{"m', '{"mklkit_compar', "\n"])
def test_the_beginning_of_something_else(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    refused(path, "not a file of results")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/full")
    for name in ("pipe", "link"):
        with pytest.raises(DataError, match="a device or a pipe"):
            run(tmp_path / name)


@pytest.mark.skipif(os.name == "nt", reason="needs locks of POSIX")
def test_one_comparison_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    said: list[str] = []

    def fit(self: Any, X: Any, y: Any) -> Any:
        """Try to begin another comparison with the same file."""
        with pytest.raises(DataError, match="being written by another") as error:
            run(path)
        said.append(str(error.value))
        return GaussianNB.fit(self, X, y)

    monkeypatch.setattr(Counting, "fit", fit)
    assert run(path).table()["failures"].sum() == 0
    assert len(said) == 6
    assert run(path).reused == 12


def test_a_file_through_a_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.jsonl")
    run(tmp_path / "link")
    assert run(tmp_path / "a.jsonl").reused == 12


def test_a_class_that_is_not_unicode(tmp_path: Path) -> None:
    y = np.repeat(["\udcff", "b"], 10)
    X = np.arange(20.0).reshape(-1, 1)
    for reused in (0, 2):
        found = comparing.compare(
            X, y, methods=[("bayes", GaussianNB())], cv="2x1", results=tmp_path / "a.jsonl"
        )
        assert found.reused == reused
    for ending in ("html", "json", "tex", "csv"):
        found.report(tmp_path / f"a.{ending}")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["plan"]["data"][0]["classes"] == ["b", "\udcff"]
