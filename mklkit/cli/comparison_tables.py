"""What ``compare`` prints: its planned tests, and the methods of one data set or over several."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain
from mklkit.cli.tables import grid, number
from mklkit.display.measures import PARTS, scale_of
from mklkit.display.numbers import p_value
from mklkit.errors import counted

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.evaluation.tasks import Task

STYLES = {"method": "bold", "one kernel": "", "classifier": "", "baseline": "dim"}
LEGEND = "{2}: difference from {0}; p: corrected t-test, Holm"
OVER_DATA_SETS = (
    "\nrank: mean rank over the data sets, 1 is best; worse: the probability that, on"
    " another data set, being worse than {1} by over two points (2 % of the baseline's error)"
    " is likelier than being the same or better"
)
PLANNED = "interval: at Holm's level, 95 % or more; p: corrected t-test, Holm, over {}"


def questions_grid(tests: pd.DataFrame, unit: str) -> Grid:
    """Return the planned tests of one data set, with differences in a score's unit."""
    scale, digits = scale_of(unit)
    table = grid("planned question", unit, "interval", "p", padding=(0, 1, 0, 0))
    title = ""
    for test in tests.to_dict("records"):
        if test["question"] != title:
            title = test["question"]
            table.add_row(Text(plain(title), style="bold"))
        low, high = (number(scale * test[end], digits) for end in ("low", "high"))
        table.add_row(
            Text(f" {plain(test['method'])} against {plain(test['reference'])}"),
            number(scale * test["difference"], digits),
            f"{low} to {high}",
            _p(test["p_holm"]),
        )
    table.caption = Text(PLANNED.format(counted(len(tests), "question")), style="dim")
    table.caption_justify = "left"
    return table


def comparison_grid(
    results: pd.DataFrame,
    task: Task,
    name: str,
    unit: str,
    reference: str | None,
    title: str | None = None,
) -> Grid:
    """Return the rows of the methods that have a score, of one data set or over several.

    If there are several tables, with titles, only the last, over all data sets, has a legend.
    """
    several = "rank" in results
    legend = title is None or several
    beside = unit if unit == "points" else "diff."
    last = ["rank", "worse"] if several else [beside, "p"]
    table = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title_justify="left")
    table.title = None if title is None else Text(f"\n{plain(title)}", style="bold")
    table.show_edge = legend  # the empty lines above the head and below the rows
    table.add_column("method", overflow="fold")
    table.add_column("learner", overflow="fold")
    scale, digits = scale_of(unit)
    ranking = task.score_named(name)
    known = ranking.of and ranking.short and not ranking.lower and not ranking.decimal
    lead = str(ranking.short) if known else name + " %" * (unit == "points")
    measures = {
        score.key: (score.short, *score.scale)
        for score in task.measured
        if score.short and score is not ranking and results[score.key].notna().any()
    }
    if parts := results["lacking_score"].notna().any():  # A terminal lacks the space for all.
        measures = {key: (head, scale, digits) for key, (_, head) in PARTS.items()}
    for head in [lead, *(head for head, *_ in measures.values()), *last, "time"]:
        table.add_column(head, justify="right", no_wrap=True)
    best = next(iter(results.loc[results["failures"] == 0, "method"]), None)
    for row in results.to_dict("records"):
        if math.isnan(row["score"]):
            continue
        if several:
            ends = [number(row["rank"], 2, ""), number(row["p_worse"], 2, "")]
        else:
            is_itself = row["method"] == (reference or best)
            points = "" if is_itself else number(scale * row["difference"], digits, "")
            ends = [points, _p(row["p_corrected"])]
        deviation = number(scale * row.get("deviation", math.nan), digits, "")
        table.add_row(
            Text(plain(row["method"]), style=STYLES[row["kind"]]),
            Text(plain(row["learner"])),
            number(scale * row["score"], digits) + (f" ± {deviation}" if deviation else ""),
            *(number(by * row[key], places, "") for key, (_, by, places) in measures.items()),
            *ends,
            _time(row["seconds"]),
        )
    if legend:
        names = (reference or "the best", reference or "the first")
        text = (LEGEND + (OVER_DATA_SETS if several else "")).format(*map(plain, names), beside)
        if "balanced_accuracy" in {name, *measures}:
            text = f"bal.: balanced accuracy; {text}"
        if parts:
            text = f"all, lack: of the rows that have all sources, and that lack one; {text}"
        table.caption = Text(text, style="dim")
        table.caption_justify = "left"
    return table


def _time(seconds: float) -> str:
    if seconds < 0.995:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _p(value: float) -> str:
    return "" if math.isnan(value) else p_value(value)
