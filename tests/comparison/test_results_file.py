"""The file of finished runs: going on from it, refusing another plan, what a kill leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mklkit import Comparison
from mklkit.comparison import comparing, line_up
from mklkit.errors import DataError

SAME = ["seconds", "predict_seconds", "refit_seconds", "memory"]
BROKEN_VALUES: list[dict[str, Any]] = [
    {"scores": {"accuracy": "high"}},
    {"scores": {"accuracy": 1.5}},
    {"score": None},
    {"scores": {"auc": True}},
    {"scores": {"r2": 0.5}},
    {"scores": 0.5},
    {"seconds": -1},
    {"memory": 10**400},
    {"n_test": None},
    {"split": 6},
    {"data": "another"},
    {"params": [1]},
    {"weights": {"rbf": "much"}},
    {"details": {"confusion": [[1]]}},
    {"details": {"confusion": [[1, -1], [0, 1]]}},
    {"details": {"calibration": {"rows": []}}},
    {"details": {"confusion": 3}},
    {"details": [1]},
    {"reason": 5},
    {"unknown": 1},
]
BROKEN_LINES = ["[1]", "5", "", "{}", '{"split": NaN}', '{"methods": 1e999}', "[" * 100_000]


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


@pytest.fixture(scope="module", autouse=True)
def cheap() -> Iterator[None]:
    """Leave the baselines out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_up, "baselines", lambda design: [])
        patch.setattr(line_up, "kernel_references", lambda design: [])
        yield


@pytest.fixture(autouse=True)
def begin_to_count() -> None:
    Counting.fits, Counting.stop_at = 0, -1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


@pytest.fixture(scope="module")
def finished(cheap: None, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the lines of a whole file."""
    path = tmp_path_factory.mktemp("finished") / "a.jsonl"
    run(path)
    return path.read_text().splitlines()


def run(path: Path | None, *more: Any, cv: str = "3x2", **settings: Any) -> Comparison:
    rng = np.random.default_rng(0)
    y = np.repeat(["n", "y"], 15)
    X = rng.normal(size=(30, 3)) + (y == "y")[:, None] * settings.pop("shift", 1.0)
    methods = [("bayes", Counting()), ("constant", DummyClassifier()), *more]
    return comparing.compare(X, y, methods=methods, cv=cv, results=path, **settings)


def table(compared: Comparison) -> pd.DataFrame:
    return compared.table().drop(columns=SAME)


def refused(path: Path, reason: str, **settings: Any) -> None:
    """Check that a file is refused before a fit and stays as it was."""
    before = path.read_bytes()
    with pytest.raises(DataError, match=reason):
        run(path, **settings)
    assert path.read_bytes() == before
    assert Counting.fits == 0


@pytest.mark.process
def test_goes_on_after_an_interruption(path: Path) -> None:
    whole = run(None)
    Counting.fits, Counting.stop_at = 0, 4
    part = run(path)
    assert not part.complete
    assert len(part.cells) == 6
    assert part.table()["splits"].tolist() == [3, 3]
    after = run(path)
    assert after.complete
    assert (after.reused, Counting.fits) == (6, 4 + 3)
    pd.testing.assert_frame_equal(table(after), table(whole))
    assert after.verdict == whole.verdict


@pytest.mark.process
def test_a_line_cut_by_a_kill_is_dropped(path: Path) -> None:
    whole = run(path)
    content = path.read_bytes()
    for end in (len(content) - 20, content.index(b"\n") + 10, 40):
        path.write_bytes(content[:end])
        pd.testing.assert_frame_equal(table(run(path)), table(whole))
        assert path.read_bytes().count(b"\n") == content.count(b"\n")


@pytest.mark.process
def test_more_methods_compute_only_theirs(path: Path) -> None:
    run(path)
    more = run(path, ("again", Counting(var_smoothing=0.1)))
    assert (more.reused, Counting.fits) == (12, 12)
    assert run(path).reused == 12
    pd.testing.assert_frame_equal(table(run(path)), table(run(None)))


@pytest.mark.parametrize("settings", [{"cv": "2x2"}, {"seed": 1}, {"shift": 2.0}])
def test_another_plan_is_refused(path: Path, finished: list[str], settings: dict[str, Any]) -> None:
    path.write_text("\n".join([*finished, ""]))
    refused(path, "another comparison", **settings)


@pytest.mark.parametrize(
    ("place", "change", "reason"),
    [
        *((3, change, "damaged in line 4; delete this line") for change in BROKEN_VALUES),
        (3, {"fold": 2}, '"split": 1 has the numbers of another split'),
        (0, {"data": [5]}, "another comparison"),
        (0, {"splits": None}, "another comparison"),
        (0, {"methods": 1}, "damaged in line 1"),
    ],
)
def test_values_that_no_line_has(
    path: Path, finished: list[str], place: int, change: dict[str, Any], reason: str
) -> None:
    edited = json.dumps({**json.loads(finished[place]), **change})
    path.write_text("\n".join([*finished[:place], edited, ""]))
    refused(path, reason)


@pytest.mark.parametrize("line", [*BROKEN_LINES, "{broken"])
def test_a_line_that_is_no_run(path: Path, finished: list[str], line: str) -> None:
    path.write_text("\n".join([finished[0], line, *finished[2:], ""]))
    refused(path, "damaged in line 2; delete this line")


@pytest.mark.parametrize("content", ["{", '{"m', '{"mklkit_compar', "\n", "a,b\n1,2\n"])
def test_other_files_are_left_alone(path: Path, content: str) -> None:
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
def test_one_comparison_at_a_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(self: Any, X: Any, y: Any) -> Any:
        """Try to begin another comparison with the same file."""
        with pytest.raises(DataError, match="being written by another"):
            run(path)
        return GaussianNB.fit(self, X, y)

    monkeypatch.setattr(Counting, "fit", fit)
    assert run(path).table()["failures"].sum() == 0
    assert run(path).reused == 12


def test_a_file_through_a_link_to_nothing(tmp_path: Path, path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    run(tmp_path / "link")
    assert run(path).reused == 12


def test_a_class_that_is_not_unicode(tmp_path: Path) -> None:
    y = np.repeat(["\udcff", "b"], 10)
    X = np.arange(20.0).reshape(-1, 1)
    for reused in (0, 2):
        comparison = comparing.compare(
            X, y, methods=[("bayes", GaussianNB())], cv="2x1", results=tmp_path / "a.jsonl"
        )
        assert comparison.reused == reused
    for ending in ("html", "json", "tex", "csv"):
        comparison.report(tmp_path / f"a.{ending}")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["plan"]["data"][0]["classes"] == ["b", "\udcff"]
