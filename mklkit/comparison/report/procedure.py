"""How a comparison was made: its data, splits, methods, versions and command."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from mklkit.comparison.report.methods_table import KINDS
from mklkit.display.markup import EMPTY, Html, breakable, element, joined, section, table
from mklkit.errors import counted

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison
    from mklkit.comparison.data import DataSet

__all__ = ["procedure"]

MOST_NAMES = 100
"""Columns, or classes, that are named."""


def procedure(comparison: Comparison, command: str | None) -> Html:
    """Return the section on data, splits, methods, versions, and the command that made it all."""
    plan = comparison.plan
    made_by = element("pre", element("code", command)) if command else "mklkit.compare in Python"
    splits = dict.fromkeys(
        f"{one['name']}: {one['description']} ({one['digest']})" for one in plan["splits"]
    )
    tuned = f"{plan['tune']}, inside the training rows of each split" if plan["tune"] else "no"
    versions = ", ".join(f"{name} {version}" for name, version in plan["versions"].items())
    runs = f"{len(comparison.cells)}, of which {comparison.reused} were read from a file"
    facts = {
        "Made by": made_by,
        "Splits": _lines(list(splits)),
        "Seed": plan["seed"],
        "Tuning": tuned,
        "Runs": runs if comparison.reused else len(comparison.cells),
        "Notes": _lines(comparison.notes),
        "Versions": versions,
    }
    return section(
        2,
        "Data and procedure",
        *(_data(one, facts) for one, facts in zip(comparison.data, plan["data"], strict=True)),
        section(3, "How it was made", _listed(facts)),
        section(3, "What the methods are", _methods(plan["methods"])),
        section(3, "Parameters chosen by tuning", _parameters(comparison)),
        id="procedure",
    )


def _data(data: DataSet, facts: dict[str, Any]) -> Html:
    numeric = data.features.select_dtypes("number").shape[1]
    columns = ", all of numbers"
    if other := data.features.shape[1] - numeric:
        columns = f": {numeric} of numbers, {other} of text or dates"
    gaps = int(data.features.isna().to_numpy().sum())
    classes = [
        f"{label} ({count})"
        for label, count in zip(facts["classes"], facts["class_counts"], strict=True)
    ]
    readings = data.encoding["readings"].items()
    read = [f"{name}: {reading.notation}" for name, reading in readings if reading.holds != "text"]
    shown = {
        "Rows": facts["rows"],
        "Columns": f"{len(facts['columns'])}{columns}",
        "Classes": f"{len(classes)}: {_some(classes)}",
        "Missing values": gaps or None,
        "Left out, as identifiers": _some(data.encoding["identifiers"]),
        "Read from text": _some(read),
        "As read": data.summary,
        "Notes": _lines(data.notes),
        "Fingerprint": facts["fingerprint"],
    }
    names = element(
        "details", element("summary", "Names of the columns"), element("p", _some(facts["columns"]))
    )
    return section(3, f"Data: {data.name}", _listed(shown), names)


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _lines(texts: list[str]) -> Html:
    return joined(*(element("div", text) for text in texts))


def _listed(facts: dict[str, Any]) -> Html:
    """Return names and values side by side, without those that have none."""
    return element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", value))
            for name, value in facts.items()
            if value not in (None, "")
        ),
    )


def _methods(methods: list[dict[str, str]]) -> Html:
    head = [element("th", text, scope="col") for text in ("Method", "Kind", "Parts", "From")]
    rows = [
        element(
            "tr",
            element("th", breakable(one["name"]), scope="row"),
            *(element("td", text) for text in (KINDS[one["kind"]], one["spec"], one["version"])),
        )
        for one in methods
    ]
    found = table("Methods with all their parts.", element("tr", *head), rows, class_="words")
    summary = element("summary", counted(len(methods), "method"))
    return element("details", summary, found)


def _parameters(comparison: Comparison) -> Html:
    """Return the values that searches chose, with the number of splits, the most frequent first."""
    chosen: dict[tuple[str, str, str], Counter[str]] = {}
    for cell in comparison.cells:
        for name, value in (cell.params or {}).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            chosen.setdefault((cell.data, cell.method, name), Counter())[text] += 1
    if not chosen:
        return EMPTY
    many = len(comparison.data) > 1
    heads = [*(["Data"] if many else []), "Method", "Parameter", "Chosen, with number of splits"]
    rows = []
    for (data, method, name), counts in chosen.items():
        texts = [f"{value} ({count})" for value, count in counts.most_common()]
        values = element("td", ", ".join(texts))
        first = element("td", data) if many else None
        row = element("th", breakable(method), scope="row")
        rows.append(element("tr", first, row, element("td", name), values))
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    found = table("Chosen on the training rows of each split.", head, rows, class_="words sortable")
    summary = element("summary", counted(len(rows), "parameter"))
    return element("details", summary, found)
