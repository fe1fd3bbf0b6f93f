"""The plan of a fit, which settles an estimator's parameters; and the views of its problems.

Several fits on the same rows may share views, whose Gram matrices are then computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from functools import partial
from threading import local
from typing import Any, get_args

import attrs
import joblib
import numpy as np
from numpy.typing import NDArray

from mklkit.combiners.templates.fixed_shares import FixedShares
from mklkit.errors import IncompatibleError, SpecError, quoted
from mklkit.estimators.binding import as_table, header, notes_on_gaps, only_numbers
from mklkit.estimators.joining import (
    Places,
    in_order_of,
    joined_and_places,
    with_absent_sources,
)
from mklkit.estimators.missing_sources import LEAVE_OUT, accepted, refuse_without_source
from mklkit.estimators.model_settings import Bandwidths
from mklkit.estimators.problems import Problem
from mklkit.estimators.reading import as_source, index_of, read_rows, with_known_ids
from mklkit.estimators.sources import kernels_to_choose, sources_to_choose, with_columns_of_labels
from mklkit.estimators.training_data import TrainingData
from mklkit.numerics.pairwise import MOST_SHARED
from mklkit.numerics.sparse_rows import bytes_of
from mklkit.protocols import (
    TWO_CLASSES,
    Array,
    Combiner,
    CombinerTraits,
    FeatureMapTraits,
    FittedKernel,
    Missing,
    Rows,
    RowSource,
    Schema,
    Target,
    TargetKind,
    result_of,
    traits_of,
)
from mklkit.protocols.component import (
    COMBINER,
    FOR_LARGE_DATA,
    KERNELS,
    LANDMARK_MAP,
    LEARNER,
    MISSING_STRATEGY,
    RIDGE,
)
from mklkit.registry.columns import AUTO_KERNELS, are_proposed, bind_kernels, refuse_auto
from mklkit.registry.composing import Choice, check_gives_weights, choose_components
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel, fit_kernels, fit_to_parts, say_if_long
from mklkit.views.cache import Cache, Quantities
from mklkit.views.deciding import RowBlock
from mklkit.views.engines import engine_of
from mklkit.views.memory import check_gram_fits, memory_given
from mklkit.views.rows import AllPairs
from mklkit.views.scaling import scaling_named
from mklkit.views.view_set import ViewSet

BANDWIDTHS = get_args(Bandwidths)


@attrs.frozen(eq=False)
class Plan:
    """An estimator's parameters, settled before the fit.

    ``kernels`` are bound to columns of the table, whose columns the ``schema`` has; if
    ``proposed``, some tell how to read a source until its kernel is chosen from samples and target,
    along with one of ``learners`` (empty if the learner is given); with many samples on
    ``landmarks``, a feature map (None if the map is given). Once they are chosen, ``sources`` are
    the kernels from before. ``scale`` is what is done to the columns of kernels that do not say.
    ``bandwidths`` tells whether kernels are fitted to each problem's own samples or to all of them;
    ``max_memory`` is in bytes, for features and sums over them; ``n_jobs`` threads run problems.
    ``missing`` is the strategy for samples that lack sources. ``notes`` report on gaps, proposed
    kernels and default choices.
    """

    kernels: tuple[BoundKernel, ...]
    feature_map: Any
    combiner: Any
    learner: Any
    schema: Schema
    proposed: bool = False
    sources: tuple[BoundKernel, ...] = ()
    learners: tuple[Any, ...] = ()
    landmarks: Any = None
    kind: str = TWO_CLASSES.name
    bandwidths: str = "per-problem"
    max_memory: int | None = None
    n_jobs: int | None = None
    missing: Any = MISSING_STRATEGY
    scale: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def components(self) -> tuple[Any, ...]:
        """The kernels, the feature map, the combiner and the learner."""
        kernels = (bound.kernel for bound in self.kernels)
        return (*kernels, self.feature_map, self.combiner, self.learner)

    @property
    def weighting(self) -> Any:
        """The combiner, wrapped to respect fixed shares and a strategy if there are any."""
        shares = [bound.traits.share for bound in self.kernels]
        combiner = FixedShares(self.combiner, shares) if any(shares) else self.combiner
        if self.missing == MISSING_STRATEGY:
            return combiner
        return result_of(self.strategy, "around", self.strategy.wrap(combiner), Combiner)

    @property
    def strategy(self) -> Missing:
        """The strategy for samples that lack sources, as an object."""
        strategy: Missing = get_registry().create("missing", self.missing)
        return strategy


def plan_of(
    estimator: Any,
    kind: TargetKind,
    schema: Schema,
    kernels: Sequence[BoundKernel],
    weighted: bool = False,
) -> Plan:
    """Return an estimator's plan for a table, with the kernels bound to its columns.

    ``weighted``: whether samples count differently.
    """
    parts = estimator.combiner, estimator.feature_map, estimator.learner
    choice = choose_components(*parts, target=kind, weighted=weighted)
    if estimator.bandwidths not in BANDWIDTHS:
        raise SpecError(
            f"bandwidths must be one of {', '.join(map(repr, BANDWIDTHS))};"
            f" got {estimator.bandwidths!r:.80}."
        )
    shares = {bound.label: bound.traits.share for bound in kernels if bound.traits.share}
    if shares:
        consequence = f"kernel {quoted(next(iter(shares)))} can't have a fixed share of it"
        check_gives_weights(choice.combiner, kind, consequence)
        if sum(shares.values()) >= 1 and len(shares) < len(kernels):
            raise SpecError(f"The shares {shares} leave other kernels no weight: lower them.")
    proposed = any(bound.auto for bound in kernels)
    learner_is_open = proposed and is_open(estimator, choice)
    return Plan(
        tuple(kernels),
        choice.feature_map,
        choice.combiner,
        choice.learner,
        schema,
        proposed=proposed,
        learners=(get_registry().create("learner", RIDGE), choice.learner)
        if learner_is_open
        else (),
        landmarks=get_registry().create("feature_map", LANDMARK_MAP)
        if proposed and estimator.feature_map is None and takes_landmarks(estimator, choice)
        else None,
        kind=kind.name,
        bandwidths=estimator.bandwidths,
        max_memory=None if estimator.max_memory is None else memory_given(estimator.max_memory),
        n_jobs=estimator.n_jobs,
        missing=estimator.missing,
        scale=None if estimator.scale is None else scaling_named(estimator.scale).name,
        notes=(*notes_on_gaps(schema), *choice.notes),
    )


def is_open(estimator: Any, choice: Choice) -> bool:
    """Return whether an estimator's learner is chosen together with its kernels.

    It is if the user gave none, and the combiner works with the default one and ridge regression.
    """
    suitable = traits_of(choice.combiner, CombinerTraits).for_learners
    usual = estimator.learner is None and choice.learner.name == LEARNER
    return usual and (not suitable or RIDGE in suitable)


def takes_landmarks(estimator: Any, choice: Choice) -> bool:
    """Return whether many samples may be compared with landmarks, as ridge is the learner."""
    return is_open(estimator, choice) or (
        estimator.learner is None and choice.learner.name == RIDGE
    )


def on_kernels(plan: Plan) -> Plan:
    """Return the plan with an implicit map if nothing needs features.

    A full empirical map gives the same result, at the cost of an eigendecomposition per kernel.
    """
    traits = traits_of(plan.feature_map, FeatureMapTraits)
    definite = all(bound.traits.definite for bound in plan.kernels)
    if not (traits.reproduces and definite and plan.combiner.on_kernels(plan.learner)):
        return plan
    return attrs.evolve(plan, feature_map=get_registry().create("feature_map", traits.instead))


def kernels_by_default(
    estimator: Any,
    kind: TargetKind,
    X: Any,
    sources: Places | None = None,
    parameters: Iterable[str] = (),
) -> Any:
    """Return an estimator's kernels; if it has none, to be chosen for a table of numbers.

    Several sources, which the user passed or names of columns tell, have a chosen kernel each. For
    a lone one an estimator with a combiner, feature map or learner of the user has the usual
    kernels; so has one of whose components a search varies ``parameters``.
    """
    if X is None or not may_choose(estimator, kind):
        return estimator.kernels
    if sources is not None and len(sources) > 1:
        return AUTO_KERNELS
    parameters = list(parameters)
    chooses = chooses_by_default(estimator, parameters)
    if sources is not None:
        return [(*sources, AUTO_KERNELS, slice(None))] if chooses else list(KERNELS)
    if any(name.partition("__")[0] == "kernels" for name in parameters):
        return list(KERNELS)
    header(X)  # It reports what is no table.
    of_numbers = isinstance(X, RowSource) or only_numbers(as_table(X))
    chosen = kernels_to_choose(X) if of_numbers else []
    return chosen if chosen == [AUTO_KERNELS] or (chosen and chooses) else list(KERNELS)


def may_choose(estimator: Any, kind: TargetKind) -> bool:
    """Return whether an estimator chooses kernels if its table has several sources."""
    return estimator.kernels is None and estimator.chooses_kernels and not kind.is_empty


def chooses_by_default(estimator: Any, parameters: Iterable[str] = ()) -> bool:
    """Return whether an estimator chooses kernels for a table of numbers.

    It does if the user gave neither kernels nor a combiner, feature map or learner, and varies none
    of these among the ``parameters`` of a search.
    """
    components = {name.partition("__")[0] for name in parameters}
    return (
        estimator.chooses_kernels
        and estimator.kernels is None
        and estimator.combiner == COMBINER
        and estimator.feature_map is None
        and estimator.learner is None
        and components.isdisjoint(("kernels", "combiner", "feature_map", "learner"))
    )


def chooses_in_fit(estimator: Any) -> bool:
    """Return whether an estimator chooses kernels, unasked or because the user said ``"auto"``."""
    return chooses_by_default(estimator) or are_proposed(estimator.kernels)


def kernels_to_bind(
    estimator: Any, kind: TargetKind, X: Any = None, sources: Places | None = None
) -> list[BoundKernel]:
    """Return an estimator's kernels; those to be chosen are bound to a source of its table.

    ``sources`` are those that the user passed.
    """
    bank = bind_kernels(kernels_by_default(estimator, kind, X, sources))
    bank = with_columns_of_labels(bank, None if X is None else header(X)[1], sources)
    if kind.is_empty:
        refuse_auto(bank, "there are no targets")
    return bank if X is None else sources_to_choose(bank, X, sources)


def check_new_rows(estimator: Any, X: Any) -> Rows:
    """Return checked new samples, whose columns must be those of the training data."""
    rows, none = new_rows(estimator, X)
    if none is not None and none.any():
        remedy = f"{LEAVE_OUT} (only predict_proba takes it)"
        refuse_without_source(none, remedy, index_of(joined_and_places(X)[0]))
    return rows


def new_rows(estimator: Any, X: Any) -> tuple[Rows, NDArray[np.bool_] | None]:
    """Return checked new samples, and which of them have no source; None if all have some."""
    plan = estimator.fitted_.plan
    X, sources = joined_and_places(X)
    names = plan.schema.names
    if sources is not None and names is not None:
        every = np.asarray(names, object)
        bound = [kernel.columns for kernel in (*plan.sources, *plan.kernels)]
        columns_of_kernels = [every[columns].tolist() for columns in bound if columns is not None]
        X = in_order_of(with_absent_sources(X, names, columns_of_kernels), names)
    rows = read_rows(estimator, plan.schema, with_known_ids(plan.kernels, as_source(X)))
    return accepted(plan, rows, index_of(X))


WORTH_KEEPING = 2**28
"""Bytes of similarities of held-out samples to keep for all decisions of a problem."""


_STATES = local()


def seeded(seed: int) -> np.random.RandomState:
    """Return the thread's random state, seeded again: a new one takes as long as a small fit."""
    if not hasattr(_STATES, "state"):
        _STATES.state = np.random.RandomState()
    _STATES.state.seed(seed)
    state: np.random.RandomState = _STATES.state
    return state


class ProblemViews:
    """The views of each problem on some training samples.

    A map whose traits state ``shared`` (a random subset) is fitted once on all samples, from
    ``seed``, and each problem uses its samples of the features; any other is fitted on each
    problem's own samples. ``shared``: the views of each problem are kept in the cache for other
    fits on the same samples. ``pairs`` are those of all samples of a search, which include these.
    """

    def __init__(
        self,
        plan: Plan,
        data: TrainingData,
        seed: int,
        cache: Cache | None = None,
        shared: bool = False,
        pairs: AllPairs | None = None,
    ) -> None:
        self._facts = traits_of(plan.feature_map, FeatureMapTraits)
        if plan.missing != MISSING_STRATEGY:
            changed = [attrs.evolve(bound, strategy=plan.strategy) for bound in plan.kernels]
            plan = attrs.evolve(plan, kernels=tuple(changed))
        if plan.bandwidths == "all-rows":
            fitted = fit_kernels(plan.kernels, data.rows, data.row_weights)
            bound = zip(plan.kernels, fitted, strict=True)
            kernels = tuple(attrs.evolve(each, fitted=kernel) for each, kernel in bound)
            plan = attrs.evolve(plan, kernels=kernels)
        if not (data.rows.in_memory or self._facts.shared):
            if not engine_of(data.rows).local:
                raise IncompatibleError(
                    f"The feature map {plan.feature_map.name!r} with these parameters needs all"
                    f" samples in one place, and they are on Dask's workers: use {FOR_LARGE_DATA}."
                )
            check_gram_fits(len(data.rows), data.rows.dtype.itemsize)
            data = attrs.evolve(data, rows=data.rows[slice(0, len(data.rows))])
        self.plan, self.data = plan, data
        self._cache = cache or Cache(plan.max_memory)
        self._kept = Quantities(self._cache, self) if shared else None
        self._pairs = pairs
        self._tried = False
        self._kernels: dict[Problem, tuple[FittedKernel, ...]] = {}
        self._places = np.arange(len(data.rows)) if data.places is None else data.places
        self._of_all_rows: ViewSet | None = None
        if self._facts.shared:
            self._of_all_rows = self._fitted(
                data.rows, data.row_weights, np.random.RandomState(seed)
            )
            # Computed here, before several threads need them at the same time.
            if self._of_all_rows.blocks is not None:
                self._of_all_rows.blocks.keep_small()

    @classmethod
    def of(cls, plan: Plan, data: TrainingData, seed: int, cache: Cache | None) -> ProblemViews:
        """Return the views of an estimator's problems on some samples.

        If fits share a ``cache``, they are those of an earlier fit with the same kernels, map,
        samples and labels, if there was one; results equal those of separate fits.
        """
        if cache is None or not data.rows.in_memory:
            return cls(plan, data, seed)
        kernels = tuple(
            (k.label, same_key(k.kernel), joblib.hash((k.columns, k.scaling))) for k in plan.kernels
        )
        parts = same_key(plan.feature_map), same_key(plan.missing)
        settings = *parts, int(seed), plan.bandwidths, plan.max_memory
        key = "views", kernels, settings, data.digest

        def make() -> ProblemViews:
            return cls(plan, data, seed, cache, True, pairs_of(data, cache))

        return cache.of(key, make, lambda _: data.rows.nbytes)

    def say_if_long(self, problems: Sequence[Problem]) -> None:
        """Report the expected time for the Gram matrices of these problems, if it is long."""
        if not self._facts.explicit:
            pairs = sum(float(len(problem.rows(self.data.values))) ** 2 for problem in problems)
            say_if_long(self.plan.kernels, self.data.rows, pairs)

    def fit_kernels(self, problems: Sequence[Problem]) -> None:
        """Fit the kernels to the samples of several problems at once, which share work.

        Sample weights, missing sources and features that all problems share need fits of their
        own, and so do many samples.
        """
        rows, kernels = self.data.rows, self.plan.kernels
        if len(problems) == 1 or len(rows) > MOST_SHARED or not rows.in_memory:
            return
        weighted = self._facts.shared or self.data.row_weights is not None
        changed = any(bound.strategy is not None for bound in kernels)
        if weighted or changed or rows.missing_of(kernels) is not None:
            return
        parts = [problem.rows(self.data.values) for problem in problems]
        self._kernels = dict(zip(problems, fit_to_parts(kernels, rows, parts), strict=True))

    def of_problem(
        self, problem: Problem, seed: int
    ) -> tuple[ViewSet, Target, np.random.RandomState]:
        """Return a problem's views, its target, and the random state after making them."""
        if self._kept is None:
            return self._made(problem, seed)
        views, target, random_state = self._kept.of(
            (problem, int(seed)),
            partial(self._made, problem, seed),
            lambda made: sum({id(view.rows): bytes_of(view.rows) for view in made[0]}.values()),
        )
        return views, target, deepcopy(random_state)

    def _made(self, problem: Problem, seed: int) -> tuple[ViewSet, Target, np.random.RandomState]:
        # What is kept for other fits has a state of its own.
        random_state = seeded(seed) if self._kept is None else np.random.RandomState(seed)
        rows, values = self.data.rows, self.data.values
        members = problem.rows(values)
        every = len(members) == len(rows)
        weights, groups = self.data.beside(members)
        target = problem.target(values[members], rows.dtype, weights, groups)
        if self._of_all_rows is not None:
            views = self._of_all_rows if every else self._of_all_rows.restricted(members)
            return views, target, random_state
        if not self._facts.explicit:
            check_gram_fits(len(members), rows.dtype.itemsize)
        rows = rows if every else rows[members]
        # A search's problems have maps with arrays of their own, which it tells by these.
        among = None if every or self._kept is not None else (self.data.rows, members)
        kernels = self._kernels.get(problem)
        views = self._fitted(rows, weights, random_state, self._places[members], kernels, among)
        return views, target, random_state

    def _fitted(
        self,
        rows: Rows,
        row_weights: Array | None,
        random_state: Any,
        places: Any = None,
        fitted: Sequence[FittedKernel] | None = None,
        among: tuple[Rows, NDArray[np.intp]] | None = None,
    ) -> ViewSet:
        plan = self.plan
        views = ViewSet.fit(
            plan.kernels,
            plan.feature_map,
            rows,
            random_state,
            plan.max_memory,
            self._pairs_at(places),
            row_weights,
            self._cache,
            self._tried,
            fitted,
            among,
        )
        self._tried = True
        return views

    def _pairs_at(self, places: Any) -> Any:
        if self._pairs is None or places is None:
            return None
        return partial(self._pairs.of, places=places)

    def block(self, problem: Problem, seed: int, held_out: TrainingData) -> RowBlock | None:
        """Return other samples of a search as a block that all decisions of a problem share.

        None if their columns take too much memory to be kept.
        """
        if self._kept is None:
            return None
        views, _, _ = self.of_problem(problem, seed)
        rows, memory = held_out.rows, self.plan.max_memory
        limit = WORTH_KEEPING if memory is None else min(WORTH_KEEPING, memory // 4)
        size = len(rows) * len(views.rows) * len(views) * views.rows.dtype.itemsize
        if size > limit:
            return None
        return self._kept.of(
            (problem, int(seed), "held out", rows.digest),
            lambda: views.block_of(rows, self._pairs_at(held_out.places)),
            lambda _: size,
        )


def pairs_of(data: TrainingData, cache: Cache) -> AllPairs | None:
    """Return the pairs of all samples of a search, or None if these samples are no part of one."""
    if data.whole is None:
        whole = cache.known(("whole", data.rows.digest))
    else:
        whole = data.whole
        cache.of(("whole", whole.digest), lambda: whole)
    return None if whole is None else AllPairs(whole, cache)


def same_key(value: Any) -> Any:
    """Return a key that is equal for interchangeable parameters or components.

    The caller keeps values that can't be hashed, such as components with an array: these are
    compared by identity.
    """
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
