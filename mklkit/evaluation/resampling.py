"""Samples drawn with replacement, single or by group, and the shares of samples that are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest

from mklkit.protocols import Array

LEVEL = 0.95
"""The share of samples of the population for which an interval should hold the score."""
FEW_GROUPS = 10
"""With fewer groups, the spread of draws says too little, and there is no interval.

These groups are of test samples alone, and independent, so that Student's distribution allows for
their number. Differences over splits need more groups, see
:data:`mklkit.evaluation.no_verdict.LEAST_GROUPS`.
"""
FEWEST = 2
"""The samples of a class, at least, for an interval."""
TOGETHER = 128
"""The draws whose counts are made at once."""


@attrs.frozen(eq=False)
class Resampling:
    """How samples are drawn with replacement: the same draws each time they are asked for.

    Attributes
    ----------
    n_rows : int
        The number of samples.
    members : list of ndarray of int, optional
        The samples of each group, if groups are drawn; else single samples are.
    strata : list of ndarray of int
        The samples, or groups, of which each draw has as many as there are, such as those of a
        class.
    seed : int
    """

    n_rows: int
    members: list[NDArray[np.intp]] | None
    strata: list[NDArray[np.intp]]
    seed: int = 0

    @classmethod
    def of(
        cls,
        n_rows: int,
        groups: NDArray[Any] | None = None,
        seed: int = 0,
        classes: NDArray[Any] | None = None,
    ) -> Self:
        """Return how to draw samples, by group if there are any.

        With the ``classes`` of samples (n_rows,), each draw has as many of each class; groups only
        if none has samples of two classes.
        """
        labels = np.zeros(n_rows, int) if classes is None else pd.factorize(classes)[0]
        members = None
        if groups is not None:
            codes, names = pd.factorize(pd.Series(groups))
            members = [np.flatnonzero(codes == code) for code in range(len(names))]
            if any(np.ptp(labels[part]) for part in members):
                labels = np.zeros(n_rows, int)
            labels = np.array([labels[part[0]] for part in members])
        strata = [np.flatnonzero(labels == code) for code in np.unique(labels)]
        return cls(n_rows, members, strata, seed)

    @property
    def n_units(self) -> int:
        """The samples, or groups, that are drawn in the smallest stratum."""
        return min(map(len, self.strata))

    @property
    def suffices(self) -> bool:
        """Whether there are enough samples, or groups, for an interval."""
        return self.n_units >= FEWEST and (self.members is None or self.n_drawn >= FEW_GROUPS)

    @property
    def n_drawn(self) -> int:
        """The samples, or groups, that are drawn."""
        return sum(map(len, self.strata))

    def rows(self, n_draws: int) -> Iterator[NDArray[np.intp]]:
        """Yield the samples of each draw; nothing if there are too few groups."""
        rng = np.random.default_rng(self.seed)
        for _ in range(n_draws if self.suffices else 0):
            picks = [part[rng.integers(len(part), size=len(part))] for part in self.strata]
            drawn = np.concatenate(picks)
            if self.members is not None:
                drawn = np.concatenate([self.members[group] for group in drawn])
            yield drawn

    def counts(self, n_draws: int) -> Iterator[Array]:
        """Yield how often each sample is in some draws, (draws, n_rows), for all draws."""
        counts = []
        for rows in self.rows(n_draws):
            counts.append(np.bincount(rows, minlength=self.n_rows).astype(float))
            if len(counts) == TOGETHER:
                yield np.array(counts)
                counts = []
        if counts:
            yield np.array(counts)


def wilson(right: NDArray[np.bool_], level: float = LEVEL) -> tuple[float, float]:
    """Return the ends of Wilson's interval of the share of samples that are right.

    Examples
    --------
    >>> low, high = wilson(np.array([True] * 8 + [False] * 2))
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    ends = binomtest(int(right.sum()), len(right)).proportion_ci(level, "wilson")
    return float(ends.low), float(ends.high)


def wilson_of_mean(right: Sequence[NDArray[np.bool_]], level: float = LEVEL) -> tuple[float, float]:
    """Return the ends of the interval of the mean of several independent shares.

    Examples
    --------
    >>> right = np.array([True] * 8 + [False] * 2)
    >>> low, high = wilson_of_mean([right, right])
    >>> round(low, 3), round(high, 3)
    (0.581, 0.901)
    """
    shares = np.array([part.mean() for part in right])
    low, high = np.array([wilson(part, level) for part in right]).T
    gaps = np.array([shares - low, high - shares])
    below, above = np.sqrt((gaps**2).sum(axis=1)) / len(right)
    return float(shares.mean() - below), float(shares.mean() + above)


def intervals_of_counts(confusion: Sequence[Sequence[int]]) -> dict[str, tuple[float, float]]:
    """Return the intervals of accuracy and balanced accuracy, from samples by class and prediction.

    Only independent samples have them. There are none without samples.

    Examples
    --------
    >>> low, high = intervals_of_counts([[45, 5], [5, 45]])["accuracy"]
    >>> round(low, 3), round(high, 3)
    (0.826, 0.945)
    """
    counts = np.asarray(confusion)
    sizes, hits = counts.sum(axis=1), np.diag(counts)
    right = [np.arange(size) < hit for size, hit in zip(sizes, hits, strict=True) if size]
    if not right:
        return {}
    whole = np.concatenate(right)
    return {"accuracy": wilson(whole), "balanced_accuracy": wilson_of_mean(right)}
