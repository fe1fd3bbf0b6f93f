"""All weight on the kernel that scores best alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.errors import WeightsWarning
from mklkit.protocols import Array, CombinerFacts, KernelView, Learner, Target, Views
from mklkit.protocols.component import whole
from mklkit.registry.hookspecs import hookimpl
from mklkit.views.sides import GramSide, RowSubset

__all__ = ["BestSingle"]


@attrs.frozen
class BestSingle(LearnedWeighting):
    """Choose the one kernel with the best cross-validated accuracy; the first of equals.

    Rows with weights count by them in the accuracy.

    Parameters
    ----------
    cv : int, default=5
        Number of folds, at least 2; fewer are used with a warning where a class has fewer rows.

    Notes
    -----
    Costs ``cv`` fits per kernel, with one Gram matrix in memory at a time; features are made block
    by block where the learner takes them so. Feature maps are fitted
    on all training rows; they do not use labels.
    """

    name: ClassVar[str] = "best-single"
    facts: ClassVar[CombinerFacts] = CombinerFacts(weights_are="choice", row_weights="throughout")

    cv: int = attrs.field(default=5, converter=whole, validator=[instance_of(int), ge(2)])

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return 1 for the best kernel and 0 for all others."""
        y = target.values
        weights = np.zeros(len(views))
        smallest = int(min((y > 0).sum(), (y < 0).sum()))
        folds = min(self.cv, smallest)
        if len(views) == 1 or folds < 2:
            if len(views) > 1:
                warnings.warn(
                    "best-single can't cross-validate a class of one row; it takes the first"
                    f" kernel, {views.labels[0]}.",
                    WeightsWarning,
                    stacklevel=3,
                )
            weights[0] = 1
            return weights
        if folds < self.cv:
            warnings.warn(
                f"best-single uses {folds} folds, as the smaller class has {smallest} rows.",
                WeightsWarning,
                stacklevel=3,
            )
        splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state)
        splits = list(splitter.split(np.zeros((len(y), 1)), y))
        scores = [_score(view, target, learner, splits) for view in views]
        weights[int(np.argmax(scores))] = 1
        return weights


def _score(
    view: KernelView,
    target: Target,
    learner: Learner,
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> float:
    """Return the cross-validated accuracy of the view's learner."""
    side = None if view.explicit else GramSide(view.gram(keep=False))
    counts, right = target.counts, 0.0
    for training, held_out in splits:
        if side is None:
            fitted = learner.fit(view.restricted(training), target.take(training))
            values = view.restricted(held_out).map_features(fitted.decide)
        else:
            subset = RowSubset(side, training)
            values = learner.fit(subset, target.take(training)).decide(subset.columns_of(held_out))
        right += float(counts[held_out] @ ((values > 0) == (target.values[held_out] > 0)))
    return right / float(counts.sum())


@hookimpl
def mklkit_combiners() -> Iterable[type]:
    """Register the combiner."""
    return [BestSingle]
