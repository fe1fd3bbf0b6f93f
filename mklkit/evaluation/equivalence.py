"""How small a difference of scores does not matter: one margin for all conclusions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import SpecError, quoted
from mklkit.protocols import Task
from mklkit.protocols.score import is_error

MARGIN = 0.02
"""By default, differences up to two points, or 2 % of the baseline's error, do not matter."""


def margin_of(margin: float | str) -> float:
    """Return the share of a margin that the user gives, as a number or such as ``"2%"``.

    Parameters
    ----------
    margin : float or str
        A share from 0 to 1, or a percentage from 0 to 100 %.

    Returns
    -------
    float
        The share.

    Raises
    ------
    SpecError
        If it is not such a number.

    Examples
    --------
    >>> margin_of("2%"), margin_of("1.5 %"), margin_of("0.02"), margin_of(0.02)
    (0.02, 0.015, 0.02, 0.02)
    >>> margin_of(2)
    Traceback (most recent call last):
    mklkit.errors.SpecError: A margin is a share from 0 to 1 or a percentage, ...; got 2.
    """
    number = re.fullmatch(r"\s*(\d*\.?\d+|\d+\.)(?:e([+-]?\d+))?\s*(%?)\s*", str(margin), re.I)
    if number is not None and not isinstance(margin, bool):
        # The decimal exponent makes "2%" the same number as "0.02".
        exponent = int(number[2] or 0) - (2 if number[3] else 0)
        share = float(f"{number[1]}e{exponent}")
        if share <= 1:
            return share
    raise SpecError(
        "A margin is a share from 0 to 1 or a percentage, such as 0.02 or 2%; got"
        f" {quoted(margin)}."
    )


def equivalence_margin(
    task: Task, score: str, targets: NDArray[Any], margin: float = MARGIN
) -> float:
    """Return the largest difference in a score that counts as none.

    By default two points (0.02) of scores that are 1 at best, such as the accuracy, the area under
    the ROC curve and R². Errors have a unit, so their margin is a share of the baseline's error, by
    default 2 %: that of predicting the median of the targets, or for classes their frequencies. It
    changes with the unit as the differences do.

    Parameters
    ----------
    task : Task
        Which makes the baseline and the scorer.
    score : str
        The name of the score in scikit-learn; those of errors begin with ``neg_``.
    targets : ndarray of shape (n,) or (n, n_targets)
        The classes or numbers that are learned.
    margin : float, default=0.02
        The margin as a share: of the baseline's error, or of 1 for other scores.

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
        return margin
    nothing = np.zeros((len(targets), 1))
    baseline = task.baseline().fit(nothing, targets)
    return margin * abs(task.scorer(score, training=targets)(baseline, nothing, targets))
