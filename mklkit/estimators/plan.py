"""The plan of a fit, which settles an estimator's parameters; and the views of its problems.

Several fits on the same rows may share views, whose Gram matrices are then computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.combiners.templates.fixed_shares import FixedShares
from mklkit.errors import IncompatibleError, SpecError, quoted
from mklkit.estimators.lacking import accepted, refuse_without_source
from mklkit.estimators.problems import Problem
from mklkit.estimators.sources import kernels_by_kind
from mklkit.estimators.table_reading import TableReading
from mklkit.estimators.training_data import TrainingData, as_source, checked_rows
from mklkit.protocols import (
    Array,
    Combiner,
    FeatureMapFacts,
    Missing,
    Rows,
    RowSource,
    TableRows,
    Target,
    Task,
    facts_of,
    protected,
    result_of,
)
from mklkit.protocols.component import FOR_LARGE_DATA, LEARNER, MISSING, RIDGE
from mklkit.registry.columns import are_proposed, bind_kernels, kernels_beside, proposed_for
from mklkit.registry.composing import check_gives_weights, choose_components
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel, fit_kernels, say_if_long
from mklkit.views.deciding import RowBlock
from mklkit.views.engines import engine_of
from mklkit.views.memory import check_gram_fits, memory_given
from mklkit.views.rows import PairStore, rows_at
from mklkit.views.view_set import ViewSet

BANDWIDTHS = ("per-problem", "all-rows")


@attrs.frozen(eq=False)
class Plan:
    """An estimator's parameters, settled before the fit.

    ``kernels`` are bound to columns of the table, which is read as ``reading`` says; if
    ``proposed``, they tell how to read the columns until others are proposed from rows and target,
    for each of ``sources`` (empty if these are recognised by name), along with the better of
    ``learners`` (empty if the learner is given). ``bandwidths`` tells whether kernels are fitted to
    each problem's own rows or to all of them; ``max_memory`` is in bytes, for features and sums
    over them; ``n_jobs`` threads run problems. ``missing`` is the strategy for rows that lack
    sources. ``notes`` report on gaps, proposed kernels and default choices.
    """

    kernels: tuple[BoundKernel, ...]
    feature_map: Any
    combiner: Any
    learner: Any
    reading: TableReading
    proposed: bool = False
    sources: tuple[str, ...] = ()
    learners: tuple[Any, ...] = ()
    task: Task = "two classes"
    bandwidths: str = "per-problem"
    max_memory: int | None = None
    n_jobs: int | None = None
    missing: Any = MISSING
    notes: tuple[str, ...] = ()

    @property
    def components(self) -> tuple[Any, ...]:
        """The kernels, the feature map, the combiner and the learner."""
        kernels = (bound.kernel for bound in self.kernels)
        return (*kernels, self.feature_map, self.combiner, self.learner)

    @property
    def weighting(self) -> Any:
        """The combiner, wrapped to respect fixed shares and a strategy if there are any."""
        shares = [bound.facts.share for bound in self.kernels]
        combiner = FixedShares(self.combiner, shares) if any(shares) else self.combiner
        if self.missing == MISSING:
            return combiner
        return result_of(self.strategy, "around", self.strategy.around(combiner), Combiner)

    @property
    def strategy(self) -> Missing:
        """The strategy for rows that lack sources, as an object."""
        strategy: Missing = get_registry().create("missing", self.missing)
        return strategy


def plan_of(
    estimator: Any,
    task: Task,
    reading: TableReading,
    kernels: Sequence[BoundKernel],
    weighted: bool = False,
) -> Plan:
    """Return an estimator's plan for a table, with the kernels bound to its columns.

    ``weighted``: whether rows count differently.
    """
    parts = estimator.combiner, estimator.feature_map, estimator.learner
    choice = choose_components(*parts, task=task, weighted=weighted)
    if estimator.bandwidths not in BANDWIDTHS:
        raise SpecError(
            f"bandwidths must be one of {', '.join(map(repr, BANDWIDTHS))};"
            f" got {estimator.bandwidths!r:.80}."
        )
    shares = {bound.label: bound.facts.share for bound in kernels if bound.facts.share}
    if shares:
        lacking = f"kernel {quoted(next(iter(shares)))} can't have a fixed share of it"
        check_gives_weights(choice.combiner, task, lacking)
        if sum(shares.values()) >= 1 and len(shares) < len(kernels):
            raise SpecError(f"The shares {shares} leave other kernels no weight: lower them.")
    proposed = are_proposed(estimator.kernels)
    is_open = proposed and estimator.learner is None and choice.learner.name == LEARNER
    return Plan(
        tuple(kernels),
        choice.feature_map,
        choice.combiner,
        choice.learner,
        reading,
        proposed=proposed,
        sources=proposed_for(estimator.kernels) or (),
        learners=(get_registry().create("learner", RIDGE), choice.learner) if is_open else (),
        task=task,
        bandwidths=estimator.bandwidths,
        max_memory=None if estimator.max_memory is None else memory_given(estimator.max_memory),
        n_jobs=estimator.n_jobs,
        missing=estimator.missing,
        notes=(*reading.notes, *choice.notes),
    )


def on_kernels(plan: Plan) -> Plan:
    """Return the plan with an implicit map if nothing needs features.

    A full empirical map gives the same result, at the cost of an eigendecomposition per kernel.
    """
    facts = facts_of(plan.feature_map, FeatureMapFacts)
    definite = all(bound.facts.definite for bound in plan.kernels)
    if not (facts.reproduces and definite and plan.combiner.on_kernels(plan.learner)):
        return plan
    return attrs.evolve(plan, feature_map=get_registry().create("feature_map", facts.instead))


def kernels_to_bind(kernels: Any, task: Task, X: Any = None) -> list[BoundKernel]:
    """Return an estimator's kernels, or default ones for what its table holds."""
    if not are_proposed(kernels):
        return bind_kernels(kernels)
    if task == "none":
        raise SpecError(
            "kernels='auto' proposes kernels by their alignment with class labels, and there are"
            " none: name the kernels, or omit them to use the default ones."
        )
    by_kind = bind_kernels(None) if X is None else kernels_by_kind(X)
    return [*by_kind, *kernels_beside(kernels)]


def check_new_rows(estimator: Any, X: Any) -> Rows:
    """Return checked new rows, whose columns must be those of the training data."""
    rows, none = new_rows(estimator, X)
    if none is not None:
        refuse_without_source(none, "leave it out (only predict_proba takes it)")
    return rows


def new_rows(estimator: Any, X: Any) -> tuple[Rows, NDArray[np.bool_] | None]:
    """Return checked new rows, and which of them have no source; None if all have some."""
    plan = estimator.fitted_.plan
    rows = checked_rows(estimator, plan.reading, as_source(X), first=False)
    lack = isinstance(rows, TableRows) and rows.medians is not None
    return accepted(plan, rows) if lack else (rows, None)


WORTH_KEEPING = 2**28
"""Bytes of similarities of held-out rows to keep for all decisions of a problem."""


class ProblemViews:
    """The views of each problem on some training rows.

    A map whose facts state ``shared`` (a random subset) is fitted once on all rows, from ``seed``,
    and each problem uses its rows of the features; any other is fitted on each problem's own rows.
    ``keep``: each problem's views are kept for other fits on the same rows. ``store`` has
    quantities of pairs of all rows, which include these.
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
        if plan.missing != MISSING:
            changed = [attrs.evolve(bound, missing=plan.strategy) for bound in plan.kernels]
            plan = attrs.evolve(plan, kernels=tuple(changed))
        if plan.bandwidths == "all-rows":
            fitted, _ = fit_kernels(plan.kernels, data.rows, data.row_weights)
            pairs = zip(plan.kernels, fitted, strict=True)
            kernels = tuple(attrs.evolve(bound, fitted=kernel) for bound, kernel in pairs)
            plan = attrs.evolve(plan, kernels=kernels)
        if isinstance(data.rows, RowSource) and not self._facts.shared:
            if not engine_of(data.rows).local:
                raise IncompatibleError(
                    f"The feature map {plan.feature_map.name!r} with these parameters needs all"
                    f" rows in one place, and they are on Dask's workers: use {FOR_LARGE_DATA}."
                )
            check_gram_fits(len(data.rows), data.rows.dtype.itemsize)
            data = attrs.evolve(data, rows=rows_at(data.rows, slice(0, len(data.rows))))
        self.plan, self.data = plan, data
        self._keep, self._store = keep, store
        self._places = np.arange(len(data.rows)) if data.places is None else data.places
        self._blocks: dict[tuple[Any, ...], tuple[Any, RowBlock]] = {}
        self._known: dict[tuple[Any, ...], tuple[ViewSet, Target, np.random.RandomState]] = {}
        self._of_all_rows: ViewSet | None = None
        if self._facts.shared:
            self._of_all_rows = self._fitted(
                data.rows, data.row_weights, np.random.RandomState(seed)
            )
            # Computed here, before several threads need them at the same time.
            if self._of_all_rows.blocks is not None:
                self._of_all_rows.blocks.keep_small()

    def say_if_long(self, problems: Sequence[Problem]) -> None:
        """Report the expected time for the Gram matrices of these problems, if it is long."""
        if not self._facts.explicit:
            pairs = sum(float(len(problem.rows(self.data.values))) ** 2 for problem in problems)
            say_if_long(self.plan.kernels, self.data.rows, pairs)

    @property
    def n_bytes(self) -> int:
        """The memory of what is kept."""
        kept: list[ViewSet | RowBlock] = [] if self._of_all_rows is None else [self._of_all_rows]
        kept += [views for views, _, _ in list(self._known.values())]
        kept += [block for _, block in list(self._blocks.values())]
        rows: Any = self.data.rows
        return int(rows.nbytes) + sum(part.n_bytes for part in kept)

    def of(self, problem: Problem, seed: int) -> tuple[ViewSet, Target, np.random.RandomState]:
        """Return a problem's views, its target, and the random state after making them."""
        key = problem, int(seed)
        if key in self._known:
            views, target, random_state = self._known[key]
            return views, target, deepcopy(random_state)
        random_state = np.random.RandomState(seed)
        rows, values = self.data.rows, self.data.values
        members = problem.rows(values)
        every = len(members) == len(rows)
        weights, groups = self.data.beside(members)
        target = problem.target(values[members], rows.dtype, weights, groups)
        if self._of_all_rows is not None:
            views = self._of_all_rows if every else self._of_all_rows.restricted(members)
        else:
            if not self._facts.explicit:
                check_gram_fits(len(members), rows.dtype.itemsize)
            rows = rows if every else rows[members]
            views = self._fitted(rows, weights, random_state, self._places[members])
        if self._keep:
            self._known[key] = views, target, deepcopy(random_state)
        return views, target, random_state

    def _fitted(
        self, rows: Any, row_weights: Array | None, random_state: Any, places: Any = None
    ) -> ViewSet:
        plan, store = self.plan, self._store
        pairs = None if store is None or places is None else partial(store.of, places=places)
        return ViewSet.fit(
            plan.kernels,
            plan.feature_map,
            protected(rows),
            random_state,
            plan.max_memory,
            pairs,
            row_weights,
        )

    def block(self, problem: Problem, seed: int, held_out: TrainingData) -> RowBlock | None:
        """Return other rows of the store as a block that all decisions of a problem share.

        None if their columns take too much memory to be kept.
        """
        views, _, _ = self.of(problem, seed)
        rows: Any = held_out.rows
        memory, places = self.plan.max_memory, held_out.places
        assert places is not None, "the rows are some of a search"
        limit = WORTH_KEEPING if memory is None else min(WORTH_KEEPING, memory // 4)
        if len(rows) * len(views.rows) * len(views) * views.rows.dtype.itemsize > limit:
            return None
        key = problem, int(seed)
        known, block = self._blocks.get(key, (None, None))
        if block is None or known is not rows:
            store = self._store
            pairs = None if store is None else partial(store.of, places=places)
            block = views.block_of(rows, pairs)
            self._blocks[key] = rows, block
        return block
