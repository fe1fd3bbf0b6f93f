"""Files of a comparison: CSV, JSON and LaTeX, written completely or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from mklkit.comparison.result_tables import methods_result, questions_result
from mklkit.display.latex import latex_result
from mklkit.errors import DataError
from mklkit.persistence.atomic import replacing

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

ENDINGS = (".html", ".csv", ".json", ".tex")
"""The files that a comparison can be written to."""
MEANS = "Means over the splits ± standard deviation"
ON_PAGE_ONLY = ("kind_name", "p_equivalent", "p_better", "p_paired", "memory")


def check_report(path: Path) -> str:
    """Return the extension of a report's name in lower case; DataError if it is no known format."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"A report's name must end in {', '.join(ENDINGS)}; got {path}.")
    return ending


def methods_latex(comparison: Comparison) -> str:
    """Return the planned tests, with the verdict as their caption, and the table of methods."""
    table = comparison.table()
    plan = comparison.plan
    methods = methods_result(table, comparison.task, plan["score"], plan["reference"])
    methods = methods.without(*ON_PAGE_ONLY)
    if "rank" in table:
        return latex_result(attrs.evolve(methods, caption=comparison.verdict))
    beside = plan["reference"] or "the best"
    means = "Scores on the test samples" if comparison.tested else MEANS
    caption = f"{means}; differences to {beside}"
    parts = [latex_result(attrs.evolve(methods, caption=caption))]
    if len(comparison.questions):
        tests = questions_result(comparison.questions, comparison.score)
        verdict = " ".join(comparison.verdict.splitlines())
        parts.insert(0, latex_result(attrs.evolve(tests, caption=verdict)))
    return "\n".join(parts)


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8; lone surrogates, as in file names, are written as ``\\udcff``."""

    with replacing(path) as file:
        file.write(text.encode(errors="backslashreplace"))
