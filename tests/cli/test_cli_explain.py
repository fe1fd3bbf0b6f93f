"""``mklkit explain``: tables, files and refusals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from processes import Fitted, Run

QUICK = ("--cv", "2", "--repeats", "1")


@pytest.mark.parametrize("width", [45, 80])
def test_the_tables_fit(mklkit: Run, fitted: Fitted, width: int) -> None:
    done = mklkit("explain", fitted.model, fitted.data, *QUICK, COLUMNS=str(width))
    assert done.code == 0, done
    assert all(len(line) <= width for line in done.out.splitlines())
    for name in ("cosine_linear", "fever", "ward", "left out", "target 'target'"):
        assert name in done.out


def test_json_and_a_figure(mklkit: Run, fitted: Fitted, tmp_path: Path) -> None:
    picture = tmp_path / "worth.png"
    done = mklkit("explain", fitted.model, fitted.data, *QUICK, "--json", "--plot", picture)
    found = done.json
    assert found["target"] == "target"
    assert found["n_fits"] == 2 * (1 + 3)
    assert {one["group"] for one in found["columns"]} == {"fever", "ward", "smokes", "pulse"}
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_rows_that_do_not_say_enough(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    def refused(frame: pd.DataFrame, *parts: str) -> None:
        frame.to_csv(tmp_path / "rows.csv", index=False)
        mklkit("explain", fitted.model, tmp_path / "rows.csv", *QUICK).refused(*parts)

    refused(patients.drop(columns="target"), "no column 'target'", "--target")
    refused(patients.drop(columns="ward"), "lacks 1 of the", "'ward'")
    refused(patients[patients["target"] == "ill"], "a single class ('ill')")
    refused(patients.assign(target=["a", "b"] * 60), "None of the classes", "'very ill'")
    refused(patients.drop_duplicates("target"), "Every class has a single row")
    unknown = ("--target", "fever")
    mklkit("explain", fitted.model, fitted.data, *unknown).refused("not its target")
