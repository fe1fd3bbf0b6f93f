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
    mklkit: Run, started: Run, lacking: Path, command: list[str]
) -> None:
    run = started if command[0] == "compare" else mklkit
    done = run(*command, lacking, "--target", "kind", *KERNELS)
    done.refused("Row 45 (1 row in all) has no value in the columns of any kernel")
    assert "%" not in done.err  # Nothing was fitted before.


def test_so_it_has_among_new_rows(
    mklkit: Run, started: Run, table: Path, lacking: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.mkl"
    assert mklkit("fit", table, "--target", "kind", *KERNELS, "-o", model).code == 0
    started("predict", model, lacking).refused("Row 45 (1 row in all)", "leave it out")


@pytest.mark.parametrize("command", ["fit", "kernels", "compare"])
@pytest.mark.parametrize("kernel", ["gene:rbf", "gene:auto"])
def test_a_mistyped_label_is_an_error(
    mklkit: Run, started: Run, table: Path, command: str, kernel: str
) -> None:
    run = started if command == "fit" else mklkit
    done = run(command, table, "--target", "kind", "-k", kernel, "-k", "text:rbf")
    done.refused("'gene'", "Did you mean 'genes'?")
