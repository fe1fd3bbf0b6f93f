"""Lines of an entry that is run, and the numbers that stand on the page of its paper."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from helpers.documents import ROOT
from mklkit_papers.entries import find_entries
from mklkit_papers.lines import Line
from mklkit_papers.protocol import DataUse, Experiment
from mklkit_papers.session import Session

needs_folder = pytest.mark.skipif("MKLKIT_DATA" not in os.environ, reason="MKLKIT_DATA is not set")


def lines_of(name: str, **settings: Any) -> dict[tuple[str, str], Line]:
    """Return the lines of an entry by row and column."""
    (entry,) = find_entries([name])
    return {(line.row, line.column): line for line in entry.run(Session(**settings)).lines}


def use_of(experiment: Experiment, label: str) -> DataUse:
    """Return the data set of a label."""
    return next(use for use in experiment.sets if use.label == label)


def shown(name: str) -> dict[tuple[str, str], list[float]]:
    """Return our numbers on the page by row and column, each with its deviation."""
    page = (ROOT / "docs" / "papers" / "tables" / f"{name}.md").read_text("utf-8")
    table = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", page, re.DOTALL)[1]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    return {
        (row, column): [float(number) for number in ours.split(" ± ")]
        for row, column, ours, *_ in rows
        if ours
    }
