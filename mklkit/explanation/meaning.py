"""What the weights of a model mean, and what they do not say, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from mklkit.combiners.templates.coupling import CouplingCombiner
from mklkit.combiners.templates.fusion import LearnedFusion
from mklkit.errors import counted
from mklkit.estimators.introspection import KernelModel
from mklkit.evaluation.alignment import NEAR_DUPLICATE
from mklkit.explanation.refitting import members_of
from mklkit.protocols import Array, CombinerFacts, GatedDecision, facts_of

SIZES_DIFFER = 1.1
"""The ratio of the largest mean k(x, x) to the smallest above which weights are not comparable."""
ALIKE = 0.9
"""Centred alignment from which kernels are called alike."""
LARGE = 0.01
"""The mean loss that is named although its interval contains zero."""
PAIRS_SHOWN = 5
LOSS, OPEN, GAIN = "show a loss", "can't tell whether there is a loss", "show a gain"
WEIGHTS_ARE = {
    "fixed": "are fixed before any row is seen: they are no importance that was learned; read what"
    " is lost when a kernel is left out",
    "choice": "are those of a rule that chooses one kernel: a weight of 0 does not mean that a"
    " kernel is useless, only that another was better in that fit; the mean is the share of fits in"
    " which it was chosen",
}
LEARNED = (
    "are learned from the rows; a large one says that a kernel is used, not that it is needed, as"
    " others may stand in for it"
)
SAME = "nearly the same kernels, which may share a weight, so that one may be enough"
SIMILAR = "kernels that are alike, so that part of a weight could as well be the other's"


def joins_decisions(model: KernelModel) -> bool:
    """Return whether the weights are those of decision values, instead of kernels in a sum."""
    return isinstance(model.combiner_, CouplingCombiner | LearnedFusion)


def meaning_of(model: Any, sizes: Array, alignment: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on what the weights of a fitted model do not say.

    ``sizes`` are the means of k(x, x) per kernel, ``alignment`` is centred.
    """
    combiner = model.combiner_
    if len(sizes) == 1:
        yield "there is one kernel, whose weight says nothing"
        return
    stated = facts_of(combiner, CombinerFacts).weights_are
    yield f"the weights of {combiner.name} {WEIGHTS_ARE.get(stated, LEARNED)}"
    if any(isinstance(decision, GatedDecision) for decision in members_of(model)[0].decisions_):
        yield (
            "each row has its own weights; shown is their mean over the held-out rows, and"
            " row_spread is their deviation over them: a kernel with a small mean may decide some"
            " of the rows"
        )
    if joins_decisions(model):
        yield (
            f"{combiner.name} fits a function per kernel and weighs their values: a weight"
            " is the kernel's share in the joint prediction, not its share in a sum of kernels"
        )
    elif sizes.min() <= 0 or sizes.max() > SIZES_DIFFER * sizes.min():
        yield (
            f"the kernels differ in size: the mean of k(x, x) is from {sizes.min():.3g} to"
            f" {sizes.max():.3g}, so their weights are not comparable; sized_weight is weight ×"
            " size, with sum 1 (kernels within cosine(…) are all of size 1)"
        )
    yield from _alike(alignment)


def without_kernels(kernels: pd.DataFrame, n_folds: int) -> Iterator[str]:
    """Yield sentences on what is lost without a kernel, from the table of kernels.

    A loss counts as shown if its interval excludes zero. One of a point or more that does not is
    left open; that a kernel is not needed can't be shown by folds, and is never said.
    """
    for why, names in kernels[kernels["why_not"] != ""].groupby("why_not", sort=False)["kernel"]:
        whose = "" if len(names) == len(kernels) else f"{', '.join(names)}: "
        yield f"{whose}not possible, {why}"
    known = kernels[kernels["why_not"] == ""].sort_values("left_out", ascending=False)
    if known["left_out_low"].isna().any():
        yield f"one fold gives no interval, so it can't tell what is needed: {_lost(known)}"
        return
    cases = known["left_out_low"] > 0, known["left_out_high"] < 0, known["left_out"] >= LARGE
    outcomes = np.select(cases, [LOSS, GAIN, OPEN], "")
    for outcome in (LOSS, OPEN, GAIN):
        if (outcomes == outcome).any():
            yield f"these {n_folds} folds {outcome} without: {_lost(known[outcomes == outcome])}"
    rest = known[outcomes == ""]
    if len(rest):
        most = 100 * rest["left_out_high"].max()
        yield (
            f"no loss of {100 * LARGE:.0f} point or more seen without: {', '.join(rest['kernel'])}"
            f" (the 95 % intervals reach up to {most:.1f} points)"
        )


def _lost(rows: pd.DataFrame) -> str:
    """Return the kernels with the points lost without them and, where known, the interval."""
    points = 100 * rows[["left_out", "left_out_low", "left_out_high"]]
    return "; ".join(
        f"{name}, {mean:.1f} points lost"
        + ("" if np.isnan(low) else f" (95 % interval {low:.1f} to {high:.1f})")
        for name, (mean, low, high) in zip(rows["kernel"], points.to_numpy(), strict=True)
    )


def _alike(alignment: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on nearly the same kernels, and one on those that are alike."""
    labels, values = [str(label) for label in alignment.index], alignment.to_numpy(dtype=float)
    places = zip(*np.triu_indices(len(labels), 1), strict=True)
    pairs = sorted(((float(values[i, j]), labels[i], labels[j]) for i, j in places), reverse=True)
    for low, high, meaning in ((NEAR_DUPLICATE, np.inf, SAME), (ALIKE, NEAR_DUPLICATE, SIMILAR)):
        close = [f"{a} and {b} ({value:.3f})" for value, a, b in pairs if low < value <= high]
        if close:
            more = len(close) - PAIRS_SHOWN
            rest = f" and {counted(more, 'pair')} more" if more > 0 else ""
            yield f"{meaning}: {', '.join(close[:PAIRS_SHOWN])}{rest}"
