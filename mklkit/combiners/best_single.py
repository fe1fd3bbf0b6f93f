"""All weight on the kernel that scores best alone."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.errors import WeightsWarning, counted
from mklkit.numerics.gram_tiles import take_square
from mklkit.numerics.threads import each
from mklkit.protocols import Array, CombinerFacts, KernelView, Learner, Target, Views
from mklkit.protocols.component import as_int
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import KernelRows, SpareScratch
from mklkit.views.sides import GramSide
from mklkit.views.tiles import weighted_gram

COMPARED_ROWS = 500
"""Rows left out in all, of many: more folds are fits that hardly ever change the choice."""


@register
@attrs.frozen
class BestSingle(LearnedWeighting):
    """Choose the one kernel that is best in cross-validation; the first of equals.

    By accuracy for two classes, by squared error for numbers; rows with weights count by them.

    Parameters
    ----------
    cv : int, default=5
        Number of folds, at least 2; fewer are used with a warning where a class has fewer rows. Of
        many rows only as many folds are left out in turn as hold 500 rows: one of 2,500 or more.

    Notes
    -----
    Costs at most ``cv`` fits per kernel, as a kernel is left out once it has lost more than the
    best has in all folds. One Gram matrix and its parts are in memory at a time; features are made
    block by block where the learner takes them so. Feature maps are fitted on all training rows,
    and so is what a learner chooses by itself, for each kernel: one C for all would favour some.
    """

    name: ClassVar[str] = "best-single"
    facts: ClassVar[CombinerFacts] = CombinerFacts(
        tasks=("two classes", "numbers"), weights_are="choice", row_weights="throughout"
    )

    cv: int = attrs.field(default=5, converter=as_int, validator=[instance_of(int), ge(2)])

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return 1 for the best kernel and 0 for all others."""
        return self.prepare(views, target, learner, random_state)[0]

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return 1 for the best kernel and 0 for all others, and the learner settled on it."""
        if len(views) == 1:
            return np.ones(1), learner
        splits = self._splits(target, views.labels[0], random_state)
        best, chosen, least = 0, learner, np.inf
        spare, gram = SpareScratch(), None
        for place, view in enumerate(views if splits else []):
            if not view.explicit:
                gram = weighted_gram(KernelRows.of_views([view]), np.ones(1), out=gram)
            settled = learner.settled(view if gram is None else GramSide(gram), target)
            loss = _loss(view, gram, target, settled, splits, least, spare)
            if loss < least:
                best, chosen, least = place, settled, loss
        return np.eye(len(views))[best], chosen

    def _splits(
        self, target: Target, first: str, random_state: np.random.RandomState
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the folds, stratified for classes; none where there can't be two."""
        splits = target.folds(self.cv, random_state)
        if len(splits) < self.cv:
            least, unit = len(splits) or 1, "row" if target.groups is None else "group"
            taken = f"uses {least} folds" if splits else f"takes the first kernel, {first}"
            whose = "there are" if target.task == "numbers" else "the smaller class has"
            warnings.warn(
                f"best-single {taken}, as {whose} {counted(least, unit)}.",
                WeightsWarning,
                stacklevel=4,
            )
        return splits[: -(-COMPARED_ROWS * len(splits) // len(target))]


def _loss(
    view: KernelView,
    gram: Array | None,
    target: Target,
    learner: Learner,
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    least: float,
    spare: SpareScratch,
) -> float:
    """Return the rows that the view's learner gets wrong, or the squared error.

    Folds end where those so far are no better than the least loss.
    """
    counts = target.counts

    def loss(split: tuple[NDArray[np.intp], NDArray[np.intp]]) -> float:
        training, held_out = split
        if gram is None:
            fitted = learner.fit(view.restricted(training), target.take(training))
            values = view.restricted(held_out).map_features(fitted.decide)
        else:
            with spare.lent() as scratch:
                scratch.reset()
                known = scratch.take((len(training), len(training)), gram.dtype, base=True)
                take_square(gram, training, known)
                fitted = learner.fit(GramSide(known), target.take(training))
            values = fitted.decide(gram[np.ix_(held_out, training)])
        truth = target.values[held_out]
        if target.task == "numbers":
            return float(counts[held_out] @ np.square(values - truth))
        return float(counts[held_out] @ ((values > 0) != (truth > 0)))

    total = 0.0
    for part in each(loss, splits):
        total += part
        if total >= least:
            break
    return total
