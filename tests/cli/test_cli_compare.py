"""``mklkit compare``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.processes import ENVIRONMENT, Run
from sklearn import ensemble
from sklearn.naive_bayes import GaussianNB

from mklkit import load_model
from mklkit.comparison import comparing
from mklkit.comparison.running import run_cells

REPORTS = ("html", "csv", "json", "tex")
CHEAP = ("-c", "alignment", "-k", "linear", "-l", "svm(C=1.0)", "--cv", "2x1")


@pytest.fixture(scope="session")
def two_kinds(patients: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 40 rows in two classes, with text and gaps."""
    path = tmp_path_factory.mktemp("compared") / "patients.csv"
    patients[patients["target"] != "very ill"][:40].to_csv(path, index=False)
    return path


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the dear baselines."""
    monkeypatch.setattr(ensemble, "RandomForestClassifier", lambda **_: GaussianNB())
    monkeypatch.setattr(
        ensemble, "HistGradientBoostingClassifier", lambda **_: GaussianNB(var_smoothing=0.1)
    )


@pytest.mark.process
@pytest.mark.usefixtures("cheap")
def test_a_table_a_sentence_files_and_a_model(mklkit: Run, two_kinds: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"a.{name}" for name in (*REPORTS, "mkl", "jsonl")}
    reports = [word for name in REPORTS for word in ("--report", files[name])]
    more = ("--results", files["jsonl"], "-o", files["mkl"])
    done = mklkit("compare", two_kinds, *CHEAP, *reports, *more, COLUMNS="80")
    assert done.code == 0, done
    table, sentence = done.out.rsplit("\n\n", 1)
    assert max(map(len, table.splitlines())) <= 80
    for name in ("alignment", "linear", "logistic regression", "random forest"):
        assert name in table
    assert sentence.count("\n") >= 1
    assert all(path.exists() for path in files.values())
    assert f"<code>mklkit compare {two_kinds}" in files["html"].read_text()
    inspected = mklkit("inspect", files["mkl"])
    assert "target 'target'" in inspected.out, inspected
    assert "recall" in inspected.out
    explained = mklkit("explain", files["mkl"], two_kinds, "--cv", "2", "--json")
    assert explained.json["target"] == "target", explained
    assert load_model(files["mkl"]).predict(pd.read_csv(two_kinds).iloc[:3, :4]).shape == (3,)
    again = mklkit("compare", two_kinds, *CHEAP, "--results", files["jsonl"], COLUMNS="80")
    assert again.out == done.out
    assert "10 of 10 runs" in again.err


@pytest.mark.usefixtures("cheap")
@pytest.mark.process
def test_json_has_everything(mklkit: Run, two_kinds: Path) -> None:
    answer = mklkit("compare", two_kinds, *CHEAP, "--json").json
    assert [len(answer[key]) for key in ("cells", "tables")] == [10, 1]
    assert answer["plan"]["splits"][0]["description"] == "2 stratified folds"
    assert answer["verdict"].endswith(".")


@pytest.mark.usefixtures("cheap")
def test_ctrl_c_before_the_first_run_is_told(
    mklkit: Run, two_kinds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "run_cells", interrupted)
    done = mklkit("compare", two_kinds, *CHEAP)
    assert (done.code, done.out) == (130, "")
    assert "before the first run was finished" in done.err


@pytest.mark.usefixtures("cheap")
def test_an_interrupted_table_says_so(
    mklkit: Run, two_kinds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Iterator[Any]:
        yield from islice(run_cells(*given), 2)
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "run_cells", interrupted)
    done = mklkit("compare", two_kinds, *CHEAP, "-o", tmp_path / "a.mkl")
    assert done.code == 130
    assert done.out.startswith("interrupted")
    assert "after 2 of 10 runs" in done.out
    assert "a.mkl was not written" in " ".join(done.out.split())
    assert not (tmp_path / "a.mkl").exists()


@pytest.mark.process
def test_numbers_by_a_score_with_weights_until_a_time(
    mklkit: Run, two_kinds: Path, tmp_path: Path
) -> None:
    words = ["--target", "pulse", "--drop", "target", "--task", "regression"]
    words += ["-k", "linear", "-c", "uniform", "--cv", "2x1", "--baselines", "ridge-regression"]
    more = ("--score", "neg_mean_absolute_error", "-o", tmp_path / "a.mkl")
    done = mklkit("compare", two_kinds, *words, *more, COLUMNS="80")
    assert done.code == 0, done
    assert "neg_mean_absolute_error" in done.out
    assert " of 4" not in done.err  # A short run reports no progress in a pipe.
    assert "learns      numbers" in mklkit("inspect", tmp_path / "a.mkl").out
    stopped = mklkit("compare", two_kinds, *words, "--time-limit", "0s")
    assert (stopped.code, stopped.out.splitlines()[0]) == (0, "stopped  after 1 of 4 runs")
    assert "the time limit of 0s ended it" in " ".join(stopped.out.split())


@pytest.mark.process
def test_the_commands_say_what_they_score_and_begin(mklkit: Run, tmp_path: Path) -> None:
    noise = np.random.default_rng(7).normal(size=(100, 3))
    rare = np.repeat(["common", "rare"], [90, 10])
    table = pd.DataFrame(noise, columns=list("abc")).assign(target=rare)
    table.to_csv(tmp_path / "rare.csv", index=False)
    quick = ("-k", "linear", "-l", "ridge", "-c", "uniform")
    done = mklkit("compare", tmp_path / "rare.csv", *quick, "--baselines", "none", "--cv", "2x2")
    assert done.err.splitlines()[0].startswith(
        "4 runs: 1 method on 4 splits: 2 folds, 2 times (--no, --cv"
    )
    assert "how " in done.out
    assert "balanced accuracy" in done.out
    model = tmp_path / "a.mkl"
    answer = mklkit("fit", tmp_path / "rare.csv", *quick, "-o", model, "--tune", "fast", "--json")
    assert answer.json["score"] == "balanced_accuracy"
    assert any("balanced accuracy" in choice for choice in answer.json["choices"])
    scored = mklkit("evaluate", tmp_path / "rare.csv", *quick, "--cv", "2")
    assert scored.out.startswith("balanced accuracy")
    assert "balanced accuracy 50.0 %, against 50.0 %" in scored.err
    limited = ("--time-limit", "0s", "--repeats", "1")
    explained = mklkit("explain", model, tmp_path / "rare.csv", *limited)
    assert "(--cv and --time-limit shorten it)" in explained.err.splitlines()[0]
    assert explained.err.splitlines()[0].endswith("(--as-fitted keeps its choice)")
    assert "1 of 10 repetitions" in " ".join(explained.out.split())
    text = mklkit("inspect", model, "--methods").out
    assert "the target has 2 classes" in text
    assert json.loads(mklkit("inspect", model, "--json").out)["score"] == "balanced_accuracy"


@pytest.mark.process
def test_interrupted_killed_and_resumed(mklkit: Run, two_kinds: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    arguments = ["compare", two_kinds, *CHEAP[:-1], "2x3", "--results"]
    process = _signalled(arguments, path, signal.SIGINT, lines=6)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "logistic regression" in out
    assert f"the same command resumes from {path}" in " ".join(err.split())
    _signalled(arguments, path, signal.SIGKILL, lines=14).communicate(timeout=30)
    written = path.read_bytes().count(b"\n") - 1
    assert 13 <= written < 30
    resumed = mklkit(*arguments, path, "--json")
    assert f"{written} of 30 runs" in resumed.err
    whole = mklkit(*arguments, tmp_path / "whole.jsonl", "--json")
    assert _without_times(resumed.json) == _without_times(whole.json)


def _signalled(
    arguments: list[object], path: Path, sign: signal.Signals, lines: int
) -> subprocess.Popen[str]:
    """Start a comparison, and send it a signal once its file has so many lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mklkit", *map(str, arguments), str(path)],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Commands in the background may inherit from a shell that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    end = time.monotonic() + 40
    while time.monotonic() < end and (not path.exists() or path.read_bytes().count(b"\n") < lines):
        time.sleep(0.02)
    process.send_signal(sign)
    return process


def _without_times(report: object) -> object:
    dropped = ("seconds", "predict_seconds", "refit_seconds", "memory")
    text = json.dumps(report)
    return json.loads(
        text,
        object_hook=lambda metadata: {key: metadata[key] for key in metadata if key not in dropped},
    )
