"""Tables of a report and of a notebook in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.comparison.result_tables import (
    DETAILS,
    methods_result,
    questions_result,
    shortfall,
)
from mklkit.display import html
from mklkit.display.table import ResultTable, Row, is_known
from mklkit.errors import counted, cut

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

    from mklkit.comparison.comparison import Comparison

RESAMPLED = "Corrected resampled t-test (Nadeau and Bengio 2003)"
PLANNED = (
    "{}, Holm's correction over {}. Each"
    " interval has the level at which Holm's procedure tests its question, below it, and so"
    " excludes 0 exactly where p is below 0.05. The best of several is chosen by the same scores;"
    " its p is multiplied by their number."
)


def questions_table(comparison: Comparison, name: str) -> ResultTable | None:
    """Return the planned tests on the data set of a name, if there are any."""
    tests = comparison.questions[comparison.questions["data"] == name]
    if tests.empty:
        return None
    words = RESAMPLED
    if name in comparison.tested:
        test = comparison.test_of(name)
        words = f"{test[0].upper()}{test[1:]} between the fitted models"
    note = PLANNED.format(words, counted(len(tests), "question"))
    return questions_result(tests, comparison.score, f"Planned tests on {name}.", note)


def methods_html(comparison: Comparison, methods: pd.DataFrame, caption: str, note: str) -> Markup:
    """Return the table of methods, on one data set or over several, whose rows can be sorted."""
    plan = comparison.plan
    result = methods_result(
        methods,
        comparison.task,
        plan["score"],
        plan["reference"],
        caption,
        note,
    )

    def style(row: Row) -> str:
        is_first = row is result.rows[0] and is_known(row["score"])
        return row["kind"].replace(" ", "-") + " best" * is_first

    ranked = result.columns[result.n_words]
    return html.html_table(result, "methods sortable", style, sorted_by=ranked.key)


def comparison_html(comparison: Comparison) -> str:
    """Return the notebook display: the line of the ``repr``, the main columns and the verdict."""
    if not comparison.cells:
        return html.shown(repr(comparison))
    plan = comparison.plan
    table = comparison.table()
    result = methods_result(table, comparison.task, plan["score"], plan["reference"])
    rows = result.rows
    best = next((row for row in rows if row["failures"] == 0), None)
    return html.shown(
        repr(comparison),
        html.html_table(
            result.without(*DETAILS),
            row_style=lambda row: "best" if row is best else "",
            details=False,
        ),
        *comparison.verdict.splitlines(),
        *(f"{row['method']} {cut(shortfall(row), 230)}" for row in rows if row["failures"]),
        html.notes("Notes", comparison.notes),
    )
