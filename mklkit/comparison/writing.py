"""Files of a comparison: CSV, JSON and LaTeX, written completely or not at all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from mklkit.display.measures import PARTS, scale_of
from mklkit.errors import DataError
from mklkit.persistence.atomic import replacing

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

ENDINGS = (".html", ".csv", ".json", ".tex")
"""The files that a comparison can be written to."""
SIGNS = r"- \pm \times \cdot \leq \geq \|"
GREEK = (
    r"\alpha \beta \gamma \delta \varepsilon \eta \theta \kappa \lambda \mu \nu \xi \pi \rho \sigma"
    r" \tau \varphi \chi \psi \omega"
)
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    **{sign: f"${sign}$" for sign in "<>|"},
    **dict(zip("−±×·≤≥‖", (f"${sign}$" for sign in SIGNS.split()), strict=True)),
    **dict(zip("αβγδεηθκλμνξπρστφχψω", (f"${letter}$" for letter in GREEK.split()), strict=True)),
    **{low: f"$_{digit}$" for digit, low in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{high: f"$^{digit}$" for digit, high in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "⁻": "$^-$",
}
PAGE_ROWS = 40
"""The number of rows that fit on a page."""


def check_report(path: Path) -> str:
    """Return the extension of a report's name in lower case; DataError if it is no known format."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"A report's name must end in {', '.join(ENDINGS)}; got {path}.")
    return ending


def methods_latex(comparison: Comparison) -> str:
    """Return the planned tests, with the verdict as their caption, and the table of methods."""
    table, name = comparison.table(), comparison.plan["score"]
    scale, digits = scale_of(comparison.unit)
    beside = comparison.plan["reference"] or "the best"
    last = {"Rank": ("rank", 1, 2), "$P$(worse)": ("p_worse", 1, 2)}
    caption = comparison.verdict
    parts = []
    if "rank" not in table:
        last = {"Difference": ("difference", scale, digits), "$p$": ("p_corrected", 1, 3)}
        parts.append(_questions_latex(comparison, scale, digits))
        caption = f"Means over the splits ± standard deviation; differences to {beside}"
    ranking = comparison.score
    lead = latex_text(name) if ranking.lower else ranking.latex
    columns = {lead: ("score", scale, digits)}
    for key, (head, _) in PARTS.items():
        if table[key].notna().any():
            columns[head] = (key, scale, digits)
    for score in comparison.task.measured:
        if score.name != name and table[score.key].notna().any():
            columns[score.latex] = (score.key, *score.scale)
    columns |= {**last, "Seconds": ("seconds", 1, 2)}
    rows = []
    for row in table.to_dict("records"):
        cells = [latex_number(unit * row[key], places) for key, unit, places in columns.values()]
        if not math.isnan(row.get("deviation", math.nan)):
            cells[0] += rf" $\pm$ {latex_number(scale * row['deviation'], digits)}"
        if row["score"] == table["score"].max():
            cells[0] = rf"\textbf{{{cells[0]}}}"
        rows.append([latex_text(row["method"]), latex_text(row["learner"]), *cells])
    parts.append(latex_table(["Method", "Learner", *columns], rows, caption, left=2))
    return "\n".join(part for part in parts if part)


def _questions_latex(comparison: Comparison, scale: float, digits: int) -> str:
    rows = []
    for test in comparison.questions.to_dict("records"):
        difference, low, high = (
            latex_number(scale * test[key], digits) for key in ("difference", "low", "high")
        )
        words = [latex_text(test[key]) for key in ("question", "method", "reference")]
        p_value = latex_number(test["p_holm"], 3)
        rows.append([*words, difference, f"{low} to {high}", p_value])
    heads = ["Question", "Method", "Against", "Difference", "Interval", "$p$ (Holm)"]
    return latex_table(heads, rows, " ".join(comparison.verdict.splitlines()), 3) if rows else ""


def latex_table(
    heads: list[str], rows: list[list[str]], caption: str, left: int = 1, label: str = ""
) -> str:
    r"""Return a table for LaTeX (package booktabs; longtable too if it is longer than a page).

    Heads and cells are in LaTeX, as :func:`latex_text` and :func:`latex_number` return them; the
    caption is plain text; ``left`` columns hold words, the others numbers.

    Examples
    --------
    >>> print(latex_table(["Set", "$p$"], [["iris", "0.05"]], "Tests"))
    \begin{table}
    \centering
    \caption{Tests}
    \begin{tabular}{lr}
    \toprule
    Set & $p$ \\
    \midrule
    iris & 0.05 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    # Imported here, since it takes a second and file names are checked first.
    import pandas as pd

    is_long = len(rows) > PAGE_ROWS
    return str(
        pd.DataFrame(rows, columns=heads)
        .style.hide(axis="index")
        .to_latex(
            column_format="l" * left + "r" * (len(heads) - left),
            hrules=True,
            caption=latex_text(caption),
            label=label or None,
            position_float=None if is_long else "centering",
            environment="longtable" if is_long else None,
        )
    )


def latex_number(value: float, digits: int) -> str:
    """Return a number in LaTeX, a dash for NaN."""
    if math.isnan(value):
        return "--"
    # Adding 0.0 avoids "-0".
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "$-$", 1)


def latex_text(text: str) -> str:
    r"""Return text with LaTeX's special characters escaped, and Greek letters and signs as maths.

    Examples
    --------
    >>> print(latex_text("κ_1 < 5 %"))
    $\kappa$\_1 $<$ 5 \%
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8; lone surrogates, as in file names, are written as ``\\udcff``."""

    with replacing(path) as file:
        file.write(text.encode(errors="backslashreplace"))
