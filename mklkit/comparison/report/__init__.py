"""The report of a comparison: one self-contained page.

The page is one template (``page.html``) around tables of numbers and the displays of
``mklkit.plotting``, whose figures ``plotting/svg.py`` turns into SVG with text as text and the
colours of the page.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mklkit.comparison.report.results import over_data_sets, results_on
from mklkit.comparison.result_tables import methods_parts
from mklkit.display.html import html_table, rendered
from mklkit.display.table import Column, ResultTable
from mklkit.errors import counted
from mklkit.estimators.missing_sources import WARNING
from mklkit.evaluation.methods_section import methods_of_plan
from mklkit.numerics.sparse import count_gaps
from mklkit.plotting.svg import svg_of

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison
    from mklkit.comparison.data import DataSet

__all__ = ["html_report"]

MOST_TITLED = 3
"""Data sets named in the title."""
MOST_NAMES = 100
"""Columns, or classes, that are named."""


def html_report(comparison: Comparison, command: str | None = None) -> str:
    """Return a comparison as one HTML page, which opens without a network.

    Text from the data is escaped, and the page's own policy blocks all other scripts, styles and
    connections. ``command`` is shown as the origin of the page.
    """
    names = comparison.compared_data
    on = ", ".join(names) if len(names) <= MOST_TITLED else counted(len(names), "data set")
    style, script = (
        files(__package__).joinpath(name).read_text(encoding="utf-8")
        for name in ("style.css", "page.js")
    )
    runs = "{} of {} runs".format(*comparison.runs)
    return rendered(
        "comparison/report/page.html",
        table=html_table,
        drawn=svg_of,
        title=f"Comparison of {counted(len(comparison.methods), 'method')} on {on}",
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'",
        interrupted="" if comparison.complete else runs,
        warnings=[note for data in comparison.data for note in data.notes if WARNING in note],
        verdict=comparison.verdict.splitlines(),
        seeds=comparison.seeds_agree,
        over=over_data_sets(comparison) if len(names) > 1 else None,
        data=[results_on(comparison, name) for name in names],
        procedure=_procedure(comparison),
        to_report=methods_of_plan(comparison.plan),
        command=command,
        version=comparison.plan["versions"]["mklkit"],
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _procedure(comparison: Comparison) -> dict[str, Any]:
    """Return the parts of the section on data, splits, methods and versions.

    Facts are names with a text, or with a list of texts that go on separate lines.
    """
    plan = comparison.plan
    splits = [
        f"{split['name']}: {split['description']} ({split['digest']})" for split in plan["splits"]
    ]
    tuned = f"{plan['tune']}, inside the training samples of each split" if plan["tune"] else "no"
    runs = str(comparison.runs[0])
    if comparison.reused:
        runs += f", of which {comparison.reused} were read from a file"
    return {
        "data": [
            (data.name, _data(data, metadata), _some(metadata["columns"]))
            for data, metadata in zip(comparison.data, plan["data"], strict=True)
        ],
        "facts": {
            "Splits": splits,
            "Differences": comparison.how,
            "Seed": str(plan["seed"]),
            "Tuning": tuned,
            "Runs": runs,
            "Notes": comparison.notes,
            "Versions": ", ".join(f"{name} {number}" for name, number in plan["versions"].items()),
        },
        "methods": methods_parts(plan["methods"]),
        "parameters": _parameters(comparison),
    }


def _data(data: DataSet, metadata: dict[str, Any]) -> dict[str, str | list[str]]:
    numeric = data.features.select_dtypes("number").shape[1]
    words = data.features.shape[1] - numeric
    kinds = f": {numeric} of numbers, {words} of text or dates" if words else ", all of numbers"
    counts = zip(metadata["classes"], metadata["class_counts"], strict=True)
    classes = [f"{label} ({count})" for label, count in counts]
    return {
        "Samples": str(metadata["rows"]),
        "Columns": f"{len(metadata['columns'])}{kinds}",
        "Classes": f"{len(classes)}: {_some(classes)}" if classes else "",
        "Missing values": str(int(count_gaps(data.features).sum()) or ""),
        "As read": data.summary,
        "Notes": data.notes,
        "Fingerprint": metadata["fingerprint"],
    }


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _parameters(comparison: Comparison) -> ResultTable | None:
    """Return the values that searches chose, with the number of splits, the most frequent first."""
    chosen: dict[tuple[str, str, str], Counter[str]] = {}
    for cell in comparison.cells:
        for name, value in (cell.params or {}).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            chosen.setdefault((cell.method, cell.data, name), Counter())[text] += 1
    if not chosen:
        return None
    keys = ("method", "data", "parameter", "chosen")
    rows = [
        dict(zip(keys, (*place, _with_counts(counts)), strict=True))
        for place, counts in chosen.items()
    ]
    heads = ("Method", "Data", "Parameter", "Chosen, with number of splits")
    columns = [Column(key, head) for key, head in zip(keys, heads, strict=True)]
    return ResultTable(columns, rows, "Chosen on the training samples of each split.")


def _with_counts(values: Counter[str]) -> str:
    return ", ".join(f"{value} ({count})" for value, count in values.most_common())
