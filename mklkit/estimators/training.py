"""Steps that all estimators share: from checked data to the views of each binary problem."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError, SpecError
from mklkit.estimators.column_kinds import Holds
from mklkit.estimators.multiclass import Strategy
from mklkit.estimators.own_columns import own_columns
from mklkit.estimators.problems import Problem
from mklkit.estimators.table_reading import placed_kernels
from mklkit.protocols import (
    Array,
    CombinerFacts,
    FeatureMap,
    FeatureMapFacts,
    LearnerFacts,
    Rows,
    RowSource,
    TableRows,
    Target,
    facts_of,
)
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.deciding import RowBlock
from mklkit.views.duration import say_if_long
from mklkit.views.engines import engine_of
from mklkit.views.known_pairs import KnownPairs, PairStore
from mklkit.views.memory import check_gram_fits
from mklkit.views.row_parts import rows_at
from mklkit.views.view_set import ViewSet

__all__ = ["ProblemViews", "bind_to_columns", "choose_strategy"]

WORTH_KEEPING = 2**28
"""Bytes of similarities of held-out rows that are kept for all decisions of a problem."""

BANDWIDTHS = ("per-problem", "all-rows")


def bind_to_columns(kernels: Any, estimator: Any) -> list[BoundKernel]:
    """Return the kernels with their columns as positions in the training data.

    Those that name no columns use what they can read and no other kernel has as its own, as
    :func:`own_columns` says.

    Raises
    ------
    DataError
        If a kernel's columns do not exist, it can't read them, or none are left for it.
    """
    names = getattr(estimator, "feature_names_in_", None)
    names = None if names is None else list(names)
    n_columns, reading = estimator.n_features_in_, estimator._table_reading
    resolved = placed_kernels(kernels, n_columns, names)
    holds: Sequence[Holds] = ["numbers"] * n_columns if reading is None else reading.holds
    return own_columns(resolved, holds, names)


def choose_strategy(multiclass: str, combiner: Any, learner: Any) -> Strategy:
    """Return the multiclass strategy.

    Raises
    ------
    IncompatibleError
        If ``"native"`` is required of components that handle only two classes.
    """
    native = [
        "several classes" in facts_of(combiner, CombinerFacts).tasks,
        "several classes" in facts_of(learner, LearnerFacts).tasks,
    ]
    if multiclass == "native" and not all(native):
        part = learner if native[0] else combiner
        raise IncompatibleError(
            f"{part.name} handles two classes only; for more use multiclass='ovo' or 'ovr'."
        )
    return cast(Strategy, multiclass)


class ProblemViews:
    """The views of each binary problem on some training rows.

    A map whose facts state ``shared`` (a random subset) is fitted once on all rows, and each
    problem uses its rows of the features; any other is fitted on each problem's own rows.

    Parameters
    ----------
    kernels : sequence of BoundKernel
    feature_map : FeatureMap
    rows : ndarray of shape (N, d)
    values : ndarray of shape (N,)
        Class numbers, or numbers to be learned.
    seed : int
        The seed of the shared map.
    bandwidths : {"per-problem", "all-rows"}
        Whether kernels are fitted on each problem's own rows or once on all of them.
    max_memory : int, optional
        Bytes that features and sums over them may take; half of what is free where not given.
    keep : bool, default=False
        Whether each problem's views are kept for other fits on the same rows.
    store : PairStore, optional
        The rows of which these are a part, with quantities of their pairs.
    places : ndarray of shape (N,), optional
        Which part.
    row_weights : ndarray of shape (N,), optional
        How much each row counts; all the same where not given.

    Raises
    ------
    SpecError
        If ``bandwidths`` is neither.
    """

    def __init__(
        self,
        kernels: Sequence[BoundKernel],
        feature_map: FeatureMap,
        rows: Rows,
        values: NDArray[Any],
        seed: int,
        bandwidths: str,
        max_memory: int | None = None,
        keep: bool = False,
        store: PairStore | None = None,
        places: NDArray[np.intp] | None = None,
        row_weights: Array | None = None,
    ) -> None:
        if bandwidths not in BANDWIDTHS:
            raise SpecError(
                f"bandwidths must be one of {', '.join(map(repr, BANDWIDTHS))};"
                f" got {bandwidths!r:.80}."
            )
        if bandwidths == "all-rows":
            fitted, _ = fit_kernels(kernels, rows, row_weights)
            pairs = zip(kernels, fitted, strict=True)
            kernels = [attrs.evolve(bound, fitted=one) for bound, one in pairs]
        self.values = values
        self._row_weights = row_weights
        self.shared: ViewSet | None = None
        self._kernels = kernels
        self._map = feature_map
        self._facts = facts_of(feature_map, FeatureMapFacts)
        if isinstance(rows, RowSource) and not self._facts.shared:
            _refuse_distributed(rows, feature_map)
            check_gram_fits(len(rows), rows.dtype.itemsize)
            rows = rows_at(rows, slice(0, len(rows)))
        self._rows = rows
        self._memory = max_memory
        self._keep = keep
        self._store = store
        self._places = np.arange(len(rows)) if places is None else places
        self._blocks: dict[tuple[Any, ...], tuple[Array, RowBlock]] = {}
        self._made: dict[tuple[Any, ...], tuple[ViewSet, Target, np.random.RandomState]] = {}
        if self._facts.shared:
            draw = np.random.RandomState(seed)
            self.shared = ViewSet.fit(
                kernels, feature_map, rows, draw, max_memory, row_weights=row_weights
            )
            # Computed here, before several threads need them at the same time.
            if self.shared.blocks is not None:
                self.shared.blocks.keep_small()

    def say_if_long(self, problems: Sequence[Problem]) -> None:
        """Report the expected time for the Gram matrices of these problems, if it is long."""
        if not self._facts.explicit:
            pairs = sum(float(len(problem.rows(self.values))) ** 2 for problem in problems)
            say_if_long(self._kernels, rows_at(self._rows, slice(0, len(self._rows))), pairs)

    @property
    def n_bytes(self) -> int:
        """The memory of what is kept."""
        kept: list[ViewSet | RowBlock] = [] if self.shared is None else [self.shared]
        kept += [views for views, _, _ in list(self._made.values())]
        kept += [block for _, block in list(self._blocks.values())]
        rows = self._rows if isinstance(self._rows, TableRows) else np.asarray(self._rows)
        return int(rows.nbytes) + sum(part.n_bytes for part in kept)

    def of(self, problem: Problem, seed: int) -> tuple[ViewSet, Target, np.random.RandomState]:
        """Return a problem's views, its target, and its random state after that."""
        key = problem.key, int(seed)
        if key in self._made:
            views, target, random_state = self._made[key]
            return views, target, deepcopy(random_state)
        random_state = np.random.RandomState(seed)
        views, target = self._make(problem, random_state)
        if self._keep:
            self._made[key] = views, target, deepcopy(random_state)
        return views, target, random_state

    def _make(
        self, problem: Problem, random_state: np.random.RandomState
    ) -> tuple[ViewSet, Target]:
        members = problem.rows(self.values)
        weights = None if self._row_weights is None else self._row_weights[members]
        target = problem.target(self.values[members], self._rows.dtype, weights)
        everyone = len(members) == len(self._rows)
        if self.shared is not None:
            return (self.shared if everyone else self.shared.restricted(members)), target
        if not self._facts.explicit:
            check_gram_fits(len(members), self._rows.dtype.itemsize)
        rows = self._rows if everyone else self._rows[members]
        views = ViewSet.fit(
            self._kernels,
            self._map,
            rows,
            random_state,
            self._memory,
            partial(self._pairs, self._places[members]),
            weights,
        )
        return views, target

    def _pairs(self, places: NDArray[np.intp], columns: Any) -> KnownPairs | None:
        return None if self._store is None else self._store.of(columns, places)

    def block(
        self, problem: Problem, seed: int, rows: Array, places: NDArray[np.intp]
    ) -> RowBlock | None:
        """Return other rows of the store as a block for all decisions of a problem.

        None if their columns take too much memory to be kept.
        """
        views, _, _ = self.of(problem, seed)
        limit = WORTH_KEEPING if self._memory is None else min(WORTH_KEEPING, self._memory // 4)
        if len(rows) * len(views.rows) * len(views) * self._rows.dtype.itemsize > limit:
            return None
        key = problem.key, int(seed)
        known, block = self._blocks.get(key, (None, None))
        if block is None or known is not rows:
            block = views.block_of(rows, partial(self._pairs, places))
            self._blocks[key] = rows, block
        return block


def _refuse_distributed(rows: RowSource, feature_map: FeatureMap) -> None:
    """Refuse rows on a cluster for a map that needs all of them in one place."""
    if not engine_of(rows).local:
        raise IncompatibleError(
            f"The feature map {feature_map.name!r} with these parameters needs all rows in one"
            " place, and they are on Dask's workers: use feature_map='empirical(subset=1000)',"
            " learner='mhks'."
        )
