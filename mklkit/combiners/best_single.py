"""All weight on the kernel that scores best alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.errors import WeightsWarning, counted
from mklkit.numerics.gram_tiles import take_square
from mklkit.numerics.threads import each, n_threads
from mklkit.protocols import Array, CombinerFacts, KernelView, Learner, Target, Views
from mklkit.protocols.component import as_int
from mklkit.protocols.folds import Rows
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import KernelRows, SpareScratch
from mklkit.views.sides import GramSide
from mklkit.views.tiles import weighted_gram

COMPARED_ROWS = 500
"""Rows left out in all, of many: more folds are fits that hardly ever change the choice."""
IN_MEMORY = 2**29
"""What the matrices of kernels that are compared at the same time may take, in bytes."""


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
    best has in all folds. One Gram matrix and a part of it are in memory at a time; several kernels
    are compared at a time where theirs take at most 512 MiB. Features are made block by block where
    the learner takes them so. Feature maps are fitted on all training rows, and so is what a
    learner chooses by itself, for each kernel: one C for all would favour some.
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
        if not splits:
            return np.eye(len(views))[0], learner
        comparison = _Comparison(target, learner, splits)
        matrices = 2 * n_threads() * np.dtype(np.float64).itemsize * len(target) ** 2
        together = not any(view.explicit for view in views) and matrices <= IN_MEMORY
        losses = list((each if together else map)(comparison.loss, views))
        best = min(range(len(views)), key=lambda place: losses[place][0])
        return np.eye(len(views))[best], losses[best][1]

    def _splits(
        self, target: Target, first: str, random_state: np.random.RandomState
    ) -> list[tuple[Rows, Rows]]:
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


@attrs.define
class _Comparison:
    """The losses of kernels on the same folds; several threads may ask for one each.

    ``least`` is the least loss so far, beyond which the folds of another kernel end.
    """

    target: Target
    learner: Learner
    splits: list[tuple[Rows, Rows]]
    least: float = np.inf
    grams: SpareScratch = attrs.field(factory=SpareScratch)
    parts: SpareScratch = attrs.field(factory=SpareScratch)

    def loss(self, view: KernelView) -> tuple[float, Learner]:
        """Return the rows that the view's learner gets wrong, or the squared error, and it."""
        if view.explicit:
            settled = self.learner.settled(view, self.target)
            return self._total(partial(self._on_features, view, settled)), settled
        with self.grams.lent() as scratch:
            scratch.reset()
            kernel_rows = KernelRows.of_views([view])
            n_rows = kernel_rows.n_rows
            out = scratch.take((n_rows, n_rows), kernel_rows.arrays[0].dtype)
            gram = weighted_gram(kernel_rows, np.ones(1), out=out)
            settled = self.learner.settled(GramSide(gram), self.target)
            return self._total(partial(self._on_gram, gram, settled)), settled

    def _total(self, values: Callable[[Rows, Rows], Array]) -> float:
        """Return the loss over all folds, or over as many as exceed the least of another kernel."""
        truth, counts = self.target.values, self.target.counts

        def loss(split: tuple[Rows, Rows]) -> float:
            held_out = split[1]
            decided = values(*split)
            if self.target.task == "numbers":
                return float(counts[held_out] @ np.square(decided - truth[held_out]))
            return float(counts[held_out] @ ((decided > 0) != (truth[held_out] > 0)))

        total = 0.0
        for part in each(loss, self.splits):
            total += part
            # Not where it equals the least: the first of equals wins, whichever is measured first.
            if total > self.least:
                return total
        self.least = min(self.least, total)
        return total

    def _on_features(
        self, view: KernelView, learner: Learner, training: Rows, held_out: Rows
    ) -> Array:
        fitted = learner.fit(view.restricted(training), self.target.take(training))
        return view.restricted(held_out).map_features(fitted.decide)

    def _on_gram(self, gram: Array, learner: Learner, training: Rows, held_out: Rows) -> Array:
        with self.parts.lent() as scratch:
            scratch.reset()
            part = scratch.take((len(training), len(training)), gram.dtype)
            take_square(gram, training, part)
            fitted = learner.fit(GramSide(part), self.target.take(training))
        return fitted.decide(gram[np.ix_(held_out, training)])
