"""PWMK: kernels weighted by how well each predicts alone."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of, le
from numpy.typing import NDArray

from mklkit.plugin import (
    Array,
    CombinerFacts,
    GramSide,
    LearnedWeighting,
    Learner,
    Target,
    Views,
    as_int,
    register,
)

Rows = NDArray[np.intp]


@register
@attrs.frozen
class PWMK(LearnedWeighting):
    """Weight each kernel by the accuracy π_m of the learner on it alone, above a threshold.

    w_m = (π_m − δ)/Σ_l (π_l − δ), with π_m on rows left out, and 0 where π_m is below δ.

    Parameters
    ----------
    threshold : float, default=0.5
        δ, from 0 to 1; half of two classes are right by chance.
    relative : bool, default=False
        Whether δ is that part of the least of all accuracies, as in MKLpy.
    cv : int, default=3
        Number of folds, at least 2; fewer if a class has fewer rows.

    Notes
    -----
    ``cv`` fits per kernel, one Gram matrix at a time. What a learner chooses by itself, such as C,
    it chooses on all rows for each kernel. Weights of rows count in the accuracy too. Source:
    Tanabe, Ho, Nguyen and Kawasaki (2008).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=PWMK(), random_state=0).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "pwmk"
    facts: ClassVar[CombinerFacts] = CombinerFacts(
        row_weights="throughout", search_space={"threshold": (0.0, 0.5, 0.7)}
    )

    threshold: float = attrs.field(default=0.5, converter=float, validator=[ge(0), le(1)])
    relative: bool = attrs.field(default=False, validator=instance_of(bool))
    cv: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(2)])

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the accuracies above the threshold, all zero where no row can be left out."""
        if len(views) == 1:
            return np.ones(1)
        splits = target.folds(self.cv, random_state)
        if not splits:
            return np.zeros(len(views))
        accuracies = np.array([accuracy_left_out(view, target, learner, splits) for view in views])
        least = self.threshold * (accuracies.min() if self.relative else 1)
        return np.maximum(accuracies - least, 0.0)


def accuracy_left_out(
    view: Any, target: Target, learner: Learner, splits: list[tuple[Rows, Rows]]
) -> float:
    """Return the accuracy on the rows left out of each fold, counted by their weights."""
    gram = None if view.explicit else view.gram(keep=False)
    learner = learner.settled(view if gram is None else GramSide(gram), target)
    right = total = 0.0
    for known, held_out in splits:
        part = target.take(known)
        if gram is None:
            values = view.restricted(held_out).map_features(
                learner.fit(view.restricted(known), part).decide
            )
        else:
            fitted = learner.fit(GramSide(gram[np.ix_(known, known)]), part)
            values = fitted.decide(gram[np.ix_(held_out, known)])
        counts = target.counts[held_out]
        right += float(counts @ ((values > 0) == (target.values[held_out] > 0)))
        total += float(counts.sum())
    return right / total
