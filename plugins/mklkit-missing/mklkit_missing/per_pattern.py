"""A model for each pattern of available sources."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit import DataError, IncompatibleError
from mklkit.plugin import (
    Array,
    BlockDecision,
    Combiner,
    Learner,
    Missing,
    RowBlock,
    Target,
    register,
)
from mklkit_missing.wrapping import Around, has_sources


@register
@attrs.frozen
class PerPattern(Missing):
    """Learn a model for each pattern of sources, from all samples that have at least these.

    The model of the sources that a sample has decides it (available cases). If no training sample
    has that pattern, or too few of both classes, the model of its largest sub-pattern decides; each
    single source has a model.

    Notes
    -----
    Cost: one fit per pattern of missing sources.

    A fit of a pattern uses all samples that have its sources. Decision values of different models
    are on different scales, so rankings of samples are less reliable than their classes.

    Source: M. Saar-Tsechansky, F. Provost: Handling missing values when applying classification
    models. Journal of Machine Learning Research 8 (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X = np.sqrt(np.arange(24.0).reshape(12, 2))
    >>> X[:3, 1] = np.nan
    >>> kernels = ["first:rbf@0:1", "second:rbf@1:2"]
    >>> model = MKLClassifier(kernels, missing="per-pattern").fit(X, [0] * 6 + [1] * 6)
    >>> model.predict(X[[0, 11]]).tolist()
    [0, 1]
    """

    name: ClassVar[str] = "per-pattern"
    searched_as: ClassVar[dict[str, str]] = {"available-case": "per-pattern"}

    def wrap(self, combiner: Combiner) -> Combiner:
        """Return a combiner that fits another one on each pattern."""
        return _PatternCombiner(combiner)


@attrs.frozen
class _PatternCombiner(Around):
    name: ClassVar[str] = "per-pattern"

    def fit(
        self, views: Any, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> PatternDecision:
        """Return a decision for each pattern of the training samples, and for each source."""
        if self.traits.n_kernels is not None or self.combiner.name in ("given", "fixed-share"):
            raise IncompatibleError(
                f"missing='per-pattern' combines some of the kernels in each pattern, and"
                f" {self.combiner.name!r} takes all of them: use another combiner, or another"
                " strategy, such as 'present'."
            )
        has = has_sources(views.missing, len(target), len(views))
        patterns, counts = np.unique(has, axis=0, return_counts=True)
        alone = np.eye(len(views), dtype=bool)
        shares = {pattern.tobytes(): float(n) for pattern, n in zip(patterns, counts, strict=True)}
        taken = []
        decisions = []
        weights = np.zeros(len(views))
        least = _least(target)
        for pattern in np.unique(np.vstack([patterns, alone]), axis=0):
            members = np.flatnonzero(has[:, pattern].all(axis=1))
            if len(members) < 2 or len(np.unique(target.values[members])) < least:
                continue
            used = np.flatnonzero(pattern)
            part = views.restricted(members).only(used.tolist())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of folds, where a pattern has few samples
                fitted = self.combiner.fit(part, target.take(members), learner, random_state)
            taken.append(pattern)
            decisions.append(fitted)
            share = shares.get(pattern.tobytes(), 0.0)
            weights[used] += share * np.atleast_2d(fitted.weights).mean(axis=0)
        if not taken:
            raise DataError(
                "missing='per-pattern' has no source with samples of all classes, or two different"
                " targets: use another strategy, such as 'present'."
            )
        projectors = [view.projector for view in views]
        total = weights.sum()
        weights = weights / total if total > 0 else np.full(len(views), 1 / len(views))
        return PatternDecision(weights, projectors, np.array(taken), decisions, _default(target))


@register
@attrs.frozen(eq=False)
class PatternDecision(BlockDecision):
    """The decisions of patterns (P, M), with True for the sources that a sample has.

    The weights (M,) are the means over the patterns of the training samples. ``default`` are the
    values of a sample whose sources have no model: means of numbers, else zeros.
    """

    weights: Array
    sources: list[Any]
    patterns: NDArray[np.bool_]
    decisions: list[Any]
    default: Array

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values of one block of samples, by the largest pattern in each."""
        has = has_sources(block.missing_of(self.sources), len(block), len(self.sources))
        # A pattern fits a sample that has all of its sources.
        fits = ~(self.patterns & ~has[:, None]).any(axis=2)
        sizes = np.where(fits, self.patterns.sum(axis=1), -1)
        chosen = sizes.argmax(axis=1)
        known = sizes.max(axis=1) >= 0
        values = np.full((len(block), *self.default.shape), self.default)
        for place in np.unique(chosen[known]):
            members = np.flatnonzero(known & (chosen == place))
            values[members] = self.decisions[place].decide(block.rows[members])
        return values


def _least(target: Target) -> int:
    """Return the fewest distinct values that allow learning: all classes, if there are several."""
    if target.is_several:
        return len(np.unique(target.values))
    return 1 if target.kind.is_empty else 2


def _default(target: Target) -> Array:
    """Return the values of a sample without any known source, () or (number of values,)."""
    if target.kind.name == "numbers":
        return np.asarray(np.average(target.values, axis=0, weights=target.row_weights))
    return np.zeros(_least(target) if target.is_several else ())
