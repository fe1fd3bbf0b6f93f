"""What a fitted model keeps of its views: enough to turn new rows into their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.kernels.shared import similarities
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, FittedMap

__all__ = [
    "BLOCK_ROWS",
    "Projector",
    "SeenColumns",
    "columns_of_all",
    "decide_by_blocks",
    "with_support",
]

BLOCK_ROWS = 2048
"""Rows that are decided at a time, so that no n × N matrix is formed."""

SeenColumns = dict[int, Array]
"""Columns of one block of rows, by the id of the map that made them."""


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


def columns_of_all(
    projectors: Sequence[Projector], rows: Array, seen: SeenColumns | None = None
) -> Iterator[tuple[int, Array]]:
    """Yield each projector's columns for new rows, sharing base quantities where maps allow.

    Parameters
    ----------
    projectors : sequence of Projector
    rows : ndarray of shape (n, d)
    seen : dict, optional
        Columns that maps have already made of these rows; what is made here is added.
    """
    known = {} if seen is None else seen
    fresh = []
    for index, projector in enumerate(projectors):
        if id(projector.map) in known:
            yield index, known[id(projector.map)]
        else:
            fresh.append(index)
    for index, values in _evaluate(projectors, fresh, rows, keep=seen is not None):
        if seen is not None:
            seen[id(projectors[index].map)] = values
        yield index, values


def _evaluate(
    projectors: Sequence[Projector], wanted: Sequence[int], rows: Array, keep: bool
) -> Iterator[tuple[int, Array]]:
    cuts: dict[bytes | None, Array] = {}
    with_landmarks: list[int] = []
    for index in wanted:
        projector = projectors[index]
        if hasattr(projector.map, "from_similarities"):
            with_landmarks.append(index)
        else:
            yield index, projector.transform(rows)
    own_rows = []
    for index in with_landmarks:
        columns = projectors[index].columns
        key = None if columns is None else columns.tobytes()
        if key not in cuts:
            cuts[key] = rows if columns is None else np.ascontiguousarray(rows[:, columns])
        own_rows.append(cuts[key])
    maps: list[Any] = [projectors[index].map for index in with_landmarks]
    evaluated = similarities([m.kernel for m in maps], own_rows, [m.landmarks for m in maps])
    for position, values in evaluated:
        made = maps[position].from_similarities(values)
        if keep and np.may_share_memory(made, values):
            made = made.copy()  # the next kernel's similarities are written into the same memory
        yield with_landmarks[position], made


def decide_by_blocks(decide: Callable[[Array], Array], rows: Array) -> Array:
    """Return decision values, (n,) or (n, G), a block of rows at a time."""
    if len(rows) <= BLOCK_ROWS:
        return decide(rows)
    return np.concatenate([decide(rows[block]) for block in row_blocks(len(rows), BLOCK_ROWS)])
