"""Deciding on new rows block by block, with each map's columns computed once per block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import (
    Array,
    Decision,
    FittedMap,
    Projector,
    Rows,
)
from mklkit.views.kernel_rows import KernelRows, Scratch
from mklkit.views.rows import ColumnCuts, rows_at

__all__ = [
    "BLOCK_ROWS",
    "BlockDecision",
    "RowBlock",
    "decide_all",
    "decide_block",
    "weighted_columns",
    "with_support",
]

BLOCK_ROWS = 2048
"""The number of rows decided at a time, so that no n × N matrix is formed."""


Known = tuple[FittedMap, Array]
"""A map and its columns of some rows."""


class RowBlock:
    """A block of rows, and the columns that maps have computed of it.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        With all features.
    keep : bool, default=False
        Whether a map's columns are kept for later decisions, which is worth the memory where
        decisions share maps.
    known : sequence of (FittedMap, ndarray of shape (n, p))
        Columns of these rows that are available already.
    scratch : Scratch, optional
        Memory for similarities, used again when the next block is made.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.feature_maps import Implicit
    >>> from mklkit.kernels import Linear
    >>> from mklkit.protocols import Projector
    >>> rows = np.array([[1.0], [2.0]])
    >>> fitted = Implicit().fit(Linear().fit(rows), rows, np.random.RandomState(0))
    >>> block = RowBlock(np.array([[3.0]]))
    >>> [values.tolist() for _, values in block.columns_of([Projector("linear", None, fitted)])]
    [[[3.0, 6.0]]]
    """

    def __init__(
        self,
        rows: Array,
        keep: bool = False,
        known: Sequence[Known] = (),
        scratch: Scratch | None = None,
    ) -> None:
        self.rows = rows
        self._keep = keep
        self._cuts = ColumnCuts(rows)
        self._made = list(known)
        self._raw: dict[int, Array] = {}
        self._scratch = scratch
        if scratch is not None:
            scratch.reset()

    def __len__(self) -> int:
        """Return the number of rows n."""
        return len(self.rows)

    @property
    def n_bytes(self) -> int:
        """The memory of the columns that are kept."""
        return sum(columns.nbytes for _, columns in self._made)

    def take(self, members: NDArray[np.intp]) -> RowBlock:
        """Return some of the rows as a block, with the columns that are available."""
        known = [(fitted, columns[members]) for fitted, columns in self._made]
        return RowBlock(self.rows[members], known=known)

    @property
    def shared(self) -> bool:
        """Whether columns are kept for other decisions, which then cost less than folded maps."""
        return self._keep

    def columns_of(self, projectors: Sequence[Projector]) -> Iterator[tuple[int, Array]]:
        """Yield each projector's columns, sharing base quantities where maps allow.

        Yields
        ------
        index : int
            In any order.
        columns : ndarray of shape (n, p) or (n, N)
            Not to be written to.
        """
        fresh = []
        for index, projector in enumerate(projectors):
            known = [columns for fitted, columns in self._made if fitted is projector.map]
            if known:
                yield index, known[0]
            else:
                fresh.append(index)
        for index, columns in self._evaluate(projectors, fresh):
            if self._keep:
                self._made.append((projectors[index].map, columns))
            yield index, columns

    def raw_columns_of(self, projectors: Sequence[Projector]) -> Iterator[tuple[int, Array, bool]]:
        """Yield columns, or the similarities of which a map's columns are linear functions.

        Yields
        ------
        index : int
            In any order.
        values : ndarray of shape (n, p)
            Not to be written to.
        raw : bool
            Whether they are similarities to the landmarks of a map that is ``linear`` in them.
        """
        known = {id(fitted) for fitted, _ in self._made}
        folding = [
            index
            for index, projector in enumerate(projectors)
            if projector.map.linear and id(projector.map) not in known
        ]
        others = [index for index in range(len(projectors)) if index not in folding]
        for place, columns in self.columns_of([projectors[index] for index in others]):
            yield others[place], columns, False
        for index, values in self._similarities(projectors, folding, self._keep):
            yield index, values, True

    def _evaluate(
        self, projectors: Sequence[Projector], wanted: Iterable[int]
    ) -> Iterator[tuple[int, Array]]:
        with_landmarks: list[int] = []
        for index in wanted:
            projector = projectors[index]
            if projector.map.from_landmarks:
                with_landmarks.append(index)
            else:
                columns = self._cuts.of(projector.columns, projector.reads)
                yield index, projector.map.transform(columns)
        for index, values in self._similarities(projectors, with_landmarks):
            yield index, projectors[index].map.from_similarities(values)

    def _similarities(
        self, projectors: Sequence[Projector], wanted: Sequence[int], keep: bool = False
    ) -> Iterator[tuple[int, Array]]:
        """Yield similarities to the landmarks, sharing base quantities."""
        kept = [index for index in wanted if id(projectors[index].map) in self._raw]
        for index in kept:
            yield index, self._raw[id(projectors[index].map)]
        wanted = [index for index in wanted if index not in kept]
        if not wanted:
            return
        maps = [projectors[index].map for index in wanted]
        kernels = [landmark_map.kernel for landmark_map in maps]
        used = [projectors[index] for index in wanted]
        rows = KernelRows.of(
            kernels, [self._cuts.of(projector.columns, projector.reads) for projector in used]
        )
        landmarks = KernelRows.of(kernels, [landmark_map.landmarks for landmark_map in maps])
        for place, values in rows.similarities(landmarks, scratch=self._scratch):
            if keep:
                self._raw[id(maps[place])] = values
            yield wanted[place], values


class BlockDecision(ABC):
    """Template: a decision function that is implemented for one block of rows.

    Decisions that share maps are evaluated on the same block one after another, and each map's
    columns are computed once.
    """

    __slots__ = ()

    @abstractmethod
    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values, (n,) or (n, G), of one block of rows."""

    def decide(self, rows: Array) -> Array:
        """Return the decision values, (n,) or (n, G), of rows (n, d), block by block."""
        if len(rows) <= BLOCK_ROWS:
            return self.decide_block(RowBlock(rows))
        blocks = row_blocks(len(rows), BLOCK_ROWS)
        return np.concatenate([self.decide_block(RowBlock(rows[block])) for block in blocks])


def decide_block(decision: Decision, block: RowBlock) -> Array:
    """Return any decision's values on one block of rows."""
    if isinstance(decision, BlockDecision):
        return decision.decide_block(block)
    return decision.decide(block.rows)


def decide_all(decisions: Sequence[Decision], rows: Rows, shared: bool = False) -> Array:
    """Return the values of decisions on rows (n, d), side by side, block by block.

    Parameters
    ----------
    decisions : sequence of Decision
    rows : ndarray or RowSource of shape (n, d)
    shared : bool, default=False
        Whether the decisions share maps; their columns are then computed once for all.
    """

    def decide(place: slice) -> Array:
        block = RowBlock(rows_at(rows, place), keep=shared and len(decisions) > 1)
        return np.column_stack([decide_block(decision, block) for decision in decisions])

    places = list(row_blocks(len(rows), BLOCK_ROWS))
    return np.vstack(list(map(decide, places) if len(places) == 1 else each(decide, places)))


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
        [landmarks] = [part for rows, part in kept if rows is fitted.landmarks]
        trimmed.append(attrs.evolve(projector, map=fitted.with_landmarks(landmarks)))
    return trimmed


def weighted_columns(
    block: RowBlock, projectors: Sequence[Projector], scales: Array, explicit: bool
) -> Array:
    """Return the sum of the projectors' columns times their scales, or features side by side.

    Parameters
    ----------
    block : RowBlock
        Of n rows.
    projectors : sequence of Projector
        M of them.
    scales : ndarray of shape (M,)
    explicit : bool
        Whether they give features, which are scaled by the roots and put side by side.
    """
    if explicit:
        parts: list[Any] = [None] * len(projectors)
        for index, values in block.columns_of(projectors):
            parts[index] = np.sqrt(scales[index]) * values
        return np.hstack(parts)
    total: Any = None
    for index, values in block.columns_of(projectors):
        scaled = values * values.dtype.type(scales[index])
        total = scaled if total is None else np.add(total, scaled, out=total)
    return np.asarray(total)
