"""How a comparison was made: its data, splits, methods, versions and command."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from mklkit.comparison.report.tables import KINDS, Table

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison
    from mklkit.comparison.data import DataSet

__all__ = ["procedure"]

MOST_NAMES = 100
"""Columns, or classes, that are named."""


def procedure(comparison: Comparison) -> dict[str, Any]:
    """Return the parts of the section on data, splits, methods and versions.

    Facts are names with a text, or with a list of texts that are lines of their own.
    """
    plan = comparison.plan
    splits = dict.fromkeys(
        f"{split['name']}: {split['description']} ({split['digest']})" for split in plan["splits"]
    )
    tuned = f"{plan['tune']}, inside the training rows of each split" if plan["tune"] else "no"
    runs = f"{len(comparison.cells)}"
    if comparison.reused:
        runs += f", of which {comparison.reused} were read from a file"
    methods = [
        (method["name"], KINDS[method["kind"]], method["spec"], method["version"])
        for method in plan["methods"]
    ]
    heads = ("Method", "Kind", "Parts", "From")
    return {
        "data": [
            (data.name, _data(data, facts), _some(facts["columns"]))
            for data, facts in zip(comparison.data, plan["data"], strict=True)
        ],
        "facts": {
            "Splits": list(splits),
            "Seed": str(plan["seed"]),
            "Tuning": tuned,
            "Runs": runs,
            "Notes": comparison.notes,
            "Versions": ", ".join(f"{name} {number}" for name, number in plan["versions"].items()),
        },
        "methods": Table.of_words("Methods with all their parts.", heads, methods),
        "parameters": _parameters(comparison),
    }


def _data(data: DataSet, facts: dict[str, Any]) -> dict[str, str | list[str]]:
    numeric = data.features.select_dtypes("number").shape[1]
    columns = ", all of numbers"
    if words := data.features.shape[1] - numeric:
        columns = f": {numeric} of numbers, {words} of text or dates"
    gaps = int(data.features.isna().to_numpy().sum())
    counts = zip(facts["classes"], facts["class_counts"], strict=True)
    classes = [f"{label} ({count})" for label, count in counts]
    readings = data.encoding["readings"].items()
    read = [f"{name}: {reading.notation}" for name, reading in readings if reading.holds != "text"]
    return {
        "Rows": str(facts["rows"]),
        "Columns": f"{len(facts['columns'])}{columns}",
        "Classes": f"{len(classes)}: {_some(classes)}",
        "Missing values": str(gaps or ""),
        "Left out, as identifiers": _some(data.encoding["identifiers"]),
        "Read from text": _some(read),
        "As read": data.summary,
        "Notes": data.notes,
        "Fingerprint": facts["fingerprint"],
    }


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _parameters(comparison: Comparison) -> Table | None:
    """Return the values that searches chose, with the number of splits, the most frequent first."""
    chosen: dict[tuple[str, str, str], Counter[str]] = {}
    for cell in comparison.cells:
        for name, value in (cell.params or {}).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            chosen.setdefault((cell.method, cell.data, name), Counter())[text] += 1
    if not chosen:
        return None
    rows = [
        (*place, ", ".join(f"{value} ({count})" for value, count in counts.most_common()))
        for place, counts in chosen.items()
    ]
    heads = ("Method", "Data", "Parameter", "Chosen, with number of splits")
    return Table.of_words("Chosen on the training rows of each split.", heads, rows)
