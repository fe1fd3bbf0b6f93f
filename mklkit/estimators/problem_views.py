"""The views of an estimator's problems, and where several fits on the same rows share them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from threading import RLock
from typing import Any, Self, TypeVar

import attrs
import numpy as np

from mklkit.errors import IncompatibleError
from mklkit.estimators.plan import Plan
from mklkit.estimators.problems import Problem
from mklkit.estimators.training_data import TrainingData, digest_of
from mklkit.protocols import Array, FeatureMapFacts, RowSource, TableRows, Target, facts_of
from mklkit.protocols.defaults import FOR_LARGE_DATA
from mklkit.views.bound_kernels import fit_kernels, say_if_long
from mklkit.views.deciding import RowBlock
from mklkit.views.engines import engine_of
from mklkit.views.known_pairs import KnownPairs, PairStore
from mklkit.views.memory import check_gram_fits, memory_limit
from mklkit.views.rows import rows_at
from mklkit.views.view_set import ViewSet

__all__ = ["ProblemViews", "SharedViews", "SharesViews", "same_key"]

Result = TypeVar("Result")

WORTH_KEEPING = 2**28
"""Bytes of similarities of held-out rows that are kept for all decisions of a problem."""


class ProblemViews:
    """The views of each problem on some training rows.

    A map whose facts state ``shared`` (a random subset) is fitted once on all rows, and each
    problem uses its rows of the features; any other is fitted on each problem's own rows.

    Parameters
    ----------
    plan : Plan
    data : TrainingData
    seed : int
        The seed of the shared map.
    keep : bool, default=False
        Whether each problem's views are kept for other fits on the same rows.
    store : PairStore, optional
        The rows of which these are a part, with quantities of their pairs.
    """

    def __init__(
        self,
        plan: Plan,
        data: TrainingData,
        seed: int,
        keep: bool = False,
        store: PairStore | None = None,
    ) -> None:
        self._facts = facts_of(plan.feature_map, FeatureMapFacts)
        if plan.bandwidths == "all-rows":
            fitted, _ = fit_kernels(plan.kernels, data.rows, data.row_weights)
            pairs = zip(plan.kernels, fitted, strict=True)
            kernels = tuple(attrs.evolve(bound, fitted=kernel) for bound, kernel in pairs)
            plan = attrs.evolve(plan, kernels=kernels)
        if isinstance(data.rows, RowSource) and not self._facts.shared:
            data = _in_memory(plan, data)
        self.plan, self.data = plan, data
        self._keep, self._store = keep, store
        self._places = np.arange(len(data.rows)) if data.places is None else data.places
        self._blocks: dict[tuple[Any, ...], tuple[Any, RowBlock]] = {}
        self._made: dict[tuple[Any, ...], tuple[ViewSet, Target, np.random.RandomState]] = {}
        self._shared: ViewSet | None = None
        if self._facts.shared:
            self._shared = self._fitted(data.rows, data.row_weights, np.random.RandomState(seed))
            # Computed here, before several threads need them at the same time.
            if self._shared.blocks is not None:
                self._shared.blocks.keep_small()

    def say_if_long(self, problems: Sequence[Problem]) -> None:
        """Report the expected time for the Gram matrices of these problems, if it is long."""
        if not self._facts.explicit:
            pairs = sum(float(len(problem.rows(self.data.values))) ** 2 for problem in problems)
            say_if_long(self.plan.kernels, self.data.rows, pairs)

    @property
    def n_bytes(self) -> int:
        """The memory of what is kept."""
        kept: list[ViewSet | RowBlock] = [] if self._shared is None else [self._shared]
        kept += [views for views, _, _ in list(self._made.values())]
        kept += [block for _, block in list(self._blocks.values())]
        rows: Any = self.data.rows
        return int(rows.nbytes) + sum(part.n_bytes for part in kept)

    def of(self, problem: Problem, seed: int) -> tuple[ViewSet, Target, np.random.RandomState]:
        """Return a problem's views, its target, and its random state after that."""
        if not self._keep:
            return self._make(problem, seed)
        key = problem.key, int(seed)
        if key not in self._made:
            self._made[key] = self._make(problem, seed)
        views, target, random_state = self._made[key]
        return views, target, deepcopy(random_state)

    def _make(self, problem: Problem, seed: int) -> tuple[ViewSet, Target, np.random.RandomState]:
        random_state = np.random.RandomState(seed)
        rows, values, weights = self.data.rows, self.data.values, self.data.row_weights
        members = problem.rows(values)
        every = len(members) == len(rows)
        weights = None if weights is None else weights[members]
        target = problem.target(values[members], rows.dtype, weights)
        if self._shared is not None:
            views = self._shared if every else self._shared.restricted(members)
        else:
            if not self._facts.explicit:
                check_gram_fits(len(members), rows.dtype.itemsize)
            rows = rows if every else rows[members]
            pairs = None
            if self._store is not None:
                pairs = partial(_pairs_at, self._store, self._places[members])
            views = self._fitted(rows, weights, random_state, pairs)
        return views, target, random_state

    def _fitted(
        self,
        rows: Any,
        row_weights: Array | None,
        random_state: np.random.RandomState,
        pairs: Callable[[Any], KnownPairs | None] | None = None,
    ) -> ViewSet:
        plan = self.plan
        return ViewSet.fit(
            plan.kernels, plan.feature_map, rows, random_state, plan.max_memory, pairs, row_weights
        )

    def block(self, problem: Problem, seed: int, held_out: TrainingData) -> RowBlock | None:
        """Return other rows of the store as a block for all decisions of a problem.

        None if their columns take too much memory to be kept.
        """
        views, _, _ = self.of(problem, seed)
        rows: Any = held_out.rows
        memory, places = self.plan.max_memory, held_out.places
        limit = WORTH_KEEPING if memory is None else min(WORTH_KEEPING, memory // 4)
        if len(rows) * len(views.rows) * len(views) * views.rows.dtype.itemsize > limit:
            return None
        key = problem.key, int(seed)
        known, block = self._blocks.get(key, (None, None))
        if block is None or known is not rows:
            store = self._store
            pairs = None if store is None else partial(_pairs_at, store, places)
            block = views.block_of(rows, pairs)
            self._blocks[key] = rows, block
        return block


def _pairs_at(store: PairStore, places: Any, columns: Any) -> KnownPairs | None:
    return store.of(columns, places)


def _in_memory(plan: Plan, data: TrainingData) -> TrainingData:
    """Return rows for a map that needs all of them in one place; refuse those on a cluster."""
    if not engine_of(data.rows).local:
        raise IncompatibleError(
            f"The feature map {plan.feature_map.name!r} with these parameters needs all rows in one"
            f" place, and they are on Dask's workers: use {FOR_LARGE_DATA}."
        )
    check_gram_fits(len(data.rows), data.rows.dtype.itemsize)
    return attrs.evolve(data, rows=rows_at(data.rows, slice(0, len(data.rows))))


class SharedViews:
    """Views by the rows, labels and components that they were made of, the latest last.

    What a search or a comparison hands to its fits. Results are those of separate fits.

    Parameters
    ----------
    max_memory : int or str, optional
        What is kept beyond it is forgotten and made again when needed; half of what is free where
        not given.
    """

    def __init__(self, max_memory: int | str | None = None) -> None:
        self.max_memory = memory_limit(max_memory)
        self._views: OrderedDict[Any, ProblemViews] = OrderedDict()
        self._stores: dict[Any, PairStore] = {}
        self._small: dict[Any, Any] = {}
        self._lock = RLock()

    def of(self, plan: Plan, data: TrainingData, seed: int) -> ProblemViews:
        """Return the views of an estimator's problems: those of a former fit where there are."""
        if not isinstance(data.rows, np.ndarray | TableRows):
            return ProblemViews(plan, data, seed)
        kernels = tuple((k.label, same_key(k.kernel), digest_of(k.columns)) for k in plan.kernels)
        settings = same_key(plan.feature_map), int(seed), plan.bandwidths, plan.max_memory
        key = kernels, settings, data.digest
        with self._lock:
            views = self._views.pop(key, None)
            if views is None:
                views = ProblemViews(plan, data, seed, keep=True, store=self._store(data))
            self._views[key] = views
            self._forget_what_is_too_much()
        return views

    def small(self, key: Any, data: TrainingData, make: Callable[[], Result]) -> Result:
        """Return what follows from data and takes little memory, made if it is not there."""
        if not isinstance(data.rows, np.ndarray):
            return make()
        with self._lock:
            if (key, data.digest[:2]) not in self._small:
                self._small[key, data.digest[:2]] = make()
            result: Result = self._small[key, data.digest[:2]]
            return result

    def _store(self, data: TrainingData) -> PairStore | None:
        """Return the pairs of all rows of a search; of others only if these are such rows."""
        key = data.digest[0 if data.whole is None else 3]
        if key not in self._stores and data.whole is not None:
            # The latest alone: searches follow each other on other rows.
            limit = None if self.max_memory is None else self.max_memory // 2
            self._stores = {key: PairStore(data.whole, limit)}
        return self._stores.get(key)

    def _forget_what_is_too_much(self) -> None:
        if self.max_memory is None:
            return
        sizes = {key: views.n_bytes for key, views in self._views.items()}
        for key in list(self._views)[:-1]:
            if sum(sizes.values()) <= self.max_memory:
                return
            del self._views[key], sizes[key]


class SharesViews(ABC):
    """An estimator that can take its views from where several fits share them."""

    @abstractmethod
    def fit_sharing(
        self, shared: SharedViews | None, X: Any, y: Any, sample_weight: Any = None
    ) -> Self:
        """Fit as ``fit`` does; ``shared`` is None for a fit by itself."""


def same_key(value: Any) -> Any:
    """Return what values have in common that may replace each other, of parameters or components.

    The caller keeps values that can't be hashed, such as components with an array: only their
    identity is known.
    """
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
