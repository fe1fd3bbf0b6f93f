"""PWMK: kernels weighted by how well each predicts on its own."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of, le

from mklkit.plugin import (
    Array,
    CombinerTraits,
    LearnedWeighting,
    Learner,
    Target,
    Views,
    as_int,
    out_of_fold,
    register,
)


@register
@attrs.frozen
class PWMK(LearnedWeighting):
    """Weight each kernel by the accuracy π_m of the learner on it alone, above a threshold.

    w_m = (π_m − δ)/Σ_l (π_l − δ), with π_m on held-out samples, and 0 if π_m is below δ.

    Parameters
    ----------
    threshold : float, default=0.5
        δ, from 0 to 1; for two classes, chance is one half.
    relative : bool, default=False
        Whether δ is relative to the lowest accuracy, as in MKLpy.
    cv : int, default=3
        Number of folds, at least 2; fewer if a class has fewer samples.

    Notes
    -----
    Cost: ``cv`` fits of the learner per kernel, one Gram matrix at a time.

    ``cv`` fits per kernel, one Gram matrix at a time. Automatic parameters of a learner, such as C,
    are chosen on all samples for each kernel. Sample weights count in the accuracy too. Source:
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
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        row_weights="throughout", search_space={"threshold": (0.0, 0.5, 0.7)}
    )

    threshold: float = attrs.field(default=0.5, converter=float, validator=[ge(0), le(1)])
    relative: bool = attrs.field(default=False, validator=instance_of(bool))
    cv: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(2)])

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the accuracies above the threshold, all zero if no sample can be held out."""
        if len(views) == 1:
            return np.ones(1)
        splits = target.folds(self.cv, random_state)
        if not splits:
            return np.zeros(len(views))
        rows = np.concatenate([held_out for _, held_out in splits])
        values = np.array([out_of_fold(view, target, learner, splits)[rows] for view in views])
        right = (values > 0) == (target.values[rows] > 0)
        accuracies = np.average(right, axis=1, weights=target.counts[rows])
        least = self.threshold * (accuracies.min() if self.relative else 1)
        return np.maximum(accuracies - least, 0.0)
