"""Kernels on text, categories and amounts through every command that takes kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import reading_kernels
from helpers.processes import FIXED, Outcome, Run, write_plugin

KERNELS = [
    *("-k", "seq:letters@sequence"),
    *("-k", "rbf@age"),
    *("-k", "same@color"),
    *("-k", "smaller@count"),
]

QUICK = ("-c", "uniform", *FIXED, "--cv", "2x1", "--baselines", "logistic regression")


@pytest.fixture(scope="session")
def sequences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table whose sequences tell the classes, and a plugin to read them."""
    random = np.random.default_rng(5)
    y = np.resize(["no", "yes"], 60)
    letters = {"no": [0.4, 0.2, 0.2, 0.2], "yes": [0.2, 0.2, 0.2, 0.4]}
    frame = pd.DataFrame(
        {
            "sequence": ["".join(random.choice(list("ACGT"), 25, p=letters[label])) for label in y],
            "age": random.normal(50, 10, size=60),
            "color": random.choice(["red", "blue"], size=60),
            "count": random.poisson(3.0, size=60).astype(float),
            "target": y,
        }
    )
    frame.loc[::10, "color"] = None
    frame.loc[1::10, "count"] = np.nan
    folder = tmp_path_factory.mktemp("sequences")
    frame.to_csv(folder / "rows.csv", index=False)
    source = Path(reading_kernels.__file__).read_text()
    write_plugin(folder / "site", "reading", source)
    return folder


@pytest.fixture
def run(mklkit: Run, sequences: Path) -> Callable[..., Outcome]:
    """Return what runs a command beside the table, with the plugin."""
    return lambda *arguments: mklkit(*arguments, cwd=sequences, PYTHONPATH=str(sequences / "site"))


@pytest.mark.process
def test_fit_predict_inspect_and_explain(run: Run, sequences: Path) -> None:
    fitted = run("fit", "rows.csv", *KERNELS, *FIXED, "-o", "model.mkl")
    assert fitted.code == 0, fitted
    for said in (
        "columns 'sequence', 'color', 'count' kept for kernels on such columns",
        "features standardised (mean 0, variance 1) for ",
        "as they are for ",
        "gaps in column 'color' read as a category of their own, 'missing'",
    ):
        assert said in fitted.out
    done = run("predict", "model.mkl", "rows.csv")
    assert done.code == 0, done
    rows = pd.read_csv(sequences / "rows.csv")
    single_row = sequences / "one.csv"
    rows[3:4].to_csv(single_row, index=False)
    alone = run("predict", "model.mkl", single_row.name)
    assert alone.out.splitlines()[1].split(",")[0] == done.out.splitlines()[4].split(",")[0]
    numbers = [
        float(out.splitlines()[row].split(",")[1]) for out, row in ((alone.out, 1), (done.out, 4))
    ]
    np.testing.assert_allclose(*numbers, rtol=1e-6)
    shown = run("inspect", "model.mkl")
    assert shown.code == 0, shown
    assert "seq: letters on sequence" in shown.out
    rows.drop(columns="sequence").to_csv(sequences / "less.csv", index=False)
    lacking = run("predict", "model.mkl", "less.csv")
    assert lacking.code == 0, lacking
    assert "no sample has the source 'seq'" in lacking.err
    explained = run("explain", "model.mkl", "rows.csv", "--cv", "2", "--repeats", "3", "--json")
    assert explained.code == 0, explained
    columns = {single_row["group"]: single_row for single_row in explained.json["columns"]}
    assert set(columns) == {"sequence", "age", "color", "count"}
    assert columns["sequence"]["shuffled"] < -0.1


@pytest.mark.process
def test_evaluate_compare_kernels_and_tune(run: Run) -> None:
    for command in (
        ("evaluate", "rows.csv", *KERNELS, *FIXED, "--folds", "3"),
        ("kernels", "rows.csv", *KERNELS),
        ("compare", "rows.csv", *KERNELS[:4], *QUICK),
        ("fit", "rows.csv", *KERNELS, "-l", "svm", "--tune", "2", "--probability"),
    ):
        done = run(*command)
        assert done.code == 0, done
        assert "kept for kernels on such columns" in done.out


@pytest.mark.process
def test_a_column_that_a_kernel_reads_is_not_said_to_be_left_out(run: Run) -> None:
    kernels = ("-k", "seq:letters@sequence", "-k", "rbf@age")
    compared = run("compare", "rows.csv", *kernels, *QUICK).out
    fitted = run("fit", "rows.csv", *kernels, *FIXED).out
    compared, fitted = " ".join(compared.split()), " ".join(fitted.split())
    assert "'sequence' dropped" not in compared
    assert "column 'sequence' kept for kernels on such columns" in compared
    assert "other methods leave out column 'sequence': a different value" in compared
    # Both count the features of the file.
    size = compared.partition(" samples, ")[2].partition(")")[0]
    assert " features (" in size
    assert f" samples, {size})" in fitted


def test_what_can_not_be_read_is_refused(run: Run) -> None:
    run("fit", "rows.csv", *KERNELS, "--stream").refused(
        "Kernel 'seq' reads text, and a table that is read in parts becomes a file of numbers"
    )
    run("fit", "rows.csv", "-k", "letters@age").refused(
        "Kernel 'letters@age' reads text, and column 'age' holds numbers: use a kernel on numbers"
    )
    run("fit", "rows.csv", "-k", "rbf@sequence").refused(
        "the column 'sequence' is dropped", "or use a kernel on text, such as 'letters'"
    )
    run("fit", "rows.csv", "-k", "letters").refused("name it: 'letters@sequence'")
