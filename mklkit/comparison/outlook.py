"""What a comparison is about to do, how long it will take, and which method takes most of it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence

from mklkit.comparison.preparing import Prepared
from mklkit.comparison.stored import Cell
from mklkit.display import numbers
from mklkit.errors import counted

MOST = 0.5
"""The share of the time from which a method takes most of it."""
SOON = 5.0
"""Seconds that are not worth a sentence."""


def what_runs(prepared: Prepared, n_runs: int, seeds: int, permutations: int) -> str:
    """Return what a comparison is about to run, in words."""
    n_splits = [len(plan) for plan in prepared.plans]
    methods = counted(len(prepared.methods), "method")
    text = f"{n_runs:,} runs: {methods} on {counted(sum(n_splits), 'split')}"
    if len(n_splits) > 1:
        text += f" of {len(n_splits)} data sets"
    if seeds > 1:
        text += f", with {seeds} seeds"
    if permutations:
        text += f", and with labels permuted {counted(permutations, 'time')}"
    return text


def after_first_split(
    cells: Sequence[Cell], elapsed: float, left: Mapping[str, int], skipped: Sequence[str]
) -> str:
    """Return how long the runs that are ``left`` will take, by those of the first split.

    They are counted by method, without those in a file of results. The ``skipped`` methods are
    not run on them. It is empty if there is little to wait for.

    Examples
    --------
    >>> sizes = {"kind": "method", "repeat": 0, "fold": 0, "n_train": 80, "n_test": 20}
    >>> cells = [
    ...     Cell(data="a", method=name, seconds=time, **sizes)
    ...     for name, time in (("forest", 3.0), ("uniform", 1.0))
    ... ]
    >>> left = {"forest": 49, "uniform": 49}
    >>> after_first_split(cells, 4.0, left, [])  # doctest: +NORMALIZE_WHITESPACE
    "the first split took 4.0 s, so the others take about 3.3 min; forest takes 75 % of the time:
    --no forest (in Python without='forest') leaves it out"
    """
    spent = {cell.method: _seconds(cell) for cell in cells}
    measured = sum(spent.values())
    # Times of runs from a file count too, although they take none now.
    whole = max(elapsed, measured)
    overhead = (whole - measured) / max(1, len(spent))
    ahead = {name: left.get(name, 0) * (time + overhead) for name, time in spent.items()}
    remaining = sum(time for name, time in ahead.items() if name not in skipped)
    if remaining < SOON:
        return ""
    text = (
        f"the first split took {numbers.duration(whole)}, so the others take about"
        f" {numbers.duration(remaining)}"
    )
    dearest = max(ahead, key=ahead.__getitem__)
    share = ahead[dearest] / sum(ahead.values())
    if share <= MOST or len(spent) == 1:
        return text
    takes = f"{dearest} takes {numbers.percentage(share, 0)} of the time"
    if dearest in skipped:
        return f"{text}; {takes}, and is dropped from them"
    option = f"--no {shlex.quote(dearest)} (in Python without={dearest!r}) leaves it out"
    return f"{text}; {takes}: {option}"


def _seconds(cell: Cell) -> float:
    """Return the time of a run; one that failed has none."""
    times = (cell.seconds, cell.predict_seconds)
    return sum(time for time in times if not math.isnan(time))
