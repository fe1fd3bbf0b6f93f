"""Sentences on what the weights of a model mean, and what they do not tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mklkit.combiners.templates.coupling import CouplingCombiner
from mklkit.combiners.templates.fusion import LearnedFusion
from mklkit.datasets.covariates import still_told
from mklkit.display import numbers
from mklkit.errors import counted, named
from mklkit.estimators.introspection import KernelModel
from mklkit.evaluation.alignment import NEAR_DUPLICATE
from mklkit.evaluation.intervals import Interval, samples_needed
from mklkit.evaluation.paired_tests import corrected_interval
from mklkit.evaluation.sentences import (
    INCONCLUSIVE,
    Loss,
    Unit,
    beats_guessing,
    better_without,
    dispensable_together,
    inconclusive_without,
    joined,
    lost_together,
    lost_without,
    needed_together,
    not_lost_without,
    redundant,
)
from mklkit.explanation.ablations import ALIKE, Group
from mklkit.explanation.refitting import members_of
from mklkit.protocols import Array, CombinerTraits, GatedDecision, traits_of

SIZES_DIFFER = 1.1
"""Weights are not comparable if the largest mean k(x, x) exceeds the smallest by this factor."""
PAIRS_SHOWN = 5
LOST = "lost"
OPEN = INCONCLUSIVE
NOT_LOST = "not lost"
GAINED = "gained"
WITHHELD = "no verdict"
"""The outcome for a kernel from whose columns removed covariates can still be told, and for all
where intervals are known to be wrong too often."""
INFORMATIVE, NOT_SHOWN = "informative", "not shown"
OUTCOMES = (LOST, OPEN, NOT_LOST, GAINED, WITHHELD, "")
SAME_FOR_SOURCES = "are the same for all sources that a fit takes"
ZERO_IF_LEFT_OUT = ", and 0 for one that it leaves out because others predict better without it"
NOT_IMPORTANCE = ": they are not a learned importance; see what is lost when a kernel is dropped"
WEIGHTS_ARE = {
    "fixed": f"are fixed before any sample is seen{NOT_IMPORTANCE}",
    "choice": "come from a rule that chooses one kernel: a weight of 0 does not mean that a"
    " kernel is useless, only that another was better in that fit; the mean is the share of fits"
    " that chose it",
}
LEARNED = (
    "are learned from the samples; a large one means that a kernel is used, not that it is needed:"
    " others may replace it"
)
SAME = "nearly the same kernels, which may share a weight, so that one may be enough"
SIMILAR = "similar kernels, so that part of a weight could as well be the other's"


def joins_decisions(model: KernelModel) -> bool:
    """Return whether the weights apply to decision values instead of kernels in a sum."""
    return isinstance(model.combiner_, CouplingCombiner | LearnedFusion)


def meaning_of(
    model: Any, sizes: Array, alignment: pd.DataFrame, leaves_out: bool
) -> Iterator[str]:
    """Yield sentences on the limits of a fitted model's weights.

    ``sizes`` are the means of k(x, x) per kernel, ``alignment`` is centred; ``leaves_out`` says
    whether some fit dropped a source whose kernel it chose.
    """
    combiner = model.combiner_
    sources = members_of(model)[0].fitted_.plan.sources
    if len(sizes) == 1 and len(sources) < 2:
        yield "there is only one kernel, so its weight has no meaning"
        return
    stated = traits_of(combiner, CombinerTraits).weights_are
    meaning = WEIGHTS_ARE.get(stated, LEARNED)
    if stated == "fixed" and len(sources) > 1:
        zero = ZERO_IF_LEFT_OUT if leaves_out else ""
        meaning = f"{SAME_FOR_SOURCES}{zero}{NOT_IMPORTANCE}"
    yield f"the weights of {combiner.name} {meaning}"
    if any(isinstance(decision, GatedDecision) for decision in members_of(model)[0].decisions_):
        yield (
            "each sample has its own weights; the table shows their mean over held-out samples, and"
            " row_spread is their standard deviation: a kernel with a small mean may still decide"
            " some of the samples"
        )
    if joins_decisions(model):
        yield (
            f"{combiner.name} fits a function per kernel and weighs their values: a weight"
            " is the kernel's share in the joint prediction, not its share in a sum of kernels"
        )
    elif sizes.min() <= 0 or sizes.max() > SIZES_DIFFER * sizes.min():
        smallest, largest = (numbers.significant(end, 3) for end in (sizes.min(), sizes.max()))
        yield (
            f"the kernels differ in size: the mean of k(x, x) ranges from {smallest} to"
            f" {largest}, so their weights are not comparable; sized_weight is weight ×"
            " size, with sum 1 (a kernel inside cosine(…) has size 1)"
        )
    yield from _alike(alignment)


def of_those_who_have(
    kernels: pd.DataFrame, little: float, why_none: str = "", single: bool = False
) -> pd.DataFrame:
    """Return the judged table of losses on the rows that have each kernel's source.

    It is empty if no sample lacks one; ``why_none`` is as for :func:`judged`. The samples of a
    ``single`` split are its test samples.
    """
    if "have" not in kernels:
        return kernels.iloc[:0]
    measured = kernels[kernels["have"].notna()]
    kind = "test samples" if single else "samples"
    rows = measured["have_rows"].map(f"{{:,}} {kind} have it and another".format)
    ends = ("", "_low", "_high", "_level", "_interval")
    losses = {f"left_out{end}": measured[f"have{end}"] for end in ends}
    measured = measured.assign(kernel=measured["kernel"] + " (" + rows + ")", **losses)
    return judged(measured, measured["have_rows"], little, why_none)


NEVER_CHOSEN = "no fold chose it, so the fits without it are the same"


def judged(
    kernels: pd.DataFrame, n_rows: int | pd.Series, little: float, why_none: str = ""
) -> pd.DataFrame:
    """Return the table of kernels with ``outcome`` and ``rows_needed``, from the intervals.

    With ``rows_needed`` samples the interval is just narrow enough to exclude zero or to end within
    ``little``, see :func:`mklkit.evaluation.intervals.samples_needed`; without a column
    ``left_out_interval`` it shrinks with 1/√n. ``narrowest_with`` names the samples whose number
    alone determines the interval. Kernels with ``unadjusted`` columns, or that no fold chose, get
    no verdict, and no kernel gets one if ``why_none`` is not empty; ``no_verdict`` says why.
    """
    mean, low, high = (kernels[f"left_out{part}"] for part in ("", "_low", "_high"))
    cases = mean.isna(), low > 0, high < 0, high <= little
    outcome = np.select(cases, ["", LOST, GAINED, NOT_LOST], OPEN)
    traced = kernels["unadjusted"].map(lambda columns: still_told(named(columns)) * bool(columns))
    why = traced.where(traced != "", why_none)
    if "chosen" in kernels:
        why = why.where((why != "") | (kernels["chosen"] > 0), NEVER_CHOSEN)
    outcome = np.where((why != "") & (outcome != ""), WITHHELD, outcome)
    if "left_out_interval" in kernels:
        intervals: list[Interval] = kernels["left_out_interval"].tolist()
    else:
        intervals = [Interval(*ends) for ends in zip(mean, low, high, strict=True)]
    present = np.broadcast_to(n_rows, len(kernels))
    needed = [
        samples_needed(n_samples, interval, little) if result == OPEN else np.nan
        for n_samples, interval, result in zip(present, intervals, outcome, strict=True)
    ]
    narrowest = [interval.narrowest_with for interval in intervals]
    return kernels.assign(
        outcome=outcome, rows_needed=needed, no_verdict=why, narrowest_with=narrowest
    )


def informed(kernels: pd.DataFrame) -> pd.DataFrame:
    """Return the table of kernels with ``alone_outcome``, from the intervals of the gains alone."""
    cases = kernels["alone"].isna(), kernels["no_verdict"] != "", kernels["alone_low"] > 0
    outcome = np.select(cases, ["", WITHHELD, INFORMATIVE], NOT_SHOWN)
    return kernels.assign(alone_outcome=outcome)


def replaceable(kernels: pd.DataFrame) -> Group:
    """Return the kernels that are informative alone and not shown to be lost, from their verdicts.

    They may stand in for each other, also where their alignment does not show it.
    """
    not_lost = kernels["outcome"].isin([OPEN, NOT_LOST, GAINED])
    return tuple(kernels.loc[not_lost & (kernels["alone_outcome"] == INFORMATIVE), "kernel"])


def alone(kernels: pd.DataFrame, of: Unit) -> Iterator[str]:
    """Yield sentences on which kernels hold information by themselves."""
    yield from _impossible(kernels, "why_not_alone")
    ordered = kernels.sort_values("alone", ascending=False, kind="stable")
    meanings = {INFORMATIVE: "informative", NOT_SHOWN: "not shown to be informative"}
    for outcome, meaning in meanings.items():
        rows = ordered[ordered["alone_outcome"] == outcome].to_dict("records")
        gains = [f"{row['kernel']} {_gain(row).change(of)}" for row in rows]
        if gains:
            yield f"{meaning} ({of.score} against guessing): {'; '.join(gains)}"


def _gain(row: Mapping[Any, Any]) -> Loss:
    """Return what a kernel alone gains over guessing, as what is lost by guessing."""
    mean, low, high = (-row[f"alone{end}"] for end in ("", "_high", "_low"))
    return Loss(mean, low, high, row["alone_level"])


def together(groups: pd.DataFrame, kernels: pd.DataFrame, unit: Unit) -> Iterator[str]:
    """Yield sentences on what is lost without groups of kernels, from both judged tables.

    Only kernels with information of their own are called redundant.
    """
    single = dict(zip(kernels["kernel"], kernels["outcome"], strict=True))
    informative = {*kernels.loc[kernels["alone_outcome"] == INFORMATIVE, "kernel"]}
    for row in groups.to_dict("records"):
        if row["why_not"]:
            yield f"{joined(row['kernels'])}: not possible, {row['why_not']}"
        elif row["outcome"]:
            outcomes = [single.get(name, "") for name in row["kernels"]]
            yield _verdict_together(row, outcomes, {*row["kernels"]} <= informative, unit)


def _loss(row: Mapping[Any, Any]) -> Loss:
    """Return the loss of a row of a judged table."""
    mean, low, high, level = (row[f"left_out{end}"] for end in ("", "_low", "_high", "_level"))
    return Loss(mean, low, high, level, row["narrowest_with"])


def _verdict_together(
    row: Mapping[Any, Any], outcomes: Sequence[str], informative: bool, unit: Unit
) -> str:
    """Return the sentence on a group, with the outcomes of its kernels by themselves.

    A kernel is dispensable only if its own interval ends within the margin, and kernels are
    redundant only if each is ``informative`` alone.
    """
    names, loss = row["kernels"], _loss(row)
    if row["outcome"] == LOST:
        without = loss.change(unit)
        needed = [name for name, outcome in zip(names, outcomes, strict=True) if outcome == LOST]
        if needed:
            return lost_together(names, needed, without)
        dispensable = {*outcomes} <= {NOT_LOST, GAINED}
        replaceable = dispensable and informative
        return (redundant if replaceable else needed_together)(names, without)
    if row["outcome"] == NOT_LOST:
        return dispensable_together(names, loss, unit)
    if row["outcome"] == GAINED:
        return f"{joined(names)}: {better_without(loss, unit)}"
    if row["outcome"] == WITHHELD:
        return f"{joined(names)}: {WITHHELD}: {row['no_verdict']}"
    return f"{joined(names)}: {inconclusive_without(loss, row['rows_needed'], unit, 'them')}"


def _impossible(kernels: pd.DataFrame, reason: str) -> Iterator[str]:
    """Yield why fits without some kernels, or with one alone, are not possible."""
    for why, names in kernels[kernels[reason] != ""].groupby(reason, sort=False)["kernel"]:
        whose = "" if len(names) == len(kernels) else f"{', '.join(names)}: "
        yield f"{whose}not possible, {why}"


def adjusted(kernels: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on the number of sources for which the intervals are adjusted."""
    tested = kernels.loc[kernels["left_out_low"].notna(), "left_out_level"]
    if len(tested) < 2:
        return
    ends = [numbers.significant(100 * level, 3) for level in (tested.max(), tested.min())]
    yield (
        f"intervals are adjusted for {len(tested)} sources: each has the level at which Holm's"
        f" procedure tests it, {' to '.join(dict.fromkeys(ends))} %; those of groups together and"
        " of sources alone are adjusted for their own number"
    )


def without_kernels(
    kernels: pd.DataFrame, unit: Unit, groups: Sequence[Sequence[str]] = ()
) -> Iterator[str]:
    """Yield sentences on what is lost without a kernel, from the judged table of kernels.

    Of a kernel that is informative and not lost, others may stand in: those of its ``groups``.
    """
    yield from _impossible(kernels, "why_not")
    ordered = kernels.sort_values("left_out", ascending=False, kind="stable").to_dict("records")
    for row in sorted(ordered, key=lambda row: OUTCOMES.index(row["outcome"])):
        if row["outcome"]:
            yield f"{row['kernel']}: {_verdict(row, unit, groups)}"


def _verdict(row: Mapping[Any, Any], unit: Unit, groups: Sequence[Sequence[str]]) -> str:
    """Return the sentence on a kernel of the judged table."""
    loss = _loss(row)
    if row["outcome"] == LOST:
        return lost_without(loss, unit)
    if row["outcome"] == NOT_LOST:
        return not_lost_without(loss, unit, _substitutes(row, groups))
    if row["outcome"] == GAINED:
        return better_without(loss, unit, _substitutes(row, groups))
    if row["outcome"] == WITHHELD:
        return f"{WITHHELD}: {row['no_verdict']}"
    return inconclusive_without(loss, row["rows_needed"], unit)


def _substitutes(row: Mapping[Any, Any], groups: Sequence[Sequence[str]]) -> str:
    """Return which kernels may stand in for one that is informative, empty if it is not."""
    if row.get("alone_outcome") != INFORMATIVE:
        return ""
    others = [name for group in groups if row["kernel"] in group for name in group]
    others = [name for name in dict.fromkeys(others) if name != row["kernel"]]
    return joined(others).replace(" and ", " or ") if others else "other sources"


def guessed(scores: pd.DataFrame, unit: Unit) -> Iterator[str]:
    """Yield a sentence if the folds do not show that a model is better than guessing."""
    better = scores["score"] - scores["guess"]
    low, high = corrected_interval(better, scores["training_rows"], scores["rows"])
    if low > 0 or (np.isnan(low) and better.mean() > 0):
        return
    difference = Loss(-better.mean(), -high, -low).change(unit)
    yield (
        f"{beats_guessing('the model', 'is not')}: {difference} against it, so what changes without"
        " a source means little"
    )


def _alike(alignment: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on nearly identical kernels, and one on similar ones."""
    labels = [str(label) for label in alignment.index]
    values = alignment.to_numpy(dtype=float)
    places = zip(*np.triu_indices(len(labels), 1), strict=True)
    pairs = sorted(((float(values[i, j]), labels[i], labels[j]) for i, j in places), reverse=True)
    for low, high, meaning in ((NEAR_DUPLICATE, np.inf, SAME), (ALIKE, NEAR_DUPLICATE, SIMILAR)):
        close = [
            f"{a} and {b} ({numbers.number(value, 3)})"
            for value, a, b in pairs
            if low < value <= high
        ]
        if close:
            more = len(close) - PAIRS_SHOWN
            rest = f" and {counted(more, 'pair')} more" if more > 0 else ""
            yield f"{meaning}: {', '.join(close[:PAIRS_SHOWN])}{rest}"
