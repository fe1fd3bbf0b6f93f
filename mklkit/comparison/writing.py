"""Files of a comparison: CSV, JSON and LaTeX, written completely or not at all."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from mklkit.datasets.csv_text import csv_text
from mklkit.persistence.atomic import replacing

__all__ = [
    "latex_number",
    "latex_table",
    "latex_text",
    "write_csv",
    "write_json",
    "write_latex",
    "write_text",
]

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
    **dict(zip("−±×·≤≥‖", (f"${one}$" for one in SIGNS.split()), strict=True)),
    **dict(zip("αβγδεηθκλμνξπρστφχψω", (f"${one}$" for one in GREEK.split()), strict=True)),
    **{low: f"$_{digit}$" for digit, low in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{high: f"$^{digit}$" for digit, high in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "⁻": "$^-$",
}


PAGE_ROWS = 40
"""How many rows a page has room for."""


def write_csv(path: Path, results: pd.DataFrame) -> None:
    """Write a tidy table; parameters are JSON in their cells."""
    plain = results.assign(
        params=["" if one is None else json.dumps(one) for one in results["params"]]
    )
    write_text(path, csv_text(plain))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write plain values."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_latex(path: Path, table: pd.DataFrame, verdict: str) -> None:
    """Write the table of methods, in points of accuracy, with the verdict as its caption."""
    several = "rank" in table
    heads = ["Method", "Accuracy", "Bal.\\ acc.", "AUC", "Log loss"]
    heads += ["Rank", "$P$(worse)"] if several else ["Difference", "$p$"]
    heads.append("Seconds")
    highest = table["accuracy"].max()
    rows = []
    for row in table.to_dict("records"):
        accuracy = latex_number(100 * row["accuracy"], 1)
        if "deviation" in row and not math.isnan(row["deviation"]):
            accuracy += rf" $\pm$ {latex_number(100 * row['deviation'], 1)}"
        if row["accuracy"] == highest:
            accuracy = rf"\textbf{{{accuracy}}}"
        cells = [latex_text(row["method"]), accuracy]
        cells += [latex_number(100 * row["balanced_accuracy"], 1)]
        cells += [latex_number(row["auc"], 3), latex_number(row["log_loss"], 3)]
        if several:
            cells += [latex_number(row["rank"], 2), latex_number(row["p_worse"], 2)]
        else:
            cells += [latex_number(100 * row["difference"], 1), latex_number(row["p_corrected"], 3)]
        rows.append([*cells, latex_number(row["seconds"], 2)])
    write_text(path, latex_table(heads, rows, verdict))


def latex_table(
    heads: list[str], rows: list[list[str]], caption: str, left: int = 1, label: str = ""
) -> str:
    r"""Return a table for LaTeX (package booktabs; longtable too if it is longer than a page).

    Parameters
    ----------
    heads : list of str
    rows : list of list of str
        Cells in LaTeX, as :func:`latex_text` and :func:`latex_number` return them.
    caption : str
        Plain text.
    left : int, default=1
        How many columns are of words; the others are of numbers.
    label : str, optional
        For references to it.

    Examples
    --------
    >>> print(latex_table(["Set", "$p$"], [["iris", "0.05"]], "Tests"))
    \begin{table}
    \centering
    \begin{tabular}{lr}
    \toprule
    Set & $p$ \\
    \midrule
    iris & 0.05 \\
    \bottomrule
    \end{tabular}
    \caption{Tests}
    \end{table}
    <BLANKLINE>
    """
    columns = "l" * left + "r" * (len(heads) - left)
    named = rf"\caption{{{latex_text(caption)}}}" + (rf"\label{{{label}}}" if label else "")
    head = [r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
    body = [" & ".join(row) + r" \\" for row in rows]
    if len(rows) > PAGE_ROWS:
        again = [*head, r"\endhead", r"\bottomrule", r"\endfoot"]
        start, end = rf"\begin{{longtable}}{{{columns}}}", r"\end{longtable}"
        lines = [start, named + r" \\", *again, *body, end]
    else:
        start, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
        inner = [start, *head, *body, r"\bottomrule", end]
        lines = [r"\begin{table}", r"\centering", *inner, named, r"\end{table}"]
    return "\n".join(lines) + "\n"


def latex_number(value: float, digits: int) -> str:
    """Return a number in LaTeX, a dash for NaN."""
    if math.isnan(value):
        return "--"
    # Without a minus before what is rounded to zero.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "$-$", 1)


def latex_text(text: str) -> str:
    r"""Return text with what has a meaning in LaTeX escaped, and Greek letters and signs as maths.

    Examples
    --------
    >>> print(latex_text("κ_1 < 5 %"))
    $\kappa$\_1 $<$ 5 \%
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8; what is not Unicode, as in names of files, is written as ``\\udcff``."""
    with replacing(path) as file:
        file.write(text.encode(errors="backslashreplace"))
