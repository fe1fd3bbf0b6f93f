"""Tables in LaTeX, with the text of a table of results."""

from __future__ import annotations

from mklkit.display.table import Bar, Column, ResultTable, Row

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
    "–": "--",
}
PAGE_ROWS = 40
"""The number of rows that fit on a page."""


def latex_result(table: ResultTable, label: str = "") -> str:
    r"""Return a table of results in LaTeX, with the best of a column in bold.

    It needs the package booktabs, and longtable if it is longer than a page. Bars are omitted.

    Examples
    --------
    >>> from mklkit.display.table import Column, ResultTable
    >>> columns = [Column("set", "Set"), Column("p", "p_1", str)]
    >>> print(latex_result(ResultTable(columns, [{"set": "iris", "p": 0.05}], "Tests")))
    \begin{table}
    \centering
    \caption{Tests}
    \begin{tabular}{lr}
    \toprule
    Set & p\_1 \\
    \midrule
    iris & 0.05 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    # Imported here, since it takes a second and file names are checked first.
    import pandas as pd

    columns = [column for column in table.columns if not isinstance(column, Bar)]
    rows = [[_cell(table, column, row) for column in columns] for row in table.rows]
    is_long = len(rows) > PAGE_ROWS
    return str(
        pd.DataFrame(rows, columns=[latex_text(column.full_head) for column in columns])
        .style.hide(axis="index")
        .to_latex(
            column_format="".join("r" if column.is_number else "l" for column in columns),
            hrules=True,
            caption=latex_text(table.caption) or None,
            label=label or None,
            position_float=None if is_long else "centering",
            environment="longtable" if is_long else None,
        )
    )


def _cell(table: ResultTable, column: Column, row: Row) -> str:
    text = latex_text(column.text(row))
    return rf"\textbf{{{text}}}" if table.is_best(column, row) else text


def latex_text(text: str) -> str:
    r"""Return text with LaTeX's special characters escaped, and Greek letters and signs as maths.

    Examples
    --------
    >>> print(latex_text("κ_1 < 5 %"))
    $\kappa$\_1 $<$ 5 \%
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)
