"""What the weights of a model mean, and what they do not say, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from mklkit.combiners.templates.coupling import CouplingCombiner
from mklkit.combiners.templates.fusion import FusionCombiner
from mklkit.errors import counted
from mklkit.estimators.anatomy import KernelModel
from mklkit.evaluation.alignment import NEAR_DUPLICATE, near_duplicates
from mklkit.explanation.refitting import members_of
from mklkit.protocols import Array, CombinerFacts, RowWeights, facts_of

__all__ = ["SIZES_DIFFER", "beside_guessing", "joins_decisions", "meaning_of", "without_kernels"]

SIZES_DIFFER = 1.1
"""The ratio of the largest mean k(x, x) to the smallest above which weights are not comparable."""
ALIKE = 0.9
"""Centred alignment from which kernels are called alike."""
PAIRS_SHOWN = 5


def joins_decisions(classifier: KernelModel) -> bool:
    """Return whether the weights are those of decision values, instead of kernels in a sum."""
    return isinstance(classifier.combiner_, CouplingCombiner | FusionCombiner)


def meaning_of(classifier: Any, sizes: Array, alignment: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on what the weights of a fitted classifier do not say.

    Parameters
    ----------
    classifier : KernelModel
        Fitted.
    sizes : ndarray of shape (M,)
        The mean of k(x, x) over rows, per kernel.
    alignment : DataFrame of shape (M, M)
        Centred.
    """
    combiner = classifier.combiner_
    if len(sizes) == 1:
        yield "there is one kernel, whose weight says nothing"
        return
    yield from _origin(combiner)
    if any(isinstance(one, RowWeights) for one in members_of(classifier)[0].decisions_):
        yield (
            "each row has its own weights; shown is their mean over the held-out rows, and"
            " row_spread is their deviation over them: a kernel with a small mean may decide some"
            " of the rows"
        )
    if joins_decisions(classifier):
        yield (
            f"{combiner.name} fits a decision function per kernel and weighs their values: a weight"
            " is the kernel's share in the vote, not its share in a sum of kernels"
        )
    elif sizes.min() <= 0 or sizes.max() > SIZES_DIFFER * sizes.min():
        yield (
            f"the kernels differ in size: the mean of k(x, x) is from {sizes.min():.3g} to"
            f" {sizes.max():.3g}, so their weights are not comparable; sized_weight is weight ×"
            " size, with sum 1 (kernels within cosine(…) are all of size 1)"
        )
    yield from _alike(alignment)


def without_kernels(kernels: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on what is lost without a kernel, from the table of kernels."""
    for why, those in kernels[kernels["why_not"] != ""].groupby("why_not", sort=False)["kernel"]:
        whose = "" if len(those) == len(kernels) else f"{', '.join(those)}: "
        yield f"{whose}not possible, {why}"
    known = kernels[kernels["why_not"] == ""].sort_values("left_out", ascending=False)
    if known.empty:
        return
    needed = known[known["left_out_low"] > 0]
    if needed.empty:
        yield (
            "no kernel is needed on its own, beyond its 95 % interval: the others make up for it"
        )
        return
    listed = ", ".join(
        f"{name} ({100 * lost:.1f} points of accuracy)"
        for name, lost in zip(needed["kernel"], needed["left_out"], strict=True)
    )
    yield f"what the others do not make up for: {listed}"


def beside_guessing(scores: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence if the model is no better than guessing, from the table of scores."""
    accuracy, baseline = scores["accuracy"].mean(), scores["baseline"].mean()
    if accuracy <= baseline:
        yield (
            f"the accuracy on these folds, {100 * accuracy:.1f} %, is no better than that of the"
            f" most frequent class, {100 * baseline:.1f} %: there is nothing to explain"
        )


def _origin(combiner: Any) -> Iterator[str]:
    stated = facts_of(combiner, CombinerFacts).weights_are
    if stated == "fixed":
        yield (
            f"the weights of {combiner.name} are fixed before any row is seen: they are no"
            " importance that was learned; read what is lost when a kernel is left out"
        )
    elif stated == "choice":
        yield (
            f"{combiner.name} chooses one kernel, which has all the weight: a weight of 0 does not"
            " mean that a kernel is useless, only that another was better in that fit; the mean is"
            " the share of fits in which it was chosen"
        )
    else:
        yield (
            f"the weights of {combiner.name} are learned from the rows; a large one says that a"
            " kernel is used, not that it is needed, as others may stand in for it"
        )


def _alike(alignment: pd.DataFrame) -> Iterator[str]:
    labels, values = [str(label) for label in alignment.index], alignment.to_numpy(dtype=float)
    same = near_duplicates(alignment)
    if same:
        yield (
            "nearly the same kernels, which share their weight, so that one of them may be enough:"
            f" {_listed(same)}"
        )
    places = zip(*np.triu_indices(len(labels), 1), strict=True)
    pairs = [(labels[i], labels[j], float(values[i, j])) for i, j in places]
    alike = [pair for pair in pairs if ALIKE <= pair[2] <= NEAR_DUPLICATE]
    if alike:
        yield (
            "kernels that are alike, so that part of a weight could as well be the other's:"
            f" {_listed(alike)}"
        )


def _listed(pairs: list[tuple[str, str, float]]) -> str:
    """Return the pairs with their alignment, the closest first and only a few of many."""
    closest = sorted(pairs, key=lambda pair: -pair[2])[:PAIRS_SHOWN]
    shown = ", ".join(f"{first} and {second} ({value:.3f})" for first, second, value in closest)
    more = len(pairs) - len(closest)
    return f"{shown} and {counted(more, 'pair')} more" if more else shown
