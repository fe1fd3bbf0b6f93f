"""Data as users have them: identifiers, dates, columns that are not wanted or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from processes import Run


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(4)
    sick = np.arange(40) % 2 == 1
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    pd.DataFrame(
        {
            "code": [f"p{number}" for number in range(40)],
            "seen": pd.date_range("2024-01-01", periods=40).astype(str),
            "lab_a": 3 * sick + random.normal(size=40),
            "lab_b": random.normal(size=40),
            "ward": np.where(random.random(40) < 0.5, "north", "south"),
            "state": np.where(sick, "ill", "well"),
        }
    ).to_csv(path, index=False)
    return path


LEFT_OUT = "column 'code' left out: another value in every row, as identifiers have"
DATES = "dates in 'seen' as days since 2024-01-01, with month and weekday"


def test_identifiers_are_left_out_and_dates_are_numbers(mklkit: Run, visits: Path) -> None:
    facts = mklkit("fit", visits, "--holdout", 0, "--json").json
    assert facts["preprocessing"][:2] == [LEFT_OUT, DATES]


@pytest.mark.parametrize("command", ["fit", "evaluate", "kernels"])
def test_columns_are_dropped(mklkit: Run, visits: Path, command: str) -> None:
    facts = mklkit(command, visits, "--drop", "lab_*", "--drop", "seen", "--json").json
    assert facts["data"]["columns"] == ["code", "ward"]
    assert facts["data"]["dropped"] == ["seen", "lab_a", "lab_b"]
    assert facts["preprocessing"][:2] == [
        "columns 'seen', 'lab_a', 'lab_b' left out, as asked",
        LEFT_OUT,
    ]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("wrad", "No column is named 'wrad'. Did you mean 'ward'?"),
        ("state", "'state' is the target and can't be left out"),
        ("*", "No feature is left"),
    ],
)
def test_what_cannot_be_dropped(mklkit: Run, visits: Path, column: str, message: str) -> None:
    mklkit("fit", visits, "--drop", column).refused(message)


def test_kernels_shows_the_steps(mklkit: Run, visits: Path) -> None:
    assert "'ward' left out, as asked" in mklkit("kernels", visits, "--drop", "ward").out


def test_predict_needs_what_kernels_see(mklkit: Run, visits: Path, tmp_path: Path) -> None:
    model, few = tmp_path / "model.mkl", tmp_path / "few.csv"
    kernels = ("-k", "rbf@lab_a", "-k", "linear@seen*")
    assert mklkit("fit", visits, *kernels, "-o", model).code == 0
    whole = mklkit("predict", model, visits)
    rows = pd.read_csv(visits)
    rows[["seen", "lab_a"]].to_csv(few, index=False)
    outcome = mklkit("predict", model, few)
    assert outcome.out == whole.out
    # What kernels don't see is not looked at either.
    assert outcome.err == ""
    rows[["seen", "ward"]].to_csv(few, index=False)
    mklkit("predict", model, few).refused("lacks 1 of the 2 columns the model needs: 'lab_a'")


def test_seeds_are_those_that_numpy_takes(mklkit: Run, visits: Path) -> None:
    mklkit("fit", visits, "--seed", 2**32).refused("4294967295")
    assert mklkit("fit", visits, "--seed", 2**32 - 1).code == 0
