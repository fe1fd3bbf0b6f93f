"""Projectors that are reduced to the support vectors."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array, Projector

__all__ = ["with_support"]


def with_support(projectors: Sequence[Projector], support: NDArray[np.intp]) -> list[Projector]:
    """Return the projectors reduced to some training rows, where the maps support it.

    Projectors that shared their training rows share the rows that are kept.
    """
    kept: list[tuple[Array, Array]] = []
    trimmed = []
    for projector in projectors:
        fitted = projector.map
        if fitted.explicit or not fitted.from_landmarks:
            trimmed.append(projector)
            continue
        if not any(fitted.landmarks is rows for rows, _ in kept):
            kept.append((fitted.landmarks, fitted.landmarks[support]))
        [own] = [part for rows, part in kept if rows is fitted.landmarks]
        trimmed.append(attrs.evolve(projector, map=fitted.with_landmarks(own)))
    return trimmed
