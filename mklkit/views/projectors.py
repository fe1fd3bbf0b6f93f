"""What a fitted model keeps of its views: enough to turn new rows into their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array, FittedMap

__all__ = ["Projector", "with_support"]


@attrs.frozen(eq=False)
class Projector:
    """What a fitted model keeps of a view: enough to turn new rows into its columns."""

    label: str
    columns: NDArray[np.intp] | None
    map: FittedMap

    def transform(self, rows: Array) -> Array:
        """Return the view's columns (n, p) or (n, N) for new rows (n, d) with all features."""
        return self.map.transform(rows if self.columns is None else rows[:, self.columns])


def with_support(projectors: Sequence[Projector], support: NDArray[np.intp]) -> list[Projector]:
    """Return the projectors with only some training rows behind them, where the maps can.

    Projectors that shared their training rows share what is kept of them.
    """
    kept: dict[int, Array] = {}
    trimmed = []
    for projector in projectors:
        fitted: Any = projector.map
        if fitted.explicit or not hasattr(fitted, "with_landmarks"):
            trimmed.append(projector)
            continue
        rows = fitted.landmarks
        own = kept.setdefault(id(rows), rows[support])
        trimmed.append(attrs.evolve(projector, map=fitted.with_landmarks(own)))
    return trimmed
