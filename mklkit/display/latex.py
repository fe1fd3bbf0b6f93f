"""Tables in LaTeX, with the text of a table of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mklkit.display.table import ResultTable

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


def latex_result(table: ResultTable) -> str:
    """Return a table of results in LaTeX, with the best of a column in bold."""
    rows = []
    for row in table.rows:
        cells = [latex_text(column.text(row)) for column in table.columns]
        for place, column in enumerate(table.columns):
            if table.is_best(column, row):
                cells[place] = rf"\textbf{{{cells[place]}}}"
        rows.append(cells)
    heads = [latex_text(column.full_head) for column in table.columns]
    return latex_table(heads, rows, table.caption, table.n_words)


def latex_table(
    heads: list[str], rows: list[list[str]], caption: str, left: int = 1, label: str = ""
) -> str:
    r"""Return a table for LaTeX (package booktabs; longtable too if it is longer than a page).

    Heads and cells are in LaTeX, as :func:`latex_text` returns them; the caption is plain text;
    ``left`` columns hold words, the others numbers.

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


def latex_text(text: str) -> str:
    r"""Return text with LaTeX's special characters escaped, and Greek letters and signs as maths.

    Examples
    --------
    >>> print(latex_text("κ_1 < 5 %"))
    $\kappa$\_1 $<$ 5 \%
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)
