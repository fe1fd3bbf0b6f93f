"""The tables of results on terminals of any width."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Run
from rich.console import Console

from mklkit.cli.comparison_tables import comparison_grid
from mklkit.cli.tables import class_table, weights_table
from mklkit.display.measures import PARTS
from mklkit.evaluation import score_confusion
from mklkit.tasks import Classification

WEIGHTS = {"cosine_linear": [0.5, 0.7], "rbf": [0.3, 0.2], "cosine_polynomial": [0.2, 0.1]}
MODEL = {
    "kernels": [{"name": name} for name in WEIGHTS],
    "weights": [
        {"kernel": name, "problem": place, "weight": weight}
        for name, weights in WEIGHTS.items()
        for place, weight in enumerate(weights)
    ],
}


@pytest.mark.parametrize(
    ("width", "shows_range", "shows_bar"),
    [(40, False, False), (55, True, False), (80, True, True), (160, True, True)],
)
def test_the_bar_goes_first_then_the_range(width: int, shows_range: bool, shows_bar: bool) -> None:
    out = io.StringIO()
    Console(file=out, width=width).print(weights_table(MODEL))
    assert max(map(len, out.getvalue().splitlines())) <= width
    lines = {line.split()[0]: line for line in out.getvalue().splitlines() if line.split()}
    for name, weights in WEIGHTS.items():
        assert f"{np.mean(weights):.3f}" in lines[name]
        assert (" to " in lines[name]) == shows_range
        assert ("█" in lines[name] or "#" in lines[name]) == shows_bar


def test_a_name_too_long_is_folded_and_whole(mklkit: Run) -> None:
    name = "a" * 20 + "b" * 20 + "c" * 20
    done = mklkit("fit", "iris", *FIXED, "-k", f"{name}:linear", "-k", "rbf", COLUMNS="40")
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
    assert line[:5] == ["class", "1", "7", "28.6", "%"]
    assert line[5:] == (["0", "2", "5"] + ["0"] * 5 if is_matrix else ["class", "2", "(5)"])


UNKNOWN = (*(score.key for score in Classification().measured), *PARTS)
NO_NUMBERS = dict.fromkeys(UNKNOWN, float("nan"))
NUMBERS = {**NO_NUMBERS, "balanced_accuracy": 0.9, "auc": 0.9, "seconds": 0.1, "failures": 0}
COMMON = {"kind": ["method", "one kernel", "classifier"], "learner": "svm", **NUMBERS}
ONE = pd.DataFrame(
    {
        "method": ["first", "tie", "near"],
        "score": [0.9, 0.9, 0.8999],
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
            console.print(comparison_grid(table, Classification(), "accuracy", None, "t", title))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_only_the_best_has_no_distance() -> None:
    lines = shown((ONE, None))
    first, tie, near = (next(line.split() for line in lines if name in line) for name in ONE.method)
    assert first == ["first", "svm", "90.0", "90.0", "0.900", "100", "ms"]
    assert tie[-4:] == near[-4:] == ["0.0", "1.000", "100", "ms"]


def test_several_tables_have_one_legend_and_lines_between_them() -> None:
    lines = shown((ONE, "a"), (ONE, "b"), (ALL, "over data sets"))
    assert sum("balanced accuracy" in line for line in lines) == 1
    assert sum("rank: mean rank" in line for line in lines) == 1
    assert all(lines[lines.index(title) - 1] == "" for title in ("b", "over data sets"))
