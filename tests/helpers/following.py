"""Somebody who follows a page: runs its commands and listings, and looks at what they print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from helpers.documents import Block, blocks, commands_of
from helpers.processes import run_in_process, run_listing

# The languages of blocks that are run; a part that only explains is ``py``.
RUN = ("sh", "python")

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# A bar is as long as its number is large, a rule as long as the screen is wide.
_DRAWN = re.compile(r"[█─]+")
_TIMED = re.compile(
    r"^(?:learned from .*|scores of a model[^)]*\)[^)]*\)|[\d.]+ m?s)$", re.MULTILINE
)


@attrs.frozen
class Step:
    """A block that was run: what it printed, and the output that the page shows for it, if any."""

    block: Block
    printed: str
    shown: str | None
    as_shown: bool


def follow(
    page: str, folder: Path, instead: Mapping[str, str], left_out: Mapping[str, str]
) -> list[Step]:
    """Run the commands and listings of a page in a folder, in their order, and return the steps.

    Listings share their names, as the cells of a notebook do. Parts of the text are replaced as
    ``instead`` says, commands and listings that begin like one of ``left_out`` are not run; either
    has to occur.
    """
    fenced = blocks(page)
    unused = {*instead, *left_out}
    names: dict[str, Any] = {"__name__": "__main__"}
    steps = []
    for block, after in pairwise([*fenced, Block("", "")]):
        if block.language not in RUN:
            continue
        text = block.text
        unused -= {name for name in instead if name in text}
        for name, other in instead.items():
            text = text.replace(name, other)
        parts = commands_of(text) if block.language == "sh" else [text]
        unused -= {name for name in left_out for part in parts if part.startswith(name)}
        parts = [part for part in parts if not part.startswith(tuple(left_out))]
        if block.language == "sh":
            printed = "".join(run_in_turn(parts, folder))
        else:
            outcomes = [run_listing(part, names, cwd=folder) for part in parts]
            assert all(outcome.code == 0 for outcome in outcomes), outcomes
            printed = "".join(outcome.out for outcome in outcomes)
        shown = after.text if parts and after.language == "text" else None
        steps.append(Step(block, printed, shown, text == block.text))
    assert not unused, f"{page} has no longer: {unused}"
    return steps


def run_in_turn(commands: list[str], folder: Path, **environment: str) -> list[str]:
    """Run commands of mklkit and return what each prints."""
    printed = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "mklkit", command
        outcome = run_in_process(*arguments, cwd=folder, **environment)
        assert outcome.code == 0, outcome
        printed.append(outcome.out)
    return printed


def same_but_for_rounding(shown: str, printed: str) -> None:
    """Check the words in their order, and the numbers but for another processor's rounding.

    Lines may be broken elsewhere; where a page has ``…``, anything may have been printed.
    """
    rest = _words(printed)
    for place, part in enumerate(shown.split("…")):
        words = _words(part)
        starts = range(len(rest) - len(words) + 1) if place else [0]
        start = next((at for at in starts if _alike(words, rest[at : at + len(words)])), None)
        assert start is not None, f"expected:\n{part}\nprinted:\n{printed}"
        ours, real = words, rest[start : start + len(words)]
        np.testing.assert_allclose(_numbers(real), _numbers(ours), rtol=0.02, atol=0.002)
        rest = rest[start + len(words) :]
    assert shown.rstrip().endswith("…") or not rest, f"not shown: {' '.join(rest)}"


def _words(text: str) -> list[str]:
    return _DRAWN.sub(" ", _TIMED.sub("", text)).split()


def _alike(ours: list[str], real: list[str]) -> bool:
    """Return whether words are the same but for their numbers."""
    return [_NUMBER.sub("0", text) for text in ours] == [_NUMBER.sub("0", text) for text in real]


def _numbers(words: list[str]) -> list[float]:
    return [float(number) for word in words for number in _NUMBER.findall(word)]


def accuracies(table: str) -> dict[str, float]:
    """Return the accuracy of each method in what ``mklkit compare`` prints."""
    rows = re.findall(r"^ (\S.*?)(?: {2,}[a-z]\S*)? +([\d.]+) ± ", table, re.MULTILINE)
    return {method: float(accuracy) for method, accuracy in rows}
