"""What the report says over several data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mklkit.comparison.report.methods_table import methods_table
from mklkit.comparison.report.rank_diagram import rank_diagram
from mklkit.display.markup import EMPTY, Html, breakable, element, joined, section, table
from mklkit.display.numbers import DASH, p_value, percent
from mklkit.evaluation import nemenyi_p_values

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["over_data_sets"]

ACROSS = 8
"""Data sets beside each other in a table of accuracies."""
MOST_PAIRED = 15
"""The best methods, with which all are compared in pairs."""
TABLE_NOTE = (
    "Means over the data sets; the rank is the average of those on each. “Worse”, “same”, “better”:"
    " on a further data set a method can be more than one point of accuracy worse than the first"
    " row, within one point of it, or more than one point better; the number is the probability"
    " that this outcome is the likeliest of the three, by the Bayesian signed-rank test (Benavoli"
    " and others 2017). It is not the share of data sets with this outcome."
)
DIAGRAM_NOTE = (
    "Methods at their average ranks, the best on the right. A bar joins methods that the data sets"
    " do not tell apart: their ranks differ by less than the critical difference (Nemenyi's test,"
    " level 0.05)."
)


def over_data_sets(comparison: Comparison, names: list[str]) -> Html:
    """Return the section over all data sets."""
    found, ranking = comparison.table(), comparison.ranking
    caption = joined(
        f"Methods over {len(names)} data sets. ", element("span", TABLE_NOTE, class_="note")
    )
    return section(
        2,
        "All data sets",
        section(3, "Methods", methods_table(found, caption)),
        section(3, "Ranks", _ranks(ranking)),
        section(3, "Pairs of methods", _pairs(ranking, len(names))),
        section(3, "Accuracy on each data set", _accuracies(comparison, names, found)),
        id="all",
    )


def _ranks(ranking: dict[str, Any]) -> Html:
    if "friedman" not in ranking:
        return EMPTY
    test = ranking["friedman"]
    words = (
        f"Friedman's test of equal ranks: F = {test['f_statistic']:.2f},"
        f" p {_compared(test['p_value'])}. Methods without a score on every data set have no rank."
    )
    drawing = rank_diagram(ranking["ranks"], ranking["critical_difference"])
    box = element("div", drawing, class_="box", tabindex="0", role="group", aria_label="diagram")
    return joined(element("p", words), element("figure", element("figcaption", DIAGRAM_NOTE), box))


def _pairs(ranking: dict[str, Any], n_datasets: int) -> Html:
    """Return the p values of Nemenyi's test, the columns numbered as the rows are."""
    if "friedman" not in ranking:
        return EMPTY
    ranks = pd.Series(ranking["ranks"], dtype=float).sort_values(kind="stable")
    values = nemenyi_p_values(ranks.to_numpy(), n_datasets)
    across = min(len(ranks), MOST_PAIRED)
    head = element(
        "tr",
        element("th", "Method", scope="col"),
        *(element("th", place + 1, scope="col") for place in range(across)),
    )
    rows = []
    for place, name in enumerate(ranks.index):
        cells = [
            element("td", DASH if at == place else _short(value), class_=_found(value))
            for at, value in enumerate(values[place, :across].tolist())
        ]
        rows.append(
            element("tr", element("th", f"{place + 1} ", breakable(name), scope="row"), *cells)
        )
    limit = f" Columns: the best {across} of {len(ranks)}." if across < len(ranks) else ""
    caption = (
        "p values of Nemenyi's test, which allow for the number of pairs; below 0.05 in bold."
        f"{limit}"
    )
    return table(caption, head, rows, class_="pairs")


def _compared(value: float) -> str:
    text = p_value(value)
    return text.replace("<", "< ") if "<" in text else f"= {text}"


def _short(value: float) -> str:
    return "<.01" if value < 0.005 else "1" if value > 0.995 else f"{value:.2f}".lstrip("0")


def _found(value: float) -> str | None:
    return "found" if value < 0.05 else None


def _accuracies(comparison: Comparison, names: list[str], found: pd.DataFrame) -> Html:
    """Return mean accuracies of methods on data sets, the best of each data set marked."""
    own = {name: comparison.table(name).set_index("method")["accuracy"] for name in names}
    means = pd.DataFrame(own).reindex(found["method"])
    tables = []
    for start in range(0, len(names), ACROSS):
        part = means.iloc[:, start : start + ACROSS]
        best = [percent(value) for value in part.max()]
        head = element(
            "tr",
            element("th", "Method", scope="col"),
            *(element("th", name, scope="col", data_first="descending") for name in part),
        )
        rows = []
        for method, values in zip(part.index, part.to_numpy(), strict=True):
            cells = [_cell(float(value), top) for value, top in zip(values, best, strict=True)]
            rows.append(element("tr", element("th", breakable(method), scope="row"), *cells))
        caption = "Mean accuracy in percent, the methods in the order of their ranks."
        tables.append(table(caption, head, rows, class_="sortable"))
    return joined(*tables)


def _cell(value: float, best: str) -> Html:
    text: Any = percent(value)
    if text == best and not np.isnan(value):
        text = element("strong", text)
    return element("td", text, data_value=None if np.isnan(value) else float(f"{value:.6g}"))
