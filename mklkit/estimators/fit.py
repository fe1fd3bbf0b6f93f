"""A fit from top to bottom: plan, samples and target, problems, views, decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import attrs
import joblib
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from mklkit.display.numbers import extent, significant
from mklkit.display.progress import BRIEF, reported
from mklkit.errors import DataError, IncompatibleError, MKLKitError, plain_message, quoted
from mklkit.estimators.alike import stacked, unstacked
from mklkit.estimators.binding import bind
from mklkit.estimators.joining import joined_and_places
from mklkit.estimators.missing_sources import with_sources
from mklkit.estimators.plan import (
    Plan,
    ProblemViews,
    chooses_in_fit,
    kernels_to_bind,
    on_kernels,
    plan_of,
    same_key,
    takes_landmarks,
)
from mklkit.estimators.problems import Problem
from mklkit.estimators.proposing import MOST_COMPARED, chosen_bank
from mklkit.estimators.reading import as_source, index_of, training_rows, with_known_ids
from mklkit.estimators.training_data import (
    TrainingData,
    check_training,
    checked_groups,
    checked_row_weights,
)
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each, in_threads
from mklkit.protocols import (
    Array,
    Combiner,
    CombinerTraits,
    Decision,
    FeatureMapTraits,
    FittedKernel,
    FittedLearner,
    Learner,
    Rows,
    Target,
    TargetKind,
    array_of,
    component_error,
    traits_of,
)
from mklkit.protocols.component import KERNELS, Component
from mklkit.registry.composing import checked_decision, choose_components
from mklkit.registry.given_arrays import writes_explained
from mklkit.registry.specs import to_spec
from mklkit.registry.tasks import kind_named
from mklkit.views.cache import Cache
from mklkit.views.deciding import BlockDecision, RowBlock, decide_block
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.scaling import with_scaling
from mklkit.views.shared_rows import without_unused
from mklkit.views.tiles import symmetric_tiles
from mklkit.views.view_set import ViewSet

STACKED = ("problems", "decisions")
"""The fields of a fit that are stored as arrays if there are several problems."""


@attrs.frozen(eq=False)
class Fitted:
    """A plan, and the resulting decision of each problem.

    ``n_rows`` counts the training samples, without those of weight 0; ``names`` are those of the
    problems; ``notes`` say what was decided beyond the plan, a sentence each; ``n_groups`` counts
    the groups of samples, None without groups.
    """

    plan: Plan
    problems: tuple[Any, ...]
    decisions: tuple[Decision, ...]
    n_rows: int
    names: tuple[Any, ...] = ("all samples",)
    notes: tuple[str, ...] = ()
    n_groups: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = attrs.asdict(self, recurse=False)
        several = {name: state[name] for name in STACKED if len(state[name]) > 1}
        return state | {name: stacked(values) for name, values in several.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            is_stacked = name in STACKED and isinstance(value, dict)
            object.__setattr__(self, name, tuple(unstacked(value)) if is_stacked else value)

    @property
    def chosen(self) -> dict[str, tuple[float, ...]]:
        """The values of parameters given as rules, by nested name, one per problem."""
        components: dict[str, Any] = {f"kernels__{k.label}": k.kernel for k in self.plan.kernels}
        components["learner"] = self.plan.learner
        numbers: dict[str, tuple[float, ...]] = {}
        for decision in (d for d in self.decisions if isinstance(d, BlockDecision)):
            maps = [each for each in decision.projectors if each.map.from_landmarks]
            fitted: list[tuple[str, FittedLearner | FittedKernel]] = [
                ("learner", part) for part in decision.learners
            ]
            fitted += [(f"kernels__{each.label}", each.map.kernel) for each in maps]
            for owner, part in fitted:
                component = components.get(owner)
                params = component.get_params() if isinstance(component, Component) else {}
                for name, value in part.chosen.items():
                    if isinstance(params.get(name), str) and not isinstance(value, str):
                        key = f"{owner}__{name}"
                        numbers[key] = (*numbers.get(key, ()), *np.ravel(value).tolist())
        return numbers

    @property
    def choices(self) -> list[str]:
        """The choices made where nothing was given, a sentence each."""
        return [*self.plan.notes, *self.notes]


def plan_and_read(
    estimator: Any,
    kind: TargetKind,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> tuple[Plan, TrainingData]:
    """Return the plan of an estimator for a table, and its rows and target as the plan reads them.

    The estimator gets scikit-learn's own attributes, a classifier ``classes_`` too.
    """
    X, sources = joined_and_places(X, y)
    X = as_source(X)
    row_weights = None
    if sample_weight is not None:
        row_weights = checked_row_weights(sample_weight, _num_samples(X))
    schema, (kernels,) = bind(X, kernels_to_bind(estimator, kind, X, sources))
    X = with_known_ids(kernels, X)
    rows, schema = training_rows(estimator, schema, X)
    weighted = row_weights is not None or estimator.class_weight is not None
    plan = plan_of(estimator, kind, schema, kernels, weighted)
    row_groups = None if groups is None else checked_groups(groups, _num_samples(X))
    data = check_training(estimator, kind, rows, y, row_weights, row_groups)
    plan = with_scales(plan, data.rows)
    if data.rows.medians is None:
        # No sample misses a source, so nothing has to be decided about those that do.
        return plan, data
    index = index_of(X)
    if index is not None and row_weights is not None:
        index = index[row_weights > 0]  # The others do not count.
    classes = estimator.classes_.tolist() if kind.of_classes else []
    return plan, with_sources(plan, data, classes, index)


def with_scales(plan: Plan, rows: Rows) -> Plan:
    """Return a plan whose kernels have their scalings, fitted to training samples.

    Sources whose kernel is to be chosen get theirs with it.
    """
    concrete = [bound for bound in plan.kernels if not bound.auto]
    scaled = iter(with_scaling(concrete, rows, plan.scale))
    kernels = tuple(bound if bound.auto else next(scaled) for bound in plan.kernels)
    if rows.in_memory:
        rows.arrays_of([bound for bound in kernels if bound.scaling is not None])
    return attrs.evolve(plan, kernels=kernels)


def fit_problems(
    plan: Plan,
    data: TrainingData,
    problems: Sequence[Problem],
    random_state: Any,
    cache: Cache | None = None,
) -> Fitted:
    """Return the decision of each problem, learned from the views of its samples.

    ``cache`` is for several fits on the same samples; a single fit has none.
    """
    with writes_explained(plan.components):
        return _fit_problems(plan, data, problems, random_state, cache)


def _fit_problems(
    plan: Plan,
    data: TrainingData,
    problems: Sequence[Problem],
    random_state: Any,
    cache: Cache | None,
) -> Fitted:
    plan = with_kernels(plan, data, cache)
    # Seeds are drawn before anything runs, so that the order of the threads does not matter.
    *seeds, seed = check_random_state(random_state).randint(2**31 - 1, size=len(problems) + 1)
    problem_views = ProblemViews.of(on_kernels(plan), data, seed, cache)
    problem_views.say_if_long(problems)
    problem_views.fit_kernels(problems)

    def fit_problem(problem: Problem, seed: int, tried: bool = False) -> Sequence[Decision]:
        views, target, generator = problem_views.of_problem(problem, seed)
        parts = plan.weighting, views, target, plan.learner, generator
        return fit_decisions(*parts, tried=tried)

    one_per_target = len(problems) > 1 and problems[0].column is not None
    if plan.weighting.joins_targets and one_per_target:
        # The combiner learns all targets at once, with work that they share.
        tasks = [partial(fit_problem, Problem(plan.kind), seed)]
    else:
        pairs = enumerate(zip(problems, seeds, strict=True))
        tasks = [partial(fit_problem, *pair, tried=place > 0) for place, pair in pairs]
    decisions: list[Decision] = []
    bar = reported(None, "fitting", BRIEF) if len(tasks) > 1 else nullcontext()
    with bar as report:
        for of_problem in in_threads(tasks, plan.n_jobs, len(data.rows)):
            decisions += of_problem
            if report is not None:
                report(len(decisions), len(tasks))
    n_groups = None if data.groups is None else len(np.unique(data.groups))
    return Fitted(
        plan,
        tuple(problems),
        tuple(without_unused(decisions)),
        len(data.rows),
        notes=data.notes,
        n_groups=n_groups,
    )


def with_kernels(plan: Plan, data: TrainingData, cache: Cache | None = None) -> Plan:
    """Return a plan with all kernels, of which some are chosen from the data.

    Fits on the same data share what they choose in a ``cache``. Many samples get a map of
    landmarks, unless the user gave a map.
    """
    if not plan.proposed:
        return plan
    names = traits_of(plan.feature_map, FeatureMapTraits).for_kernels
    keep_all = traits_of(plan.combiner, CombinerTraits).n_kernels is not None
    settings = plan.learners, plan.scale, names, keep_all
    choose = partial(chosen_bank, plan.kernels, data, kind_named(plan.kind), *settings)
    if cache is None or not data.rows.in_memory:
        bank = choose()
    else:
        sources = tuple(
            (k.label, k.auto, same_key(k.kernel), joblib.hash((k.columns, k.scaling)))
            for k in plan.kernels
        )
        key = plan.kind, sources, settings, data.digest
        bank = cache.of(("chosen kernels", key), choose)
    notes = [*bank.notes, *plan.notes]
    learner, feature_map = plan.learner, plan.feature_map
    if bank.learner is not None:
        learner = bank.learner
        notes = [note for note in notes if not note.startswith("learner ")]
    if plan.landmarks is not None and bank.needs_landmarks:
        feature_map = plan.landmarks
        notes = [note for note in notes if not note.startswith("feature map ")]
        notes.append(f"feature map {to_spec(feature_map)}: there are {len(data.rows)} samples")
    return attrs.evolve(
        plan,
        kernels=tuple(bank.kernels),
        feature_map=feature_map,
        learner=learner,
        proposed=False,
        sources=plan.kernels,
        notes=tuple(notes),
    )


def expects_landmarks(estimator: Any, n_rows: int) -> bool:
    """Return whether an estimator will compare so many samples with landmarks.

    It will, whatever its sources are, if it chooses its kernels and the user gave no map.
    """
    if n_rows <= MOST_COMPARED or estimator.feature_map is not None:
        return False
    if not chooses_in_fit(estimator):
        return False
    parts = estimator.combiner, estimator.feature_map, estimator.learner
    return takes_landmarks(estimator, choose_components(*parts, target=estimator.kind))


CHECKED_ROWS = 256
"""The number of training rows decided at a time, to limit memory besides a fit's matrices."""

FINITE_ROWS, FINITE_GRAM_ROWS = 16_384, 1024
"""The numbers of samples to decide on explicit and implicit maps, evenly spaced among more."""

SLACK = 1e-8
"""The tolerance for weights that rounding takes out of their range."""

ORDINARY = 1e12
"""Kernel values between the inverse of this and this are safe for every solver."""


def fit_decisions(
    combiner: Combiner,
    views: ViewSet,
    target: Target,
    learner: Learner,
    random_state: np.random.RandomState,
    checked: FeatureBlocks | None = None,
    tried: bool = False,
) -> list[Decision]:
    """Return a combiner's decision, with finite weights and training decision values.

    Several targets have one each if the combiner joins them. If the samples are gone, ``checked``
    has the samples to decide instead. A ``DataError`` on values that are not finite, or on a
    solver's failure, names the kernel and a remedy. The training rows are decided once: at most
    16,384 of them on an explicit map and 1,024 on an implicit one, where a value that is not finite
    is in the Gram matrix and so in the decision. If the components were ``tried`` on another
    problem, coefficients that are finite are enough.
    """
    traits = traits_of(combiner, CombinerTraits)
    if traits.n_kernels not in (None, len(views)):
        raise IncompatibleError(
            f"{combiner.name} takes exactly {traits.n_kernels} kernels; there"
            f" {'is' if len(views) == 1 else 'are'} {len(views)}: {', '.join(views.labels)}."
        )
    decided = views
    if checked is not None:
        decided = ViewSet.of_blocks([view.kernel for view in views], checked)
    joined = combiner.joins_targets and target.is_several and target.values.ndim == 2
    with solver_errors_explained(combiner, learner, decided):
        if joined:
            results = combiner.fit_targets(views, target, learner, random_state)
        else:
            results = [combiner.fit(views, target, learner, random_state)]
        decisions = [checked_decision(combiner, result, len(views)) for result in results]
        weights = np.array([decision.weights for decision in decisions])
        several = target.is_several and not joined
        shape = ("n", "T") if several else ("n",)
        decide = partial(_decided, combiner, shape)
        finite = np.isfinite(weights).all() and (
            (tried and _have_finite_coefficients(decisions))
            or _decide_finitely(decisions, decided, decide)
        )
    if not finite:
        largest, remedy = _most_extreme(decided)
        fault = (
            f"{combiner.name} with {learner.name} gave infinite or NaN decision values on these"
            " training data"
        )
        if _is_ordinary(largest):
            raise component_error(learner, f"{fault}, whose kernel values are of ordinary size.")
        raise DataError(f"{fault}. {remedy}")
    low, high = traits.weight_range or (0.0, 1.0)
    least, most = weights.min(), weights.max()
    if least < low - SLACK or most > high + SLACK:
        raise component_error(
            combiner,
            f"weights must be from {extent(low, high)}; it returned {extent(least, most)}."
            " State another range by CombinerTraits(weight_range=(low, high)).",
        )
    return decisions


@contextmanager
def solver_errors_explained(combiner: Combiner, learner: Learner, views: ViewSet) -> Iterator[None]:
    """Turn solver errors on extreme kernel values into an error that names the kernel.

    Errors on kernel values of ordinary size are bugs and are not changed. Overflow warnings are
    silenced: overflow gives a number that is not finite, for which the caller checks.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except DataError as error:
        # Solvers refuse NaN values, and don't know which kernel they come from.
        largest, remedy = _most_extreme(views)
        if np.isfinite(largest):
            raise
        failed = f"{combiner.name} with {learner.name} can't be fitted to these training data."
        raise DataError(f"{failed} {remedy}") from error
    except MKLKitError:
        raise
    except (FloatingPointError, OverflowError, ValueError, RuntimeError) as error:
        largest, remedy = _most_extreme(views)
        if _is_ordinary(largest) and not isinstance(error, np.linalg.LinAlgError):
            raise
        raise DataError(
            f"{combiner.name} with {learner.name} failed ({plain_message(error)}) on these training"
            f" data. {remedy}"
        ) from error


def _is_ordinary(largest: float) -> bool:
    """Return whether kernel values of this size are safe for every solver."""
    return 1 / ORDINARY <= largest <= ORDINARY


def _decided(
    combiner: Combiner, shape: tuple[str, ...], decision: Decision, block: RowBlock
) -> Array:
    """Return a decision's values on a block of samples, of this shape for n samples."""
    values = decide_block(decision, block)
    return array_of(combiner, "decide", values, (len(block), *shape[1:]))


def _have_finite_coefficients(decisions: Sequence[Decision]) -> bool:
    """Return whether the learners of decisions are linear functions with finite coefficients."""
    learners = [
        learner
        for decision in decisions
        for learner in (decision.learners if isinstance(decision, BlockDecision) else [None])
    ]
    coefficients = [None if learner is None else learner.coefficients for learner in learners]
    return bool(coefficients) and all(c is not None and np.isfinite(c).all() for c in coefficients)


def _decide_finitely(
    decisions: Sequence[Decision], views: ViewSet, decide: Callable[[Decision, RowBlock], Array]
) -> bool:
    def finite(blocks: Iterable[tuple[Any, RowBlock]]) -> bool:
        return all(
            np.isfinite(decide(decision, block)).all()
            for _, block in blocks
            for decision in decisions
        )

    if views.blocks is not None:
        step = -(-views.blocks.n_rows // FINITE_ROWS)
        some = views.blocks if step == 1 else views.blocks.take(np.arange(0, len(views.rows), step))
        return all(some.each(finite, range(len(views))))
    count = len(views.rows)
    rows = views.rows[np.arange(0, count, -(-count // FINITE_GRAM_ROWS))]
    places = row_blocks(len(rows), CHECKED_ROWS)
    shared = len(decisions) > 1
    return all(each(lambda place: finite([(place, RowBlock(rows[place], shared))]), places))


def _most_extreme(views: ViewSet) -> tuple[float, str]:
    """Return the largest value of the kernel whose values are furthest from one, and what to do.

    A kernel with NaN values comes before all others.
    """
    largest = np.zeros(len(views))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _, _, tiles in symmetric_tiles(KernelRows.of_views(views)):
            for index, tile in tiles:
                largest[index] = np.maximum(largest[index], np.abs(tile).max())
        place = int(np.argmax(np.nan_to_num(np.abs(np.log(largest)), nan=np.inf)))
    label = quoted(views.labels[place])
    size = significant(largest[place], 2)
    has = f"Kernel {label} has the most extreme values, values up to {size}"
    mend = ""
    if not np.isfinite(largest[place]):
        has = f"Kernel {label} has infinite or NaN values"
        mend = "; a kernel of your own must return finite numbers"
    return float(largest[place]), (
        f"{has}: scale the data (each column to mean 0 and standard deviation 1, say), use a lower"
        f" degree, or a normalised kernel, such as {quoted(KERNELS[-1])}{mend}."
    )
