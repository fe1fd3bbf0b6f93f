"""``mklkit explain``: tables, files and refusals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from processes import Fitted, Run

QUICK = ("--cv", "2", "--repeats", "1")


@pytest.fixture(scope="module")
def quick(mklkit: Run, patients: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """The learner's own choice of C would take most of the time, in each fit."""
    folder = tmp_path_factory.mktemp("quick")
    data, model = folder / "patients.csv", folder / "model.mkl"
    patients.to_csv(data, index=False)
    arguments = ("--combiner", "dimkl3", "--learner", "svm(C=1)", "-o", model)
    return Fitted(data, model, mklkit("fit", data, *arguments))


def test_the_tables_fit(mklkit: Run, quick: Fitted) -> None:
    done = mklkit("explain", quick.model, quick.data, *QUICK, COLUMNS="45")
    assert done.code == 0, done
    assert all(len(line) <= 45 for line in done.out.splitlines())
    # A long path of the data may end a line before the number of rows.
    words = " ".join(done.out.split())
    for name in ("cosine_linear", "fever", "ward", "left out", "120 rows"):
        assert name in words


def test_json_and_a_figure(mklkit: Run, quick: Fitted, tmp_path: Path) -> None:
    picture = tmp_path / "worth.png"
    done = mklkit("explain", quick.model, quick.data, *QUICK, "--json", "--plot", picture)
    found = done.json
    assert found["target"] == "target"
    assert found["n_fits"] == 2 * (1 + 3)
    assert {one["group"] for one in found["columns"]} == {"fever", "ward", "smokes", "pulse"}
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_rows_that_do_not_say_enough(
    mklkit: Run, quick: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    def refused(frame: pd.DataFrame, *parts: str) -> None:
        frame.to_csv(tmp_path / "rows.csv", index=False)
        mklkit("explain", quick.model, tmp_path / "rows.csv", *QUICK).refused(*parts)

    refused(patients.drop(columns="target"), "no column 'target'", "--target")
    refused(patients.drop(columns="ward"), "lacks 1 of the", "'ward'")
    refused(patients[patients["target"] == "ill"], "a single class ('ill')")
    refused(patients.assign(target=["a", "b"] * 60), "None of the classes", "'very ill'")
    refused(patients.drop_duplicates("target"), "Every class has a single row")
    unknown = ("--target", "fever")
    mklkit("explain", quick.model, quick.data, *unknown).refused("not its target")
