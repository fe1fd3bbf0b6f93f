"""Decision values brought between −1 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["squashed"]


def squashed(scores: NDArray[Any]) -> NDArray[Any]:
    """Return f / √(1 + f²) of each decision value, between −1 and 1 (Pinar et al. 2015).

    Examples
    --------
    >>> squashed(np.array([-1e200, 0.0, 1.0])).round(3)
    array([-1.   ,  0.   ,  0.707])
    """
    # hypot does not overflow where f² would.
    return scores / np.hypot(1.0, scores)
