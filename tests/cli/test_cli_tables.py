"""The tables of results on terminals of any width."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from processes import Fitted, Run
from rich.console import Console

from mklkit.cli.tables import class_table, comparison_grid
from mklkit.evaluation import score_confusion

NAMES = ("cosine_linear", "rbf", "cosine_polynomial")


def rows_of(mklkit: Run, fitted: Fitted, command: str, width: int) -> list[str]:
    """Return the table's line for each kernel, having checked that no line is too long."""
    source = fitted.model if command == "inspect" else fitted.data
    more = ("-c", "dimkl3") if command == "fit" else ()
    done = mklkit(command, source, *more, COLUMNS=str(width))
    assert done.code == 0, done
    table = done.out[done.out.index("weight") :]
    assert all(len(line) <= width for line in table.splitlines())
    rows = [line.split("   ") for line in table.splitlines()]
    return [
        next(" ".join(row) for row in rows if row[0].strip().startswith(name)) for name in NAMES
    ]


@pytest.mark.parametrize("command", ["fit", "inspect"])
@pytest.mark.parametrize("width", [40, pytest.param(60, marks=pytest.mark.slow), 80, 160])
def test_names_and_weights_stay(mklkit: Run, fitted: Fitted, command: str, width: int) -> None:
    weights: dict[str, list[float]] = {name: [] for name in NAMES}
    for row in mklkit("inspect", fitted.model, "--json").json["model"]["weights"]:
        weights[row["kernel"]].append(row["weight"])
    for name, line in zip(NAMES, rows_of(mklkit, fitted, command, width), strict=True):
        mean = sum(weights[name]) / len(weights[name])
        assert line.split()[:2] == [name, f"{mean:.3f}"]


@pytest.mark.parametrize(
    ("width", "shows_range", "shows_bar"),
    [(40, False, False), (55, True, False), (80, True, True), (160, True, True)],
)
def test_the_bar_goes_first_then_the_range(
    mklkit: Run, fitted: Fitted, width: int, shows_range: bool, shows_bar: bool
) -> None:
    lines = rows_of(mklkit, fitted, "inspect", width)
    assert all((" to " in line) == shows_range for line in lines)
    assert any("█" in line or "#" in line for line in lines) == shows_bar


def test_a_name_too_long_is_folded_and_whole(mklkit: Run) -> None:
    name = "a" * 20 + "b" * 20 + "c" * 20
    done = mklkit("fit", "iris", "-k", f"{name}:linear", "-k", "rbf", COLUMNS="40")
    table = done.out[done.out.index("weight") :]
    column = "".join(line.strip().split(" ")[0] for line in table.splitlines()[:6])
    assert name in column
    assert "0.500" in table


@pytest.mark.parametrize(("width", "n_classes"), [(40, 3), (50, 8), (160, 8), (160, 40)])
def test_the_table_of_classes_fits_any_width(width: int, n_classes: int) -> None:
    names = [f"class {place}" for place in range(n_classes)]
    confusion = np.diag(np.arange(1, n_classes + 1))
    confusion[1, 2] = 5
    out = io.StringIO()
    table = class_table(score_confusion(confusion, names, 0.5), "train")
    Console(file=out, width=width).print(table)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    is_matrix = "as class 2" in out.getvalue()
    assert is_matrix == (width == 160 and n_classes == 8)
    [line] = [line.split() for line in lines if line.strip().startswith("class 1 ")]
    # The class, its rows, 2 of 7 right, then five times the one below it.
    assert line[:4] == ["class", "1", "7", "28.6%"]
    assert line[4:] == (["0", "2", "5"] + ["0"] * 5 if is_matrix else ["class", "2", "(5)"])


NUMBERS = {"balanced_accuracy": 0.9, "auc": 0.9, "seconds": 0.1, "failures": 0}
COMMON = {"kind": ["method", "one kernel", "classifier"], **NUMBERS}
ONE = pd.DataFrame(
    {
        "method": ["first", "tie", "near"],
        "accuracy": [0.9, 0.9, 0.8999],
        "difference": [0.0, 0.0, -0.0001],
        "p_corrected": [float("nan"), 1.0, 1.0],
        **COMMON,
    }
)
ALL = ONE.assign(rank=[1.5, 1.5, 3.0], p_worse=[float("nan"), 0.0, 0.5])


def shown(*tables: tuple[pd.DataFrame, str | None]) -> list[str]:
    console = Console(width=80)
    with console.capture() as captured:
        for table, title in tables:
            console.print(comparison_grid(table, title))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_only_the_best_has_no_distance() -> None:
    lines = shown((ONE, None))
    first, tie, near = (next(line.split() for line in lines if name in line) for name in ONE.method)
    assert first == ["first", "90.0", "90.0", "0.900", "100", "ms"]
    assert tie[-4:] == near[-4:] == ["0.0", "1.000", "100", "ms"]


def test_several_tables_have_one_legend_and_lines_between_them() -> None:
    lines = shown((ONE, "a"), (ONE, "b"), (ALL, "over data sets"))
    assert sum("balanced accuracy" in line for line in lines) == 1
    assert sum("rank: mean place" in line for line in lines) == 1
    assert all(lines[lines.index(title) - 1] == "" for title in ("b", "over data sets"))
