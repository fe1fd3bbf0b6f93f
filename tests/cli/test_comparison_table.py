"""The tables of ``mklkit compare`` on the terminal."""

from __future__ import annotations

import pandas as pd
from rich.console import Console

from mklkit.cli.tables import comparison_grid

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
