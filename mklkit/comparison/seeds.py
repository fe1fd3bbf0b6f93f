"""The same comparison with other seeds: in how many of them the verdicts agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mklkit.errors import SpecError, counted
from mklkit.evaluation.sentences import Unit
from mklkit.numerics.seeds import LARGEST_SEED
from mklkit.protocols.component import check_whole

NOT_TESTED = (
    "the seeds are not tested together: they show how much a verdict depends on the splits and on"
    " random numbers"
)


SAME_SPLITS = (
    "the splits are the same with every seed, so a seed changes only the random numbers of methods"
)


def check_seeds(seed: int, number: int) -> None:
    """Raise a SpecError if some of that many seeds, from the first on, are none."""
    check_whole("seeds", number, 1)
    if seed + number - 1 > LARGEST_SEED:
        raise SpecError(
            f"Seeds end at {LARGEST_SEED}, so {number} of them can't begin with {seed}: choose a"
            " smaller seed."
        )


def file_of_seed(results: Path | None, seed: int) -> Path | None:
    """Return the file of results of another seed, beside that of the first.

    Examples
    --------
    >>> file_of_seed(Path("runs.jsonl"), 3).name
    'runs.seed-3.jsonl'
    """
    return beside(results, f"seed-{seed}")


def beside(results: Path | None, part: str) -> Path | None:
    """Return the file beside that of a comparison, for another part of its runs."""
    return None if results is None else results.with_name(f"{results.stem}.{part}{results.suffix}")


def agreement(question: str, outcomes: Sequence[str]) -> str:
    """Return in how many seeds the verdict on a question is the same.

    Examples
    --------
    >>> agreement("Learned weights", ["better"] * 5)
    'Learned weights: the same verdict with 5 of 5 seeds, better'
    >>> agreement("Learned weights", ["better", "inconclusive", "better"])
    'Learned weights: better with 2 of 3 seeds, inconclusive with 1'
    """
    counts = Counter(outcomes).most_common()
    (first, number), *others = counts
    total = counted(len(outcomes), "seed")
    if not others:
        return f"{question}: the same verdict with {number} of {total}, {first}"
    rest = ", ".join(f"{outcome} with {count}" for outcome, count in others)
    return f"{question}: {first} with {number} of {total}, {rest}"


def differences_over_seeds(differences: Sequence[float], unit: Unit) -> str:
    """Return the least and the largest mean difference of the seeds.

    Examples
    --------
    >>> differences_over_seeds([0.012, -0.004, 0.03], Unit("accuracy"))
    'difference from −0.4 to 3.0 points'
    """
    least, largest = (unit.negative(value) for value in (min(differences), max(differences)))
    return f"difference from {least} to {largest}{unit.word}"
