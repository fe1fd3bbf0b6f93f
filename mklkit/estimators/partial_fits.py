"""Learning from rows that come one part after another, by sums that add up."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from mklkit.errors import DataError, IncompatibleError, quoted
from mklkit.estimators.checking import check_new_rows
from mklkit.estimators.fitting import fit_decision
from mklkit.estimators.multiclass import BinaryProblem, decompose
from mklkit.estimators.proposing import KernelBank, bank_of
from mklkit.estimators.training import choose_strategy
from mklkit.numerics.class_moments import ClassMoments
from mklkit.protocols import (
    CombinerFacts,
    FeatureMap,
    FeatureMapFacts,
    FittedKernel,
    LearnerFacts,
    Projector,
    Rows,
    Target,
    facts_of,
)
from mklkit.registry.composing import Choice, choose_components
from mklkit.registry.registry import get_registry
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.gathered_moments import ForgottenRows, GatheredMoments
from mklkit.views.memory import memory_given
from mklkit.views.view_set import ViewSet

__all__ = ["NeedsEveryRow", "PartialSums", "partial_fit", "sums_of"]

Estimator = TypeVar("Estimator", bound=Any)


@attrs.frozen(eq=False)
class PartialSums:
    """What is kept of the rows seen so far.

    Attributes
    ----------
    bank : KernelBank
        The kernels, proposed from the rows of the first call where that was asked for.
    kernels : list of FittedKernel
    projectors : list of Projector
        Fitted to the rows of the first call, like the kernels.
    widths : list of int
        The number of features of each kernel.
    moments : ClassMoments
        Of all kernels' features side by side, by class.
    """

    bank: KernelBank
    kernels: list[FittedKernel]
    projectors: list[Projector]
    widths: list[int]
    moments: ClassMoments

    @classmethod
    def start(
        cls,
        bank: KernelBank,
        feature_map: FeatureMap,
        rows: Rows,
        seed: int,
        n_classes: int,
    ) -> Self:
        """Return maps fitted to the first rows, and no sums yet."""
        views = ViewSet.fit(bank.kernels, feature_map, rows, np.random.RandomState(seed))
        assert views.blocks is not None, "the map is explicit"
        widths = list(views.blocks.widths)
        total = sum(widths)
        shapes = (total,), (n_classes,), (n_classes, total), (n_classes, total, total)
        return cls(
            bank,
            [view.kernel for view in views],
            [view.projector for view in views],
            widths,
            ClassMoments(*(np.zeros(shape) for shape in shapes)),
        )

    def plus(self, rows: Rows, codes: NDArray[np.intp], max_memory: int | None) -> PartialSums:
        """Return the sums with those of more rows (N, d) of given class numbers."""
        blocks = FeatureBlocks(self.projectors, rows, max_memory)
        n_classes = len(self.moments.counts)
        (found,) = blocks.moments([range(len(self.projectors))], codes, n_classes)
        moments = self.moments.plus(found) if self.moments.total else found
        return attrs.evolve(self, moments=moments)

    def views_of(self, problem: BinaryProblem, rows: Rows) -> tuple[ViewSet, Target]:
        """Return a problem's views and target; ``rows`` has the type and columns of all rows."""
        members = problem.rows(np.arange(len(self.moments.counts)))
        moments = self.moments.classes(members)
        counts = moments.counts.astype(np.intp)
        target = problem.target(np.repeat(members, counts), rows.dtype)
        forgotten = ForgottenRows((int(moments.total), rows.shape[1]), rows.dtype)
        blocks = GatheredMoments(self.projectors, self.widths, moments, forgotten)
        views = ViewSet.of_blocks(self.kernels, blocks)
        return views, target


class NeedsEveryRow(IncompatibleError, AttributeError):
    """An estimator has no ``partial_fit``, as one of its components needs all rows at once."""


def sums_of(estimator: Any) -> Choice:
    """Return the components of an MKLClassifier, if they need sums over rows only.

    Raises
    ------
    NeedsEveryRow
        If one does not; the message names those that do. Or if probabilities or weights of classes
        are asked for.
    """
    if estimator.class_weight is not None:
        raise NeedsEveryRow(
            "partial_fit keeps sums over rows that count once each, and class_weight weighs them:"
            " set class_weight=None, or fit on all rows."
        )
    if estimator.probability:
        raise NeedsEveryRow(
            "partial_fit keeps sums over rows, and probabilities need the rows themselves, to leave"
            " some out: set probability=False, and calibrate the model on other rows with"
            " CalibratedClassifierCV(FrozenEstimator(model)) of scikit-learn."
        )
    choice = choose_components(estimator.combiner, estimator.feature_map, estimator.learner)
    _refuse_unless_sums(choice)
    return choice


def partial_fit(
    estimator: Estimator, choice: Choice, X: Any, y: Any, classes: Any = None
) -> Estimator:
    """Let an MKLClassifier learn from more rows; see :attr:`mklkit.MKLClassifier.partial_fit`.

    Raises
    ------
    DataError
        If classes are missing or a label is none of them.
    """
    started = hasattr(estimator, "partial_sums_")
    if not started and classes is None:
        raise DataError(
            "The first call of partial_fit needs all class labels that occur: classes=[...]."
        )
    X = check_new_rows(estimator, X, *([] if started else [estimator.kernels]))
    known = estimator.classes_ if started else np.unique(classes)
    codes = _codes_of(column_or_1d(y, warn=True), known, len(X))
    estimator.classes_ = known
    estimator.class_weight_ = np.ones(len(known))
    strategy = choose_strategy(estimator.multiclass, choice.combiner, choice.learner)
    problems = decompose(len(known), strategy)
    random_state = check_random_state(estimator.random_state)
    seeds = random_state.randint(2**31 - 1, size=len(problems) + 1)
    if not started:
        bank = bank_of(estimator.kernels, estimator, X, codes)
        first = PartialSums.start(bank, choice.feature_map, X, seeds[-1], len(known))
        estimator.partial_sums_ = first
    sums = estimator.partial_sums_.plus(X, codes, memory_given(estimator.max_memory))
    estimator.partial_sums_ = sums
    if not sums.moments.counts.all():
        return estimator
    decisions = []
    for problem, seed in zip(problems, seeds[:-1], strict=True):
        views, target = sums.views_of(problem, X)
        draw = np.random.RandomState(seed)
        checked = FeatureBlocks(sums.projectors, X)
        decisions.append(
            fit_decision(choice.combiner, views, target, choice.learner, draw, checked)
        )
    n_rows = int(sums.moments.total)
    estimator._keep_problems(choice, sums.bank, problems, decisions, n_rows)
    return estimator


def _codes_of(labels: NDArray[Any], classes: NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return class numbers (N,) of labels."""
    if len(labels) != n_rows:
        raise DataError(f"There must be one label per row; got {len(labels)} for {n_rows} rows.")
    if len(classes) < 2:
        raise DataError("A classifier needs at least two classes.")
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    others = np.flatnonzero(classes[codes] != labels)
    if len(others):
        label = labels[others[:1]].tolist()[0]
        raise DataError(f"Label {quoted(label)} is none of the classes of the first call.")
    return codes


def _refuse_unless_sums(choice: Choice) -> None:
    parts: tuple[tuple[Literal["combiner", "learner"], Any, Any], ...] = (
        ("combiner", choice.combiner, CombinerFacts),
        ("learner", choice.learner, LearnerFacts),
    )
    for kind, component, facts in parts:
        if not facts_of(component, facts).from_moments:
            stated = (
                (entry.name, getattr(entry.target, "facts", None))
                for entry in get_registry().entries(kind)
            )
            able = [name for name, own in stated if isinstance(own, facts) and own.from_moments]
            raise NeedsEveryRow(
                f"partial_fit keeps sums over rows, and the {kind} {component.name!r} needs the"
                f" rows themselves; those that work: {', '.join(able)}."
            )
    facts_of_map = facts_of(choice.feature_map, FeatureMapFacts)
    if not (facts_of_map.explicit and facts_of_map.shared):
        raise NeedsEveryRow(
            f"partial_fit needs a map of some landmarks, such as 'empirical(subset=100)'; got the"
            f" feature map {choice.feature_map.name!r}, whose columns grow with the rows."
        )
