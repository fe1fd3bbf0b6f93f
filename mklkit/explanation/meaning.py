"""Sentences on what the weights of a model mean, and what they do not tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.combiners.templates.coupling import CouplingCombiner
from mklkit.combiners.templates.fusion import LearnedFusion
from mklkit.display import numbers
from mklkit.errors import counted, named
from mklkit.estimators.introspection import KernelModel
from mklkit.evaluation.alignment import NEAR_DUPLICATE
from mklkit.evaluation.equivalence import MARGIN
from mklkit.evaluation.paired_tests import corrected_interval
from mklkit.evaluation.resolution import Resolution
from mklkit.evaluation.sentences import beats_guessing, still_told
from mklkit.explanation.refitting import members_of
from mklkit.protocols import Array, CombinerTraits, GatedDecision, Task, traits_of

SIZES_DIFFER = 1.1
"""Weights are not comparable if the largest mean k(x, x) exceeds the smallest by this factor."""
ALIKE = 0.9
"""The centred alignment from which kernels are called similar."""
PAIRS_SHOWN = 5
LOST, OPEN, NOT_LOST, GAINED = "lost", "inconclusive", "not lost", "gained"
WITHHELD = "no verdict"
"""The outcome for a kernel from whose columns removed covariates can still be told."""
OUTCOMES = (LOST, OPEN, NOT_LOST, GAINED, WITHHELD, "")
WEIGHTS_ARE = {
    "fixed": "are fixed before any row is seen: they are not a learned importance; see what is"
    " lost when a kernel is left out",
    "choice": "come from a rule that chooses one kernel: a weight of 0 does not mean that a"
    " kernel is useless, only that another was better in that fit; the mean is the share of fits"
    " that chose it",
}
LEARNED = (
    "are learned from the rows; a large one means that a kernel is used, not that it is needed:"
    " others may replace it"
)
SAME = "nearly the same kernels, which may share a weight, so that one may be enough"
SIMILAR = "similar kernels, so that part of a weight could as well be the other's"


def joins_decisions(model: KernelModel) -> bool:
    """Return whether the weights apply to decision values instead of kernels in a sum."""
    return isinstance(model.combiner_, CouplingCombiner | LearnedFusion)


def meaning_of(model: Any, sizes: Array, alignment: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on the limits of a fitted model's weights.

    ``sizes`` are the means of k(x, x) per kernel, ``alignment`` is centred.
    """
    combiner = model.combiner_
    if len(sizes) == 1:
        yield "there is only one kernel, so its weight has no meaning"
        return
    stated = traits_of(combiner, CombinerTraits).weights_are
    yield f"the weights of {combiner.name} {WEIGHTS_ARE.get(stated, LEARNED)}"
    if any(isinstance(decision, GatedDecision) for decision in members_of(model)[0].decisions_):
        yield (
            "each row has its own weights; the table shows their mean over the held-out rows, and"
            " row_spread is their deviation: a kernel with a small mean may still decide some of"
            " the rows"
        )
    if joins_decisions(model):
        yield (
            f"{combiner.name} fits a function per kernel and weighs their values: a weight"
            " is the kernel's share in the joint prediction, not its share in a sum of kernels"
        )
    elif sizes.min() <= 0 or sizes.max() > SIZES_DIFFER * sizes.min():
        yield (
            f"the kernels differ in size: the mean of k(x, x) ranges from {sizes.min():.3g} to"
            f" {sizes.max():.3g}, so their weights are not comparable; sized_weight is weight ×"
            " size, with sum 1 (a kernel inside cosine(…) has size 1)"
        )
    yield from _alike(alignment)


@attrs.frozen
class Unit:
    """The unit of differences in a score: points, or that of the score."""

    score: str
    scale: int = 100
    digits: int = 1
    word: str = " points"
    little: float = MARGIN
    """A loss up to this size counts as not lost."""

    @classmethod
    def of(cls, task: Task, score: str, mean: float, margin: float) -> Unit:
        """Return the unit of a score with this mean and equivalence margin."""
        name = task.score_named(score).words
        if task.in_points(score) or score == "r2":
            return cls(name)
        digits = max(0, 2 - int(np.floor(np.log10(abs(mean) or 1.0))))
        return cls(name, 1, digits, "", margin)

    @property
    def lost(self) -> str:
        """The unit of a loss, such as "points of accuracy"."""
        return f"points of {self.score}" if self.word else self.score

    def number(self, value: float) -> str:
        """Return a difference without its unit."""
        return numbers.number(self.scale * value, self.digits)

    def signed(self, value: float) -> str:
        """Return a difference with its sign, such as "−2.2"; zero has none."""
        return numbers.signed(self.scale * value, self.digits)

    def change(self, mean: float, low: float, high: float, up: str, down: str) -> str:
        """Return a difference and its interval, such as "1.5 points lost (-0.3 to 3.3)".

        The word tells the direction of the mean, which has no sign.
        """
        if round(self.scale * mean, self.digits) < 0:
            mean, low, high, up = -mean, -high, -low, down
        interval = "" if np.isnan(low) else f" ({self.number(low)} to {self.number(high)})"
        return f"{self.number(abs(mean))}{self.word} {up}{interval}"


def of_those_who_have(kernels: pd.DataFrame, little: float) -> pd.DataFrame:
    """Return the judged table of losses on the rows that have each kernel's source.

    It is empty if no row lacks one.
    """
    if "have" not in kernels:
        return kernels.iloc[:0]
    measured = kernels[kernels["have"].notna()]
    rows = measured["have_rows"].map("{:,} rows have it and another".format)
    losses = {f"left_out{end}": measured[f"have{end}"] for end in ("", "_low", "_high")}
    measured = measured.assign(kernel=measured["kernel"] + " (" + rows + ")", **losses)
    return judged(measured, measured["have_rows"], little)


def judged(kernels: pd.DataFrame, n_rows: int | pd.Series, little: float) -> pd.DataFrame:
    """Return the table of kernels with ``outcome`` and ``rows_needed``, from the intervals.

    Half the width of an interval is proportional to 1/√n. With ``rows_needed`` samples it is just
    narrow enough, around the same mean, to exclude zero or to end within ``little``. The mean of
    other samples is as likely to be farther from that end as nearer, so this number has an even
    chance to be enough, if the present mean is right. Kernels with ``unadjusted`` columns get no
    verdict.
    """
    mean, low, high = (kernels[f"left_out{part}"] for part in ("", "_low", "_high"))
    cases = mean.isna(), low > 0, high < 0, high <= little
    outcome = np.select(cases, ["", LOST, GAINED, NOT_LOST], OPEN)
    resolved = np.maximum(mean.abs(), little - mean)
    outcome = np.where(kernels["unadjusted"].map(bool) & (outcome != ""), WITHHELD, outcome)
    needed = (n_rows * ((high - low) / 2 / resolved) ** 2).where(outcome == OPEN)
    size = 10 ** np.floor(np.log10(needed) - 1)
    return kernels.assign(outcome=outcome, rows_needed=np.ceil(needed / size) * size)


def without_kernels(kernels: pd.DataFrame, unit: Unit) -> Iterator[str]:
    """Yield sentences on what is lost without a kernel, from the judged table of kernels."""
    for why, names in kernels[kernels["why_not"] != ""].groupby("why_not", sort=False)["kernel"]:
        whose = "" if len(names) == len(kernels) else f"{', '.join(names)}: "
        yield f"{whose}not possible, {why}"
    ordered = kernels.sort_values("left_out", ascending=False, kind="stable").to_dict("records")
    for row in sorted(ordered, key=lambda row: OUTCOMES.index(row["outcome"])):
        low, high = row["left_out_low"], row["left_out_high"]
        changed = unit.change(row["left_out"], low, high, "lost", "gained")
        if row["outcome"] == LOST:
            yield f"{row['kernel']}: lost: {changed.replace(' lost', '')}"
        elif row["outcome"] == NOT_LOST:
            yield f"{row['kernel']}: not lost by more than {unit.number(high)}{unit.word}"
        elif row["outcome"] == GAINED:
            yield f"{row['kernel']}: not lost, better without: {changed}"
        elif row["outcome"] == OPEN and np.isnan(low):
            yield f"{row['kernel']}: inconclusive from one fold: {_without(row, unit)}"
        elif row["outcome"] == OPEN:
            samples = f"about {row['rows_needed']:,.0f} samples would have an even chance"
            yield f"{row['kernel']}: inconclusive: {_without(row, unit)}; {samples}"
        elif row["outcome"] == WITHHELD:
            columns = still_told(named(row["unadjusted"]))
            yield f"{row['kernel']}: no verdict: {columns}"


def _without(row: Mapping[Any, Any], unit: Unit) -> str:
    """Return the change without a kernel, such as "−2.2 points without it (95 % CI −5.6 to +1.1)".

    A loss of the score is a change below zero.
    """
    mean, low, high = (-row[f"left_out{end}"] for end in ("", "_high", "_low"))
    interval = "" if np.isnan(low) else f" (95 % CI {unit.signed(low)} to {unit.signed(high)})"
    return f"{unit.signed(mean)}{unit.word} without it{interval}"


def estimand(scores: pd.DataFrame, n_rows: int) -> str:
    """Return the sentence on what the losses estimate."""
    rows = scores["training_rows"].mean()
    return (
        "losses estimate the mean loss of models trained on"
        f" {numbers.percentage(rows / n_rows, digits=0)} of {n_rows:,} such samples ({rows:,.0f})"
    )


def least_loss(counted: Resolution | None, unit: Unit) -> Iterator[str]:
    """Yield a sentence on the least loss that the number of samples or groups can exclude."""
    if counted is not None:
        size = f"{unit.number(counted.floor(0.0))}{unit.word}"
        yield f"with {counted}, losses of up to {size} cannot be excluded (rule of three)"


def guessed(scores: pd.DataFrame, unit: Unit) -> Iterator[str]:
    """Yield a sentence if the folds do not show that a model is better than guessing."""
    better = scores["score"] - scores["guess"]
    low, high = corrected_interval(better, scores["training_rows"], scores["rows"])
    if low > 0 or (np.isnan(low) and better.mean() > 0):
        return
    yield (
        f"{beats_guessing('the model', 'is not')}:"
        f" {unit.change(better.mean(), low, high, 'higher', 'lower')} in {unit.score}, so losses"
        " mean little"
    )


def _alike(alignment: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on nearly identical kernels, and one on similar ones."""
    labels, values = [str(label) for label in alignment.index], alignment.to_numpy(dtype=float)
    places = zip(*np.triu_indices(len(labels), 1), strict=True)
    pairs = sorted(((float(values[i, j]), labels[i], labels[j]) for i, j in places), reverse=True)
    for low, high, meaning in ((NEAR_DUPLICATE, np.inf, SAME), (ALIKE, NEAR_DUPLICATE, SIMILAR)):
        close = [f"{a} and {b} ({value:.3f})" for value, a, b in pairs if low < value <= high]
        if close:
            more = len(close) - PAIRS_SHOWN
            rest = f" and {counted(more, 'pair')} more" if more > 0 else ""
            yield f"{meaning}: {', '.join(close[:PAIRS_SHOWN])}{rest}"
