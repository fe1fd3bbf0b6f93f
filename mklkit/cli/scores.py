"""How good predictions are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["score"]


def score(labels: NDArray[np.generic], predictions: NDArray[np.generic]) -> dict[str, Any]:
    """Return the number of rows, the accuracy, and the mean accuracy over the classes.

    Balanced accuracy averages over the classes that occur among ``labels``.
    """
    import numpy as np

    right = labels == predictions
    _, codes = np.unique(labels, return_inverse=True)
    by_class = np.bincount(codes, weights=right) / np.bincount(codes)
    return {
        "rows": len(labels),
        "accuracy": float(np.mean(right)),
        "balanced_accuracy": float(np.mean(by_class)),
    }
