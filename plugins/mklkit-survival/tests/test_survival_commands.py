"""The commands on survival times, which know nothing of them but their task."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from survival_problems import two_sources

pytestmark = pytest.mark.process
Run = Callable[..., tuple[str, str]]
TIMES = ("--time", "months", "--event", "died")


@pytest.fixture
def mklkit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs a command inside this process, and returns what it prints."""

    def run(*arguments: object, code: int = 0) -> tuple[str, str]:
        from mklkit.cli.app import main

        monkeypatch.setattr(sys, "argv", ["mklkit", *map(str, arguments)])
        try:
            main()
            ended = 0
        except SystemExit as stop:
            ended = int(stop.code or 0)
        out, err = capsys.readouterr()
        assert ended == code, err
        return out, err

    return run


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Return a table of two sources, of which only the first tells the hazard."""
    rows, target, _ = two_sources(120, 1)
    table = pd.DataFrame(rows, columns=[f"{s}_{k}" for s in ("lab", "image") for k in range(4)])
    table["months"] = (12 * target[:, 0]).round(2)
    table["died"] = np.where(target[:, 1] > 0, "yes", "no")
    table["hospital"] = np.arange(120) % 6
    path = tmp_path / "patients.csv"
    table.to_csv(path, index=False)
    return path


KERNELS = ("-k", "lab:linear@lab_*", "-k", "image:linear@image_*")


def test_a_study_is_fitted_evaluated_and_explained(
    patients: Path, tmp_path: Path, mklkit: Run
) -> None:
    model = tmp_path / "model.mkl"
    out, _ = mklkit("fit", patients, *TIMES, *KERNELS, "--drop", "hospital", "-o", model, "--json")
    scores = json.loads(out)["scores"]["held_out"]
    assert scores["concordance"] > 0.6
    assert scores["baseline"] == 0.5
    out, _ = mklkit("evaluate", patients, *TIMES, *KERNELS, "--groups", "hospital", "--cv", "3x1")
    assert "Uno's concordance" in out
    predicted = tmp_path / "predicted.csv"
    _, told = mklkit("predict", model, patients, "-o", predicted)
    table = pd.read_csv(predicted)
    assert [*table] == ["prediction", "median"]
    assert "concordance" in told
    out, _ = mklkit("score", model, patients, "--json")
    cohort = json.loads(out)
    low, high = cohort["intervals"]["all"]["concordance"]
    assert low < cohort["scores"]["all"]["concordance"] < high
    assert cohort["intervals"]["all"]["integrated_brier"] is not None
    assert cohort["calibration"] == {}
    out, _ = mklkit("explain", model, patients, "--json", "--cv", "3x1")
    lost = {entry["kernel"]: entry for entry in json.loads(out)["kernels"]}
    assert lost["lab"]["left_out"] < -0.05 < lost["image"]["left_out"]


def test_a_comparison_and_its_report(patients: Path, tmp_path: Path, mklkit: Run) -> None:
    report = tmp_path / "report.html"
    settings = ("--drop", "hospital", "--cv", "2x1", "--baselines", "none")
    mklkit("compare", patients, *TIMES, *KERNELS, *settings, "-c", "uniform", "--report", report)
    page = report.read_text(encoding="utf-8")
    assert "Kaplan-Meier curves of test samples" in page
    assert "Calibration on patients" in page
    assert "Cox regression with a ridge penalty" in page


def test_one_split_is_compared_on_its_test_samples(patients: Path, mklkit: Run) -> None:
    table = pd.read_csv(patients)
    table["part"] = np.where(table["hospital"] < 3, "train", "test")
    table.drop(columns="hospital").to_csv(patients, index=False)
    settings = ("--split-column", "part", "--baselines", "none", "-c", "uniform")
    out, _ = mklkit("compare", patients, *TIMES, *KERNELS, *settings)
    assert "paired bootstrap of 60 test samples" in " ".join(out.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"died": "no"}, "are censored"),
        ({"months": 0}, "above 0"),
        ({"died": "maybe"}, "got 'maybe'"),
        ({"months": "soon"}, "must be numbers"),
    ],
)
def test_wrong_columns_are_told(
    patients: Path, change: dict[str, object], message: str, mklkit: Run
) -> None:
    pd.read_csv(patients).assign(**change).to_csv(patients, index=False)
    out, err = mklkit("fit", patients, *TIMES, code=2)
    assert not out
    assert message in " ".join(err.split())
    assert "Traceback" not in err


def test_a_missing_column_is_told(patients: Path, mklkit: Run) -> None:
    _, err = mklkit("fit", patients, "--time", "weeks", "--event", "died", code=2)
    assert "weeks" in err
    _, err = mklkit("fit", patients, *TIMES, "--target", "months", code=2)
    assert "name the same columns" in " ".join(err.split())
