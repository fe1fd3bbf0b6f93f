"""Files of a comparison: CSV, JSON and LaTeX, written completely or not at all."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from mklkit.persistence.atomic import replacing

__all__ = ["write_csv", "write_json", "write_latex", "write_text"]

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def write_csv(path: Path, results: pd.DataFrame) -> None:
    """Write a tidy table; parameters are JSON in their cells."""
    plain = results.assign(
        params=["" if one is None else json.dumps(one) for one in results["params"]]
    )
    write_text(path, plain.to_csv(index=False))


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
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
    ]
    for row in table.to_dict("records"):
        accuracy = _number(100 * row["accuracy"], 1)
        if "deviation" in row and not math.isnan(row["deviation"]):
            accuracy += rf" $\pm$ {_number(100 * row['deviation'], 1)}"
        if row["accuracy"] == highest:
            accuracy = rf"\textbf{{{accuracy}}}"
        cells = [_escaped(row["method"]), accuracy]
        cells += [_number(100 * row["balanced_accuracy"], 1)]
        cells += [_number(row["auc"], 3), _number(row["log_loss"], 3)]
        if several:
            cells += [_number(row["rank"], 2), _number(row["p_worse"], 2)]
        else:
            cells += [_number(100 * row["difference"], 1), _number(row["p_corrected"], 3)]
        lines.append(" & ".join([*cells, _number(row["seconds"], 2)]) + r" \\")
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{_escaped(verdict)}}}",
        r"\end{table}",
    ]
    write_text(path, "\n".join(lines) + "\n")


def _number(value: float, digits: int) -> str:
    if math.isnan(value):
        return "--"
    # Without a minus before what is rounded to zero.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "$-$", 1)


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8; what is not Unicode, as in names of files, is written as ``\\udcff``."""
    with replacing(path) as file:
        file.write(text.encode(errors="backslashreplace"))
