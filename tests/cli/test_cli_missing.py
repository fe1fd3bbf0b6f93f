"""Rows that lack a source, on the command line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED

from mklkit.datasets import load_table

SOURCES = ("profile", "fourier", "pattern")
KERNELS = [*(part for n in SOURCES for part in ("-k", f"{n}:rbf@{n}_*")), *FIXED]
PARTS = ("complete", "incomplete")


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = load_table("digits_missing")
    few = [name for n in SOURCES for name in table.features.filter(like=f"{n}_").columns[::16]]
    rows = table.features[few].assign(target=np.where(table.target > 3, "high", "low")).iloc[:120]
    path = tmp_path_factory.mktemp("rows") / "gaps.csv"
    rows.to_csv(path, index=False)
    rows.fillna(-9).to_csv(path.with_name("nines.csv"), index=False)
    return path


@pytest.mark.process
def test_medians_take_rows_without_any_source_and_are_told(
    mklkit: Any, started: Any, lacking: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(lacking)
    rows.loc[[7, 8], rows.columns != "target"] = np.nan
    data, model = tmp_path / "none.csv", tmp_path / "model.mkl"
    rows.to_csv(data, index=False)
    settings = [*KERNELS, "--missing", "impute"]
    done = started("fit", data, *settings, "--holdout", "0", "-o", model)
    for source in SOURCES:
        lacks = rows.filter(like=f"{source}_").isna().all(axis=1)
        shares = lacks.groupby(rows["target"]).mean()
        told = ", ".join(f"{label} {100 * share:.0f} %" for label, share in shares.items())
        words = " ".join(done.out.split())
        assert f"impute: {lacks.sum()} of 120 samples lack {source} ({told})" in words
    few = mklkit("fit", data, *settings, "--json").json["choices"]
    assert sum("of 96 samples lack" in note for note in few) == len(SOURCES)
    few = mklkit("evaluate", data, *settings, "--cv", "3x1", "--json").json["choices"]
    assert sum("of 80 samples lack" in note for note in few) == len(SOURCES)
    medians = rows.drop(columns="target").median().to_frame().T
    medians.to_csv(tmp_path / "medians.csv", index=False)
    answers = [
        pd.read_csv(io.StringIO(mklkit("predict", model, path).out))["score"]
        for path in (data, tmp_path / "medians.csv")
    ]
    np.testing.assert_allclose(answers[0][[7, 8]], answers[1][0], atol=1e-9)


@pytest.mark.process
def test_fits_predicts_and_compares_rows_that_lack_sources(
    mklkit: Any, lacking: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.mkl"
    done = mklkit("fit", lacking, *KERNELS, "-o", model, "--json").json
    told = " ".join(done["choices"])
    rows = load_table(lacking).features
    n_lack = rows.loc[:, rows.columns.str.startswith("profile")].isna().all(axis=1).sum()
    assert f"{n_lack} of 120 samples lack profile (high" in told
    lacks = [rows.filter(like=f"{name}_").isna().all(axis=1) for name in SOURCES]
    evaluated = mklkit("evaluate", lacking, *KERNELS, "--cv", "2x1", "--json").json
    assert evaluated["parts"]["incomplete"]["rows"] == np.any(lacks, axis=0).sum()
    scores = done["scores"]
    for whole, parts in ((evaluated["pooled"], evaluated["parts"]), (scores["held_out"], scores)):
        of_parts = [(parts[name]["rows"], parts[name]["accuracy"]) for name in PARTS]
        counts, accuracies = zip(*of_parts, strict=True)
        assert sum(counts) == whole["rows"]
        assert np.average(accuracies, weights=counts) == pytest.approx(whole["accuracy"])
    nines = lacking.with_name("nines.csv")
    of_value = mklkit("fit", nines, *KERNELS, "--missing-value", "-9", "--json").json
    assert of_value["scores"] == done["scores"]
    answers = mklkit("predict", model, lacking).out
    assert answers.count("\n") == 121
    strategies = ["--missing", "present,impute", "-c", "uniform"]
    few = ["--cv", "2x1", "--baselines", "none", "--json"]
    compared = mklkit("compare", lacking, *KERNELS, *strategies, *few).out
    assert '"uniform, impute"' in compared


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_without_any_source_keep_empty_cells(
    mklkit: Any, lacking: Path, tmp_path: Path, ending: str
) -> None:
    rows = pd.read_csv(lacking)
    rows["target"] = np.where(rows["target"] == "high", 1, 0)
    rows.to_csv(tmp_path / "train.csv", index=False)
    model = tmp_path / "model.mkl"
    fit = mklkit("fit", tmp_path / "train.csv", *KERNELS, "--holdout", "0", "-o", model)
    assert fit.code == 0, fit
    new = rows.assign(name=[f"p{n}" for n in range(len(rows))])
    new.loc[[3, 23], [name for name in rows if name != "target"]] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    new.drop([3, 23]).to_csv(tmp_path / "others.csv", index=False)
    tables, said = [], []
    for data in ("new.csv", "others.csv"):
        out = tmp_path / f"{data}.{ending}"
        done = mklkit("predict", model, tmp_path / data, "--by", "name", "-o", out)
        assert done.code == 0, done
        tables.append(pd.read_csv(out, dtype=str) if ending == "csv" else pd.read_parquet(out))
        said.append(done.err)
    assert tables[0]["name"].tolist() == new["name"].tolist()
    assert tables[0].iloc[[3, 23], 1:].isna().all(axis=None)
    # Whole numbers stay whole beside empty cells.
    pd.testing.assert_frame_equal(
        tables[0].drop([3, 23]).reset_index(drop=True), tables[1], check_dtype=False
    )
    assert "2 samples of 120 have no prediction" in said[0]
    assert "samples 'p3', 'p23'\n" in said[0]
    assert "no prediction" not in said[1]
    # Both are scored on the rows with predictions.
    assert [line for line in said[0].splitlines() if "accuracy" in line] == [
        line for line in said[1].splitlines() if "accuracy" in line
    ]
    assert "on the 118 samples" in said[0]
    assert "wrote 118 predictions" in said[1]


def test_a_table_in_which_no_row_has_a_source_is_refused(
    mklkit: Any, lacking: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.mkl"
    assert mklkit("fit", lacking, *KERNELS, "-o", model).code == 0
    rows = pd.read_csv(lacking).iloc[:3]
    rows.loc[:, rows.columns != "target"] = np.nan
    rows.to_csv(tmp_path / "empty.csv", index=False)
    mklkit("predict", model, tmp_path / "empty.csv").refused("3 samples in all", "any kernel")


def test_strategies_are_listed_and_unknown_ones_refused(mklkit: Any, lacking: Path) -> None:
    assert "present-centered" in mklkit("list", "missing").out
    mklkit("fit", lacking, *KERNELS, "--missing", "drp").refused("drop")


def test_rows_are_held_out_in_one_way(mklkit: Any, lacking: Path) -> None:
    mklkit("fit", lacking, "--holdout", "0.3", "--split-column", "target").refused("--holdout")


def test_a_part_without_rows_has_no_scores(mklkit: Any, lacking: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(lacking)
    table = rows[rows.isna().any(axis=1)]
    table.to_csv(tmp_path / "all_lack.csv", index=False)
    scored = mklkit("evaluate", tmp_path / "all_lack.csv", *KERNELS, "--cv", "2x1", "--json").json
    assert scored["parts"].keys() == {"incomplete"}
    assert scored["parts"]["incomplete"]["rows"] == len(table)


def test_drop_learns_from_complete_rows_and_is_scored_on_them(mklkit: Any, lacking: Path) -> None:
    table = load_table(lacking)
    lacks = [table.features.filter(regex=f"^{n}_").isna().all(axis=1) for n in SOURCES]
    complete = ~np.any(lacks, axis=0)
    metadata = mklkit("fit", lacking, *KERNELS, "--missing", "drop", "--json").json
    scores = metadata["scores"]
    assert scores["train"]["rows"] + scores["held_out"]["rows"] == complete.sum()
    assert scores["incomplete"] is None
