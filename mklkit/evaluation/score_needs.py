"""What a score needs of a model, before anything is fitted."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mklkit.errors import SpecError, plain_message
from mklkit.protocols import Task


def is_defined(task: Task, score: str, targets: NDArray[Any], name: str) -> bool:
    """Return whether a score is defined without probabilities; a SpecError if it never is.

    The targets are those of data with a name.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.tasks import Classification
    >>> labels = np.array(["ill", "well"] * 5)
    >>> scores = ("accuracy", "neg_log_loss")
    >>> [is_defined(Classification(), score, labels, "the data") for score in scores]
    [True, False]
    """
    task.score_named(score)  # It raises if there is no such score.
    try:
        return not task.needs_probabilities(score, targets)
    except ValueError as error:
        raise SpecError(
            f"The score {score} is not defined for the {task.plural} of {name}"
            f" ({plain_message(error)}). Choose another, such as balanced_accuracy or f1_macro."
        ) from error
