"""Deciding on new samples block by block, with each map's columns computed once per block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.pairwise import BASES, row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import (
    Array,
    Decision,
    FittedLearner,
    FittedMap,
    Mask,
    Projector,
    Rows,
    SomeRows,
    present_weights,
    sample_scale,
    times_rows,
    zeroed,
)
from mklkit.views.kernel_rows import KernelRows, Scratch, is_scalar

BLOCK_ROWS = 1024
"""The number of rows decided at a time, so that no n × N matrix is formed."""
NO_SUM = (
    "Values can be split by kernel only if they are a sum over kernels, and those of this combiner"
    " and learner are not: mklkit.explain measures how much each kernel contributes."
)
SHARED_PAIRS = 1 << 24
"""The most pairs of samples whose base quantity is kept for several decisions on a block."""
FEW_ROWS = 64
"""Up to this many samples, features are cheaper than folding maps into coefficients."""

Scaling = tuple[Sequence[Projector], Array]
"""The projectors of a weighted sum, and their weights."""


class RowBlock:
    """A block of new samples, and the columns that maps have computed from it.

    Parameters
    ----------
    rows : Rows or ndarray of shape (n, d)
        The samples with all columns.
    keep : bool, default=False
        Whether a map's columns are kept for later decisions, which is worth the memory if decisions
        share maps.
    known : sequence of (FittedMap, ndarray), default=()
        Columns that are already available.
    scratch : Scratch, optional
        Memory for similarities that the next block reuses.
    scaling : (sequence of Projector, ndarray of shape (M,)), optional
        The views of a weighted sum and their weights, by which all computed columns are scaled for
        samples that miss sources.
    several : bool, default=False
        Whether several decisions follow, whose maps may share training samples: base quantities of
        all of these are then computed once.

    See Also
    --------
    BlockDecision : The decisions that take it.

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
        rows: Any,
        keep: bool = False,
        known: Sequence[tuple[FittedMap, Array]] = (),
        scratch: Scratch | None = None,
        scaling: Scaling | None = None,
        several: bool = False,
    ) -> None:
        self.rows = Rows.of(rows)
        self.keep = keep
        self.several = several
        self._bases: dict[tuple[str, int, int], Array] = {}
        self.scaling = scaling
        self._columns = {id(fitted): (fitted, columns) for fitted, columns in known}
        self._similar: dict[int, Array] = {}
        self._scratch = scratch
        if scratch is not None:
            scratch.reset()

    def __len__(self) -> int:
        """Return the number of samples n."""
        return len(self.rows)

    def take(self, members: NDArray[np.intp]) -> RowBlock:
        """Return some of the samples as a block, with the columns that are available.

        Parameters
        ----------
        members : ndarray of int of shape (k,)
            Positions in the block.

        Returns
        -------
        RowBlock
            The block of these samples.
        """
        known = [(fitted, columns[members]) for fitted, columns in self._columns.values()]
        return RowBlock(self.rows[members], known=known, scaling=self.scaling)

    def missing_of(self, projectors: Sequence[Projector]) -> Mask:
        """Return which samples miss each view's source.

        Parameters
        ----------
        projectors : sequence of Projector
            The projectors of M views.

        Returns
        -------
        ndarray of bool of shape (n, M), or None
            None if nothing is missing.
        """
        return self.rows.missing_of(projectors)

    def scaled(self, columns: Array, projectors: Sequence[Projector], weights: Array) -> Array:
        """Return columns, scaled for samples that miss sources of a weighted sum.

        Parameters
        ----------
        columns : ndarray of shape (n, ...)
            Similarities or features of a weighted sum.
        projectors : sequence of Projector
            The projectors of its M views.
        weights : ndarray of shape (M,)
            Their weights.

        Returns
        -------
        ndarray of shape (n, ...)
            The columns times √(Σ w_m / s(x)), with s(x) the sum of the weights of the sources that
            sample x has; unchanged if nothing is missing.
        """
        missing = self.missing_of(projectors)
        return columns if missing is None else times_rows(columns, sample_scale(missing, weights))

    def present_weights(self, projectors: Sequence[Projector], weights: Array) -> Array | None:
        """Return the weights of the sources that each sample has.

        Parameters
        ----------
        projectors : sequence of Projector
            The projectors of M views.
        weights : ndarray of shape (M,)
            Their weights.

        Returns
        -------
        ndarray of shape (n, M), or None
            Zero for missing sources, with the sum of all weights; None if nothing is missing.
        """
        missing = self.missing_of(projectors)
        return None if missing is None else present_weights(missing, weights)

    def scores(self, projectors: Sequence[Projector], learners: Sequence[FittedLearner]) -> Array:
        """Return each learner's decision values on its view.

        Parameters
        ----------
        projectors : sequence of Projector
            The projectors of M views.
        learners : sequence of FittedLearner
            The learner of each.

        Returns
        -------
        ndarray of shape (n, M)
            The values, 0 where a sample misses the source.
        """
        values = np.empty((len(self), len(projectors)))
        for index, columns in self.columns_of(projectors):
            values[:, index] = learners[index].decide(columns)
        missing = self.missing_of(projectors)
        return values if missing is None else np.where(missing, 0.0, values)

    @cached_property
    def _scale(self) -> Array | None:
        if self.scaling is None:
            return None
        missing = self.missing_of(self.scaling[0])
        return None if missing is None else sample_scale(missing, self.scaling[1])

    def prepare(self, projectors: Sequence[Projector]) -> None:
        """Compute columns that later calls request one by one, so that kernels share distances.

        Parameters
        ----------
        projectors : sequence of Projector
            The projectors of the views.
        """
        deque(self.raw_columns_of(projectors), maxlen=0)

    def columns_of(self, projectors: Sequence[Projector]) -> Iterator[tuple[int, Array]]:
        """Yield the columns of views; kernels with the same base quantity share it.

        Parameters
        ----------
        projectors : sequence of Projector
            The projectors of the views.

        Yields
        ------
        index : int
            The position of the projector; in any order.
        columns : ndarray of shape (n, p) or (n, N)
            Its columns, read-only.
        """
        for index, columns, _ in self.raw_columns_of(projectors, fold=False):
            yield index, columns

    def raw_columns_of(
        self, projectors: Sequence[Projector], fold: bool = True
    ) -> Iterator[tuple[int, Array, bool]]:
        """Yield the columns of views, or only the similarities to landmarks where these are enough.

        Parameters
        ----------
        projectors : sequence of Projector
            The projectors of the views.
        fold : bool, default=True
            Whether a map that is ``linear`` in its similarities yields these instead of features.

        Yields
        ------
        index : int
            The position of the projector; in any order.
        columns : ndarray of shape (n, p) or (n, r)
            Its columns, read-only.
        raw : bool
            Whether they are only the similarities to the map's r landmarks.
        """
        fresh = []
        for index, projector in enumerate(projectors):
            fitted = projector.map
            if id(fitted) in self._columns:
                yield index, self._columns[id(fitted)][1], False
            elif id(fitted) in self._similar and fold:
                yield index, self._similar[id(fitted)], True
            elif fitted.from_landmarks:
                values = self._of_shared_rows(projector) if self.several else None
                if values is None:
                    fresh.append(index)
                else:
                    yield index, self._where_present(values, projector), False
            else:
                (rows,) = self.rows.arrays_of([projector])
                columns = self._where_present(fitted.transform(rows), projector)
                if self.keep:
                    self._columns[id(fitted)] = fitted, columns
                yield index, columns, False
        if fresh:
            used = [projectors[index] for index in fresh]
            kernels = [projector.map.kernel for projector in used]
            own_rows = KernelRows.of(kernels, self.rows.arrays_of(used))
            kept = {id(held): held for held in (projector.map.kept for projector in used)}
            read = {
                key: held.read() if isinstance(held, SomeRows) else held
                for key, held in kept.items()
            }
            landmarks = KernelRows.of(kernels, [read[id(p.map.kept)] for p in used])
            computed = own_rows.similarities(landmarks, self._scratch)
            for place, values in computed:
                fitted = used[place].map
                raw = fold and fitted.linear
                columns = values if raw else fitted.from_similarities(values)
                columns = self._where_present(columns, used[place])
                if self.keep and raw:
                    self._similar[id(fitted)] = columns
                elif self.keep:
                    self._columns[id(fitted)] = fitted, columns
                yield fresh[place], columns, raw

    def _of_shared_rows(self, projector: Projector) -> Array | None:
        """Return the similarities to a part of an array that maps share; None if there is none.

        The base quantity of all samples of that array is computed for the first of the maps.
        """
        kept, kernel = projector.map.kept, projector.map.kernel
        if not isinstance(kept, SomeRows) or not is_scalar(kernel):
            return None
        if len(self) * len(kept.rows) > SHARED_PAIRS:
            return None
        (rows,) = self.rows.arrays_of([projector])
        key = kernel.base, id(rows), id(kept.rows)
        if key not in self._bases:
            # Those of a training sample are side by side: maps take some of these samples.
            self._bases[key] = BASES[kernel.base](kept.rows, rows)
        base = self._bases[key][kept.members]
        return kernel.of(base, np.empty_like(base)).T

    def _where_present(self, columns: Array, projector: Projector) -> Array:
        """Return columns, zero for samples that miss the source, and scaled for others.

        Similarities are zero for training samples that miss it too.
        """
        missing = self.missing_of([projector])
        scale = self._scale
        if missing is None and projector.missing is None and scale is None:
            return columns
        if not projector.map.from_landmarks:
            columns = columns.copy()  # They may be the map's own.
        zeroed(columns, None if missing is None else missing[:, 0], projector.missing)
        return columns if scale is None else times_rows(columns, scale, out=columns)


class BlockDecision(ABC):
    """Template for a decision function that is implemented for one block of samples.

    A subclass implements :meth:`decide_block`; a decision also has the attribute ``weights``, (M,).
    Decisions that share maps, as those of several classes, are evaluated on the same block one
    after another, and each map's columns are computed once.

    Attributes
    ----------
    projectors : sequence of Projector
        The projectors of the views that it uses; by default none.
    learners : sequence of FittedLearner
        The fitted learners; by default none.

    See Also
    --------
    RowBlock : The block, which computes the views' columns.
    WeightedDecision : The decision of one learner on a weighted sum.

    Examples
    --------
    >>> import numpy as np
    >>> @attrs.frozen(eq=False)
    ... class FirstColumn(BlockDecision):
    ...     weights: np.ndarray
    ...     def decide_block(self, block):
    ...         return np.asarray(block.rows)[:, 0]
    >>> FirstColumn(np.ones(1)).decide(np.array([[2.0, 9.0], [-1.0, 9.0]])).tolist()
    [2.0, -1.0]
    """

    __slots__ = ()

    @property
    def projectors(self) -> Sequence[Projector]:
        """The projectors of the views that it uses, if it has any."""
        return ()

    @property
    def learners(self) -> Sequence[FittedLearner]:
        """The fitted learners, if it has any."""
        return ()

    def with_projectors(self, projectors: Sequence[Projector]) -> Self:
        """Return the decision with other projectors, which compute the same columns.

        Parameters
        ----------
        projectors : sequence of Projector
            One for each of :attr:`projectors`.

        Returns
        -------
        BlockDecision
            A copy with these; the decision itself, the default, if it can't replace its own.
        """
        return self

    @abstractmethod
    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values of one block of samples.

        Parameters
        ----------
        block : RowBlock
            At most 1,024 samples.

        Returns
        -------
        ndarray of shape (n,) or (n, G)
            The values; G columns for the points of a grid or for several targets.
        """

    def split_block(self, block: RowBlock) -> Array:
        """Return what each view adds to the decision values of a block.

        Only values that are sums over views can be split.

        Parameters
        ----------
        block : RowBlock
            At most 1,024 samples.

        Returns
        -------
        ndarray of shape (n, M + 1) or (n, M + 1, T)
            The part of each view and, last, the constant; T for several targets. They sum to the
            values.

        Raises
        ------
        IncompatibleError
            By default, because the values need not be a sum over views.
        """
        raise IncompatibleError(NO_SUM)

    def decide(self, rows: Array | Rows) -> Array:
        """Return the decision values of samples, block by block.

        Parameters
        ----------
        rows : Rows or ndarray of shape (n, d)
            New samples with all columns.

        Returns
        -------
        ndarray of shape (n,) or (n, G)
            The values.
        """
        rows = Rows.of(rows)
        if len(rows) <= BLOCK_ROWS:
            return self.decide_block(RowBlock(rows))
        blocks = row_blocks(len(rows), BLOCK_ROWS)
        return np.concatenate([self.decide_block(RowBlock(rows[block])) for block in blocks])


def decide_block(decision: Decision, block: RowBlock) -> Array:
    """Return any decision's values on one block of samples."""
    if isinstance(decision, BlockDecision):
        return decision.decide_block(block)
    # A decision that is not derived from the base gets an array if that is all there is.
    rows: Any = block.rows
    return decision.decide(np.asarray(rows) if rows.plain else rows)


def decide_all(decisions: Sequence[Decision], rows: Rows, shared: bool = False) -> Array:
    """Return the values of decisions on samples (n, d), side by side, block by block.

    If the decisions are ``shared``, their maps' columns are computed once for all.
    """

    def decide(block: RowBlock) -> Array:
        return np.column_stack([decide_block(decision, block) for decision in decisions])

    return _by_block(decide, rows, shared and len(decisions) > 1, len(decisions) > 1)


def split_all(decisions: Sequence[Decision], rows: Rows, shared: bool = False) -> Array:
    """Return what each view and the constant add to the values of decisions, (n, M + 1, values)."""

    def split(block: RowBlock) -> Array:
        parts = []
        for decision in decisions:
            if not isinstance(decision, BlockDecision):
                raise IncompatibleError(NO_SUM)
            part = decision.split_block(block)
            parts.append(part.reshape(*part.shape[:2], -1))
        return np.concatenate(parts, axis=2)

    return _by_block(split, rows, shared and len(decisions) > 1, len(decisions) > 1)


def _by_block(
    of_block: Callable[[RowBlock], Array], rows: Rows, keep: bool, several: bool
) -> Array:
    def of_place(place: slice) -> Array:
        return of_block(RowBlock(rows[place], keep=keep, several=several))

    places = list(row_blocks(len(rows), BLOCK_ROWS))
    return np.concatenate(list((map if len(places) == 1 else each)(of_place, places)))


def with_support(projectors: Sequence[Projector], support: NDArray[np.intp]) -> list[Projector]:
    """Return the projectors reduced to some training samples, if the maps support it.

    Projectors that shared their training samples share the samples that are kept.
    """
    kept: dict[int, Array] = {}
    trimmed = []
    for projector in projectors:
        fitted = projector.map
        if not fitted.explicit and fitted.from_landmarks and isinstance(fitted.kept, SomeRows):
            fitted = fitted.with_shared(fitted.kept.take(support))
        elif not fitted.explicit and fitted.from_landmarks:
            key = id(fitted.landmarks)
            if key not in kept:
                kept[key] = fitted.landmarks[support]
            fitted = fitted.with_landmarks(kept[key])
        missing = None if projector.missing is None else projector.missing[support]
        trimmed.append(attrs.evolve(projector, map=fitted, missing=missing))
    return trimmed


def weighted_columns(
    block: RowBlock, projectors: Sequence[Projector], scales: Array, explicit: bool
) -> Array:
    """Return the sum of the projectors' columns times their scales, or features side by side.

    Explicit features are scaled by the roots and put side by side. Samples that miss sources are
    scaled by the weight of those that they have.
    """
    if explicit:
        columns = dict(block.columns_of(projectors))
        parts = [np.sqrt(scale) * columns[index] for index, scale in enumerate(scales)]
        return block.scaled(np.hstack(parts), projectors, scales)
    total: Any = None
    for index, values in block.columns_of(projectors):
        scaled = values * values.dtype.type(scales[index])
        total = scaled if total is None else np.add(total, scaled, out=total)
    return scaled_pairs(np.asarray(total), block, projectors, scales)


def scaled_pairs(
    columns: Array, block: RowBlock, projectors: Sequence[Projector], weights: Array
) -> Array:
    """Return a weighted sum's similarities (n, N), scaled by the sources that both samples have."""
    columns = block.scaled(columns, projectors, weights)
    masks = [projector.missing for projector in projectors]
    if all(mask is None for mask in masks):
        return columns
    every = np.zeros(columns.shape[1], bool)
    missing = np.column_stack([every if mask is None else mask for mask in masks])
    return columns * sample_scale(missing, weights).astype(columns.dtype)
