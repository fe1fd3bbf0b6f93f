"""All weight on the kernel that scores best on its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.numerics.threads import each, n_threads
from mklkit.protocols import Array, CombinerTraits, KernelView, Learner, Target, TrainingView, Views
from mklkit.protocols.component import as_int
from mklkit.protocols.splits.split import Split
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import KernelRows, SpareScratch
from mklkit.views.out_of_fold import folds_or_warning, held_out_values
from mklkit.views.sides import GramSide
from mklkit.views.tiles import weighted_gram

COMPARED_ROWS = 500
"""Samples to hold out in all: further folds take fits that hardly ever change the choice."""
IN_MEMORY = 2**29
"""The most memory, in bytes, for the matrices of kernels that are compared at the same time."""


@register
@attrs.frozen
class BestSingle(LearnedWeighting):
    """Choose the one kernel that is best in cross-validation; ties go to the first.

    The criterion is the accuracy for two classes and the squared error for numeric targets; sample
    weights count in it.

    Parameters
    ----------
    cv : int, default=5
        The number of folds, at least 2; fewer, with a warning, if a class has fewer samples. With
        many samples only as many folds are held out as contain 500 samples: one fold from 2,500
        samples on.

    See Also
    --------
    Uniform : The baseline for learned weights.

    Notes
    -----
    Cost: at most ``cv`` fits of the learner per kernel, one Gram matrix at a time.

    At most ``cv`` fits per kernel, because a kernel is dropped once its loss exceeds that of the
    best over all folds. One Gram matrix and a part of it are in memory at a time; several kernels
    are compared at a time if their matrices take at most 512 MiB. Features are computed block by
    block if the learner reads them so. Feature maps, and parameters that a learner chooses itself,
    are fitted per kernel on all training samples: one C for all would favour some.

    Source: M. Gönen, E. Alpaydın: Multiple kernel learning algorithms. Journal of Machine Learning
    Research 12 (2011).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> X = [[k % 2, k // 2 % 2] for k in range(40)]
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> model = MKLClassifier(kernels, combiner=BestSingle(), random_state=0)
    >>> model.fit(X, [second for _, second in X]).weights_.tolist()
    [[0.0, 1.0]]
    """

    name: ClassVar[str] = "best-single"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "numbers", "any"),
        weights_are="choice",
        row_weights="throughout",
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
        """Return 1 for the best kernel and 0 for all others, and its fully specified learner."""
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
    ) -> Sequence[Split]:
        """Return the folds, stratified for classes; none if there can't be two."""
        instead = f"takes the first kernel, {first}"
        splits = folds_or_warning(target, self.cv, random_state, self.name, instead)
        return splits[: -(-COMPARED_ROWS * len(splits) // len(target))]


@attrs.define
class _Comparison:
    """The losses of kernels on the same folds; several threads may request one each.

    ``least`` is the least loss so far; a kernel that exceeds it is not tried on further folds.
    """

    target: Target
    learner: Learner
    splits: Sequence[Split]
    least: float = np.inf
    grams: SpareScratch = attrs.field(factory=SpareScratch)
    parts: SpareScratch = attrs.field(factory=SpareScratch)

    def loss(self, view: KernelView) -> tuple[float, Learner]:
        """Return the number of the view learner's errors, or its squared error, and the learner."""
        if view.explicit:
            return self._of_side(view)
        with self.grams.lent() as scratch:
            scratch.reset()
            kernel_rows = KernelRows.of_views([view])
            n_rows = kernel_rows.n_rows
            out = scratch.take((n_rows, n_rows), kernel_rows.arrays[0].dtype)
            return self._of_side(GramSide(weighted_gram(kernel_rows, np.ones(1), out=out)))

    def _of_side(self, side: TrainingView) -> tuple[float, Learner]:
        """Return the loss over all folds, or over the folds until it exceeds the least loss."""
        target = self.target
        total = 0.0
        learner = self.learner.resolved(side, target)
        # Closed if folds are left over: their threads use borrowed memory.
        with closing(held_out_values(side, target, learner, self.splits, self.parts)) as parts:
            for (_, held_out), decided in zip(self.splits, parts, strict=True):
                part = target.take(held_out)
                total += float(part.counts @ part.losses(decided))
                # Not if it equals the least: the first kernel wins a tie, whichever finishes first.
                if total > self.least:
                    return total, learner
        self.least = min(self.least, total)
        return total, learner
