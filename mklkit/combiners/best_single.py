"""All weight on the kernel that scores best alone."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.errors import WeightsWarning, counted
from mklkit.protocols import Array, CombinerFacts, KernelView, Learner, Target, Views
from mklkit.protocols.component import as_int
from mklkit.registry.hookspecs import register
from mklkit.views.sides import GramSide


@register
@attrs.frozen
class BestSingle(LearnedWeighting):
    """Choose the one kernel that is best in cross-validation; the first of equals.

    By accuracy for two classes, by squared error for numbers.

    Rows with weights count by them in the accuracy.

    Parameters
    ----------
    cv : int, default=5
        Number of folds, at least 2; fewer are used with a warning where a class has fewer rows.

    Notes
    -----
    Costs ``cv`` fits per kernel, with one Gram matrix in memory at a time; features are made block
    by block where the learner takes them so. Feature maps are fitted on all training rows.
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
        if len(views) == 1:
            return np.ones(1)
        splits = self._splits(target, views.labels[0], random_state)
        scores = [_score(view, target, learner, splits) for view in views]
        return np.eye(len(views))[int(np.argmax(scores))]

    def _splits(
        self, target: Target, first: str, random_state: np.random.RandomState
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the folds, stratified for classes; none where there can't be two."""
        numbers = target.task == "numbers"
        least = len(target)
        if not numbers:
            least = int(min((target.values > 0).sum(), (target.values <= 0).sum()))
        folds = min(self.cv, least)
        if folds < self.cv:
            taken = f"uses {folds} folds" if folds > 1 else f"takes the first kernel, {first}"
            whose = "there are" if numbers else "the smaller class has"
            warnings.warn(
                f"best-single {taken}, as {whose} {counted(least, 'row')}.",
                WeightsWarning,
                stacklevel=4,
            )
        if folds < 2:
            return []
        kind = KFold if numbers else StratifiedKFold
        splitter = kind(folds, shuffle=True, random_state=random_state)
        return list(splitter.split(np.zeros((len(target), 1)), target.values))


def _score(
    view: KernelView,
    target: Target,
    learner: Learner,
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> float:
    """Return how well the view's learner does: the rows right, or minus the squared error."""
    gram = None if view.explicit else view.gram(keep=False)
    counts, total = target.counts, 0.0
    for training, held_out in splits:
        if gram is None:
            fitted = learner.fit(view.restricted(training), target.take(training))
            values = view.restricted(held_out).map_features(fitted.decide)
        else:
            fitted = learner.fit(GramSide(gram[np.ix_(training, training)]), target.take(training))
            values = fitted.decide(gram[np.ix_(held_out, training)])
        truth = target.values[held_out]
        if target.task == "numbers":
            total -= float(counts[held_out] @ np.square(values - truth))
        else:
            total += float(counts[held_out] @ ((values > 0) == (truth > 0)))
    return total
