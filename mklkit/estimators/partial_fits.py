"""Learning from samples that arrive in parts, by adding up sums over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from mklkit.errors import DataError, IncompatibleError, quoted
from mklkit.estimators.binding import bind
from mklkit.estimators.fit import Fitted, fit_decisions, with_kernels, with_scales
from mklkit.estimators.joining import one_table
from mklkit.estimators.plan import Plan, kernels_to_bind, plan_of
from mklkit.estimators.problems import Problem, class_problems
from mklkit.estimators.reading import as_source, read_rows
from mklkit.estimators.training_data import TrainingData
from mklkit.numerics.class_moments import ClassMoments
from mklkit.protocols import (
    TWO_CLASSES,
    Array,
    CombinerTraits,
    FeatureMapTraits,
    FittedKernel,
    LearnerTraits,
    Projector,
    Rows,
    Store,
    Target,
    traits_of,
)
from mklkit.protocols.component import FOR_LARGE_DATA
from mklkit.registry.composing import choose_components, default_instances
from mklkit.registry.entries import Kind
from mklkit.registry.given_arrays import writes_explained
from mklkit.registry.registry import get_registry
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.view_set import ViewSet


@attrs.frozen(eq=False)
class PartialSums:
    """Sums over the samples seen so far; maps and kernels are those of the first call's samples.

    ``widths`` are the numbers of features, ``moments`` those of all kernels' features
    side by side, by class.
    """

    plan: Plan
    kernels: list[FittedKernel]
    projectors: list[Projector]
    widths: list[int]
    moments: ClassMoments

    @classmethod
    def start(cls, plan: Plan, rows: Rows, seed: int, n_classes: int) -> Self:
        """Return maps fitted to the first samples, and no sums yet."""
        draw = np.random.RandomState(seed)
        views = ViewSet.fit(plan.kernels, plan.feature_map, rows, draw)
        assert views.blocks is not None, "the map is explicit"
        widths = views.blocks.widths
        total = sum(widths)
        shapes = (total,), (n_classes,), (n_classes, total), (n_classes, total, total)
        return cls(
            plan,
            [view.kernel for view in views],
            [view.projector for view in views],
            widths,
            ClassMoments(*(np.zeros(shape) for shape in shapes)),
        )

    def plus(self, rows: Rows, codes: NDArray[np.intp], max_memory: int | None) -> PartialSums:
        """Return the sums after adding samples (N, d) with given class numbers."""
        blocks = FeatureBlocks(self.projectors, rows, max_memory)
        n_classes = len(self.moments.counts)
        (moments,) = blocks.moments([range(len(self.projectors))], codes, n_classes)
        if self.moments.total:
            moments = self.moments.plus(moments)
        return attrs.evolve(self, moments=moments)

    def views_of(self, problem: Problem, rows: Rows) -> tuple[ViewSet, Target]:
        """Return a problem's views and target; ``rows`` has the type and columns of all samples."""
        members = problem.rows(np.arange(len(self.moments.counts)))
        moments = self.moments.classes(members)
        counts = moments.counts.astype(np.intp)
        target = problem.target(np.repeat(members, counts), rows.dtype)
        gone = Rows(GoneNumbers((int(moments.total), rows.shape[1]), rows.dtype))
        blocks = GatheredMoments(self, moments, gone)
        return ViewSet.of_blocks(self.kernels, blocks), target


class NeedsEveryRow(IncompatibleError, AttributeError):
    """An estimator has no ``partial_fit``, as one of its components needs all samples at once."""


def check_sums_suffice(estimator: Any) -> None:
    """Raise ``NeedsEveryRow`` if an MKLClassifier needs more than sums over samples."""
    if estimator.class_weight is not None:
        raise NeedsEveryRow(
            "partial_fit keeps sums over samples of equal weight, and class_weight weighs them:"
            " set class_weight=None, or fit on all samples."
        )
    if estimator.probability:
        raise NeedsEveryRow(
            "partial_fit keeps sums over samples, and probabilities need the samples, to leave"
            " some out: set probability=False, and calibrate the model on other samples with"
            " CalibratedClassifierCV(FrozenEstimator(model)) of scikit-learn."
        )
    choice = choose_components(estimator.combiner, estimator.feature_map, estimator.learner)
    parts: tuple[tuple[Kind, Any, Any], ...] = (
        ("combiner", choice.combiner, CombinerTraits),
        ("learner", choice.learner, LearnerTraits),
    )
    for kind, component, traits in parts:
        if not traits_of(component, traits).from_moments:
            every = default_instances(get_registry(), kind)
            able = [part.name for part in every if traits_of(part, traits).from_moments]
            raise NeedsEveryRow(
                f"partial_fit keeps sums over samples, and the {kind} {component.name!r} needs the"
                f" samples themselves; those that work: {', '.join(able)}."
            )
    traits_of_map = traits_of(choice.feature_map, FeatureMapTraits)
    if not (traits_of_map.explicit and traits_of_map.shared):
        raise NeedsEveryRow(
            f"partial_fit needs a map of some landmarks, as in {FOR_LARGE_DATA}; got the feature"
            f" map {choice.feature_map.name!r}, whose columns grow with the samples."
        )


def partial_fit(estimator: Any, X: Any, y: Any, classes: Any = None) -> Any:
    """Let a classifier learn from more samples; see :attr:`mklkit.MKLClassifier.partial_fit`."""
    sums: PartialSums | None = estimator.__dict__.get("partial_sums_")
    if sums is None and classes is None:
        raise DataError(
            "The first call of partial_fit needs all class labels that occur: classes=[...]."
        )
    X = as_source(one_table(X, y))
    if sums is None:
        schema, (bank,) = bind(X, kernels_to_bind(estimator, TWO_CLASSES, X))
    else:
        schema = sums.plan.schema
        bank = list(sums.plan.kernels)
    plan = plan_of(estimator, TWO_CLASSES, schema, bank)
    rows = read_rows(estimator, schema, X, first=sums is None)
    if rows.medians is not None:
        raise DataError(
            "partial_fit takes no samples with gaps, since its sums would depend on the weights"
            " of the kernels: fit on all samples at once, or put an imputer before the model."
        )
    known = np.unique(classes) if sums is None else estimator.classes_
    codes = _codes_of(column_or_1d(y, warn=True), known, len(rows))
    if sums is None:
        plan = with_scales(plan, rows)
        plan = with_kernels(plan, TrainingData(rows, codes))
    else:
        plan = attrs.evolve(plan, learner=sums.plan.learner, proposed=False)
    problems = class_problems(len(known), estimator.multiclass, plan.combiner, plan.learner)
    random_state = check_random_state(estimator.random_state)
    seeds = random_state.randint(2**31 - 1, size=len(problems) + 1)
    if sums is None:
        sums = PartialSums.start(plan, rows, seeds[-1], len(known))
    sums = sums.plus(rows, codes, plan.max_memory)
    estimator.classes_ = known
    estimator.class_weight_ = np.ones(len(known))
    estimator.partial_sums_ = sums
    if not sums.moments.counts.all():
        return estimator
    decisions = []
    for problem, seed in zip(problems, seeds[:-1], strict=True):
        views, target = sums.views_of(problem, rows)
        draw = np.random.RandomState(seed)
        checked = FeatureBlocks(sums.projectors, rows)
        with writes_explained(plan.components):
            decisions += fit_decisions(plan.weighting, views, target, plan.learner, draw, checked)
    kernels, notes = sums.plan.kernels, sums.plan.notes
    plan = attrs.evolve(plan, kernels=kernels, notes=notes, proposed=False)
    n_rows = int(sums.moments.total)
    return estimator._keep(Fitted(plan, tuple(problems), tuple(decisions), n_rows))


def _codes_of(labels: NDArray[Any], classes: NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return class numbers (N,) of labels."""
    if len(labels) != n_rows:
        raise DataError(f"Expected one label per sample; got {len(labels)} for {n_rows} samples.")
    if len(classes) < 2:
        raise DataError("A classifier needs at least two classes.")
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    others = np.flatnonzero(classes[codes] != labels)
    if len(others):
        label = labels[others[:1]].tolist()[0]
        raise DataError(f"Label {quoted(label)} is none of the classes of the first call.")
    return codes


class GoneNumbers(Store):
    """Numbers (N, d) that can't be read any more."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.column_names = None

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> Array:
        """Raise an error."""
        raise _refusal()


class GatheredMoments(FeatureBlocks):
    """The features of M views, known only by their sums; samples are in order of their class."""

    def __init__(self, sums: PartialSums, moments: ClassMoments, rows: Rows) -> None:
        super().__init__(sums.projectors, rows)
        self.__dict__["widths"] = sums.widths
        self._moments = moments

    def moments(
        self,
        groups: Sequence[Sequence[int]],
        codes: NDArray[np.intp],
        n_classes: int,
        row_weights: Array | None = None,
    ) -> list[ClassMoments]:
        """Return the class moments of each group of views, for classes that join these."""
        if row_weights is not None:
            raise _refusal()
        merged = self._moments.merged(self._by_class(codes), n_classes)
        return [merged.part(self._columns(group)) for group in groups]

    def project_back(self, wanted: Sequence[int], targets: Array) -> list[Array]:
        """Return Φ_mᵀt for targets (N, k) that are the same for all samples of a class."""
        counts = self._moments.counts[:, None]
        sums = self._moments.sums + counts * self._moments.origin
        return [sums[:, self._columns([m])].T @ self._by_class(targets) for m in wanted]

    def keep_small(self, wanted: Sequence[int] | None = None) -> None:
        """Do nothing: there are no features to keep."""

    def _columns(self, group: Sequence[int]) -> NDArray[np.intp]:
        stops = np.cumsum(self.widths)
        return np.concatenate([np.arange(stops[m] - self.widths[m], stops[m]) for m in group])

    def _by_class(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each class (C, ...) for values of samples (N, ...)."""
        counts = self._moments.counts.astype(np.intp)
        of_classes = values[np.cumsum(counts) - counts]
        if not np.array_equal(np.repeat(of_classes, counts, axis=0), values):
            raise _refusal()
        return of_classes


def _refusal() -> IncompatibleError:
    return IncompatibleError(
        "This needs the samples, and partial_fit keeps none: use a combiner and a learner"
        " that need sums over samples only, or fit on all samples."
    )
