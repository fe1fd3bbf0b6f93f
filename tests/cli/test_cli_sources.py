"""Tables whose column names tell sources, on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Run

pytestmark = pytest.mark.process
N = 60


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with genes_0 to genes_11, text_0 to text_11 and the column kind."""
    rng = np.random.default_rng(0)
    ill = np.arange(N)[:, None] % 2
    frame = pd.concat(
        [
            pd.DataFrame(rng.normal(size=(N, 12)) + 0.8 * ill).add_prefix(f"{source}_")
            for source in ("genes", "text")
        ],
        axis=1,
    ).assign(kind=np.where(ill[:, 0], "ill", "well"))
    path = tmp_path_factory.mktemp("sources") / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def lacking(table: Path) -> Path:
    """Return the table with a row without a target and, after it, one without any source.

    This is the row with the number 45, of which the ordinal number is 44 among those with a target.
    """
    frame = pd.read_csv(table)
    frame.loc[3, "kind"] = None
    frame.loc[10:19, [f"genes_{place}" for place in range(12)]] = np.nan
    frame.iloc[44, :24] = np.nan
    path = table.with_name("lacking.csv")
    frame.to_csv(path, index=False)
    return path


KERNELS = ["-k", "genes:rbf", "-k", "text:rbf"]
COMMANDS = [
    ["fit", "--holdout", "0"],
    ["fit", "--tune", "fast"],
    ["evaluate", "--cv", "3"],
    ["compare", "-c", "uniform"],
    ["compare", "-c", "uniform", "-k", "whole:rbf"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_row_without_any_source_has_its_number_in_the_file(
    mklkit: Run, lacking: Path, command: list[str]
) -> None:
    done = mklkit(*command, lacking, "--target", "kind", *KERNELS)
    done.refused("Row 45 (1 sample in all) has no value in the columns of any kernel")
    assert "%" not in done.err  # Nothing was fitted before.


def test_among_new_rows_it_has_no_prediction(
    mklkit: Run, started: Run, table: Path, lacking: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.mkl"
    assert mklkit("fit", table, "--target", "kind", *KERNELS, "-o", model).code == 0
    done = started("predict", model, lacking)
    assert done.code == 0, done
    assert "1 sample of 60 has no prediction" in done.err
    assert "sample 45\n" in done.err


@pytest.mark.parametrize("command", ["fit", "kernels", "compare"])
@pytest.mark.parametrize("kernel", ["gene:rbf", "gene:auto"])
def test_a_mistyped_label_is_an_error(mklkit: Run, table: Path, command: str, kernel: str) -> None:
    done = mklkit(command, table, "--target", "kind", "-k", kernel, "-k", "text:rbf")
    done.refused("'gene'", "Did you mean 'genes'?")


def test_an_explanation_tells_of_a_lone_source_only_what_concerns_it(
    mklkit: Run, started: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * N, 40))
    score = (X[:, :20] ** 2).mean(axis=1) - 1 + 0.3 * X[:, 20:25].sum(axis=1)
    kinds = np.where(score > 0, "ill", "well")
    data, model = tmp_path / "lone.csv", tmp_path / "lone.mkl"
    pd.DataFrame(X).add_prefix("x").assign(kind=kinds).to_csv(data, index=False)
    # Several kernels are chosen for the lone source, or there is one.
    for run, kernels in ((started, []), (mklkit, ["-k", "rbf"])):
        assert mklkit("fit", data, "--target", "kind", *kernels, "-o", model).code == 0
        told = run("explain", model, data, "--cv", "2x1").out
        assert "read by" not in told  # No group of columns, so no table of them.
        assert "columns of the table are permuted" not in told
        assert "leaves out" not in told
        assert "cannot be excluded" not in told


def test_and_of_sources_that_are_left_out_only_if_there_are_some(
    mklkit: Run, table: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.mkl"
    noise = np.random.default_rng(3).normal(size=(N, 12))
    path = tmp_path / "noise.csv"
    frame = pd.read_csv(table).join(pd.DataFrame(noise).add_prefix("noise_"))
    frame.to_csv(path, index=False)
    told = {}
    for data in (table, path):
        fit = ("fit", data, "--target", "kind", "-k", "auto", "-o", model)
        assert mklkit(*fit).code == 0
        result = mklkit("explain", model, data, "--cv", "2x1", "--json").json
        some = any(weight["weight"] == 0 for weight in result["weights"])
        notes = " ".join(note["note"] for note in result["notes"])
        told[data] = (some, "one that it leaves out" in notes)
    assert told == {table: (False, False), path: (True, True)}


def test_a_search_without_parameters_tells_what_is_chosen_instead(
    mklkit: Run, started: Run, table: Path
) -> None:
    fit = ("fit", table, "--target", "kind", "--tune", "fast", "--json")
    result = started(*fit).json
    learner = result["model"]["learner"].partition("(")[0]
    (note,) = [note for note in result["choices"] if "cross-validation" in note]
    assert note.startswith(
        f"no parameter is left to search: the kernels, the learner {learner} and its alpha are"
        " chosen from the training samples in each fit; 5-fold cross-validation"
    )
    named = mklkit(*fit, "-k", "rbf", "-l", "svm").json["choices"]
    assert any(note.startswith("learner__C ") for note in named)


def test_the_target_has_the_name_of_its_column(
    mklkit: Run, started: Run, table: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.mkl"
    for run, target in ((started, "kind"), (mklkit, "genes_3")):
        fit = ("fit", table, "--target", target, "-k", "linear", "-o", model, "--json")
        assert run(*fit).json["model"]["targets"] == [target]
        assert mklkit("inspect", model, "--json").json["model"]["targets"] == [target]


def test_a_methods_section_has_what_was_done_and_no_advice(
    mklkit: Run, started: Run, table: Path, tmp_path: Path
) -> None:
    data, model = tmp_path / "coded.csv", tmp_path / "model.mkl"
    codes = [f"patient {place} of {N}" for place in range(N)]
    pd.read_csv(table).assign(code=codes).to_csv(data, index=False)
    fit = ("fit", data, "--target", "kind", "-k", "linear", "-o", model)
    shown = " ".join(mklkit(*fit).out.split())
    done, advice = "column 'code' dropped: a different value in every row", "'spectrum@code'"
    assert done in shown
    assert advice in shown
    methods = started("inspect", model, "--methods").out
    assert done in methods
    assert advice not in methods
    facts = mklkit("inspect", model, "--json").json
    assert any(done in step for step in facts["preprocessing"])
    assert [advice in line for line in facts["advice"]] == [True]
    assert advice in " ".join(mklkit("inspect", model).out.split())


def test_a_fit_combines_the_kernels_that_a_comparison_does(
    mklkit: Run, started: Run, table: Path
) -> None:
    settings = (table, "--target", "kind", "-c", "centered-alignment", "--json")
    model = started("fit", *settings).json["model"]
    compared = mklkit("compare", *settings, "--cv", "2x1", "--baselines", "none").json
    assert {kernel["name"] for kernel in model["kernels"]} == {"genes", "text"}
    alone = {cell["method"] for cell in compared["cells"]} & {"genes", "text", "rbf"}
    assert alone == {"genes", "text"}
