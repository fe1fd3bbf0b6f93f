"""How small a difference of scores does not matter: one margin for all conclusions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Task
from mklkit.protocols.score import is_error

MARGIN = 0.02
"""Differences up to two points, or 2 % of the baseline's error, do not matter."""


def equivalence_margin(task: Task, score: str, targets: NDArray[Any]) -> float:
    """Return the largest difference in a score that counts as none.

    Two points (0.02) of scores that are 1 at best, such as the accuracy, the area under the ROC
    curve and R². Errors have a unit, so their margin is 2 % of the baseline's error: that of
    predicting the median of the targets, or for classes their frequencies. It changes with the unit
    as the differences do.

    Parameters
    ----------
    task : Task
        Which makes the baseline and the scorer.
    score : str
        The name of the score in scikit-learn; those of errors begin with ``neg_``.
    targets : ndarray of shape (n,) or (n, n_targets)
        The classes or numbers that are learned.

    Returns
    -------
    float
        0 if the baseline makes no errors.

    Examples
    --------
    >>> from mklkit.registry.tasks import task_named
    >>> metres = np.array([1.0, 2.0, 6.0])
    >>> task = task_named("regression")
    >>> [equivalence_margin(task, "neg_max_error", y) for y in (metres, 1000 * metres)]
    [0.08, 80.0]
    >>> equivalence_margin(task, "r2", metres)
    0.02
    """
    if not is_error(score):
        return MARGIN
    nothing = np.zeros((len(targets), 1))
    baseline = task.baseline().fit(nothing, targets)
    return MARGIN * abs(task.scorer(score, training=targets)(baseline, nothing, targets))
