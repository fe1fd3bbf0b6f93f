"""R² of splits whose mean is the R² of all held-out predictions together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklkit.protocols import Array
from mklkit.protocols.splits.split import Indices


@attrs.frozen(eq=False)
class HeldOut:
    """The samples that several splits score, from which R² of a split has its denominator.

    R² of few samples is biased and has heavy tails, because it divides by the variance of these few
    targets. So the squared errors of a split are divided by the variance of the targets of all
    scored samples around their mean. With J splits,

        R²_j = 1 − J · Σ_{i in split j} (y_i − ŷ_i)² / Σ_{i in all splits} (y_i − ȳ)²,

    whose mean over the splits is exactly the R² of all their predictions together, also if splits
    differ in size. In repeated cross-validation it is the mean over the repetitions of their R².

    Attributes
    ----------
    targets : ndarray of shape (n,) or (n, n_targets)
        All targets.
    tests : sequence of ndarray of int
        The positions that each split scores.
    """

    targets: NDArray[np.generic]
    tests: Sequence[Indices]

    def variance(self, place: int, members: NDArray[np.bool_] | None = None) -> Array:
        """Return the mean squared error at which R² of a split is 0, of shape (n_targets,).

        If splits differ in size, it is the variance of the targets times the mean size of a split
        over that of this split.

        Parameters
        ----------
        place : int
            The number of the split.
        members : ndarray of bool of shape (n,), optional
            The samples that count; by default all.
        """
        tests = self.tests
        if members is not None:
            tests = [test[members[test]] for test in tests]
        scored: Array = np.asarray(self.targets[np.concatenate(tests)], dtype=float)
        n_splits = sum(len(test) > 0 for test in tests)
        share = n_splits * len(tests[place]) / len(scored) if len(scored) else 0.0
        return target_variance(scored) / share if share else np.zeros(1)


def target_variance(targets: Array) -> Array:
    """Return the variance of each target (n_targets,), exactly 0 if all its numbers are equal."""
    varies = np.ptp(targets, axis=0) > 0 if len(targets) else np.array(False)
    return np.atleast_1d(np.where(varies, targets.var(axis=0), 0.0))


def r2_of_split(truth: ArrayLike, predictions: ArrayLike, variance: ArrayLike) -> float:
    """Return the mean over targets of 1 − mean squared error / ``variance``.

    NaN without samples, or if the variance of a target is 0.

    Examples
    --------
    >>> targets = np.array([1.0, 2.0, 3.0, 4.0])
    >>> scored = HeldOut(targets, [np.array([0, 1]), np.array([2, 3])])
    >>> [r2_of_split([1, 2], [2, 2], scored.variance(0)), r2_of_split([3, 4], [3, 4], 1.25)]
    [0.6, 1.0]
    """
    errors = np.asarray(truth, dtype=float) - np.asarray(predictions, dtype=float)
    spread = np.asarray(variance, dtype=float)
    if len(errors) == 0 or not (spread > 0).all():
        return float("nan")
    return float(np.mean(1 - (errors**2).mean(axis=0) / spread))
