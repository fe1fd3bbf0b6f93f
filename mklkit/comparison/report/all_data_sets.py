"""What the report says over several data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from mklkit.comparison.report.tables import Cell, Head, Table, methods_table, number_cell
from mklkit.display.numbers import DASH, p_value, percent
from mklkit.evaluation import nemenyi_p_values
from mklkit.plotting.critical_difference import CriticalDifferenceDisplay
from mklkit.plotting.svg import svg_of

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["over_data_sets"]

ACROSS = 8
"""Data sets beside each other in a table of accuracies."""
MOST_PAIRED = 15
"""The best methods, with which all are compared in pairs."""
NOTE = (
    "Means over the data sets; the rank is the average of those on each. “Worse”, “same”, “better”:"
    " on a further data set a method can be more than one point of accuracy worse than the first"
    " row, within one point of it, or more than one point better; the number is the probability"
    " that this outcome is the likeliest of the three, by the Bayesian signed-rank test (Benavoli"
    " and others 2017). It is not the share of data sets with this outcome."
)


def over_data_sets(comparison: Comparison) -> dict[str, Any]:
    """Return the parts of the section over all data sets."""
    names, ranking = comparison.compared_data, comparison.ranking
    methods = comparison.table()
    parts: dict[str, Any] = {
        "methods": methods_table(methods, f"Methods over {len(names)} data sets.", NOTE),
        "accuracies": _accuracies(comparison, names, list(methods["method"])),
    }
    if "friedman" in ranking:
        test, ranks = ranking["friedman"], ranking["ranks"]
        difference = ranking["critical_difference"]
        parts["friedman"] = f"F = {test['f_statistic']:.2f}, p {_compared(test['p_value'])}"
        diagram = CriticalDifferenceDisplay(list(ranks.values()), list(ranks), difference)
        label = "Critical-difference diagram; the ranks are in the table"
        parts["diagram"] = svg_of(diagram, label)
        parts["pairs"] = _pairs(pd.Series(ranks, dtype=float), len(names))
    return parts


def _pairs(ranks: pd.Series, n_datasets: int) -> Table:
    """Return the p values of Nemenyi's test, the columns numbered as the rows are."""
    ranks = ranks.sort_values(kind="stable")
    values = nemenyi_p_values(ranks.to_numpy(), n_datasets)
    across = min(len(ranks), MOST_PAIRED)
    rows = []
    for place, name in enumerate(ranks.index):
        cells = [
            Cell(DASH if column == place else _short(value), best=value < 0.05)
            for column, value in enumerate(values[place, :across].tolist())
        ]
        rows.append([Cell(f"{place + 1} {name}"), *cells])
    limit = f" Columns: the best {across} of {len(ranks)}." if across < len(ranks) else ""
    caption = (
        "p values of Nemenyi's test, which allow for the number of pairs; below 0.05 in bold."
        f"{limit}"
    )
    heads = [Head("Method"), *(Head(str(place + 1)) for place in range(across))]
    return Table(caption, heads, rows, "pairs")


def _compared(value: float) -> str:
    text = p_value(value)
    return text.replace("<", "< ") if "<" in text else f"= {text}"


def _short(value: float) -> str:
    return "<.01" if value < 0.005 else "1" if value > 0.995 else f"{value:.2f}".lstrip("0")


def _accuracies(comparison: Comparison, names: list[str], methods: list[str]) -> list[Table]:
    """Return mean accuracies of methods on data sets, the best of each data set marked."""
    accuracies = {name: comparison.table(name).set_index("method")["accuracy"] for name in names}
    means = pd.DataFrame(accuracies).reindex(methods)
    caption = "Mean accuracy in percent, the methods in the order of their ranks."
    tables = []
    for start in range(0, len(names), ACROSS):
        part = means.iloc[:, start : start + ACROSS]
        best = [percent(value) for value in part.max()]
        rows = [
            [Cell(method), *(number_cell(value, percent(value), top)
                             for value, top in zip(values, best, strict=True))]
            for method, values in zip(part.index, part.to_numpy().tolist(), strict=True)
        ]  # fmt: skip
        heads = [Head("Method"), *(Head(str(name), first="descending") for name in part)]
        tables.append(Table(caption, heads, rows, "sortable"))
    return tables
