"""The table of ``mklkit compare``, which fits 80 columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain
from mklkit.errors import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["comparison_grid", "failure_lines", "ranking_lines"]

KINDS = {"method": "", "one kernel": "kernel", "classifier": "other", "baseline": "other"}
STYLES = {"method": "bold", "one kernel": "", "classifier": "", "baseline": "dim"}
LEGEND = "bal.: balanced accuracy; points: beside the best; p: corrected t-test, Holm"
OVER_DATA_SETS = (
    "\nrank: mean place on the data sets, 1 is the best; worse: how probable it is that"
    " being over a point worse than the first, rather than the same or better, is the"
    " likeliest on a further data set"
)


def comparison_grid(table: pd.DataFrame, title: str | None = None) -> Grid:
    """Return the rows of the methods that have scores, of one data set or over several.

    Of several tables, which have titles, only the last, over all data sets, has a legend.
    """
    several = "rank" in table
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title_justify="left")
    grid.title = None if title is None else Text(f"\n{plain(title)}", style="bold")
    legend = title is None or several
    grid.show_edge = legend  # the empty lines above the head and below the rows
    grid.add_column("method", overflow="fold")
    grid.add_column("", no_wrap=True)
    heads = ["accuracy %", "bal.", "AUC"]
    heads += ["rank", "worse"] if several else ["points", "p"]
    for head in [*heads, "time"]:
        grid.add_column(head, justify="right", no_wrap=True)
    best = next(iter(table.index[table["failures"] == 0]), None)
    for place, row in zip(table.index, table.to_dict("records"), strict=True):
        if math.isnan(row["accuracy"]):
            continue
        last = (
            [_number(row["rank"], 2), _number(row["p_worse"], 2)]
            if several
            else ["" if place == best else _points(row["difference"]), _p(row["p_corrected"])]
        )
        grid.add_row(
            Text(plain(row["method"]), style=STYLES[row["kind"]]),
            KINDS[row["kind"]],
            _accuracy(row),
            _number(100 * row["balanced_accuracy"], 1),
            _number(row["auc"], 3),
            *last,
            _time(row["seconds"]),
        )
    if legend:
        grid.caption = Text(LEGEND + (OVER_DATA_SETS if several else ""), style="dim")
        grid.caption_justify = "left"
    return grid


def failure_lines(table: pd.DataFrame) -> list[str]:
    """Return a line for each method that failed on some split, with its first reason."""
    failed = table[table["failures"] > 0]
    return [
        f"failed on {row['failures']} of {counted(row['splits'], 'split')}: {row['method']}:"
        f" {row['reason']}"
        for row in failed.to_dict("records")
    ]


def ranking_lines(ranking: dict[str, Any], n_datasets: int) -> list[str]:
    """Return a line on the tests of ranks, if there are data sets enough for them."""
    from mklkit.evaluation.verdict import FEW_DATASETS

    if "friedman" not in ranking or n_datasets < FEW_DATASETS:
        return []
    return [
        f"Friedman's test of equal ranks: p = {ranking['friedman']['p_value']:.2g};"
        f" Nemenyi's critical difference of ranks: {ranking['critical_difference']:.2f}"
    ]


def _accuracy(row: Mapping[Any, Any]) -> str:
    mean, deviation = 100 * row["accuracy"], 100 * row.get("deviation", math.nan)
    return f"{mean:.1f}" if math.isnan(deviation) else f"{mean:.1f} ± {deviation:.1f}"


def _points(difference: float) -> str:
    if math.isnan(difference):
        return ""
    # One that is behind by less than the digits show is not at -0.0.
    return f"{round(100 * difference, 1) + 0.0:.1f}"


def _p(value: float) -> str:
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _number(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _time(seconds: float) -> str:
    if seconds < 0.995:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
