"""Combiners, learners, feature maps and strategies for missing sources with one defect each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
from defects import defect, defective

from mklkit import MKLKitError, get_registry
from mklkit.feature_maps import Empirical, Implicit
from mklkit.missing import Present
from mklkit.plugin import (
    CombinerTraits,
    FeatureMapTraits,
    FittedKernel,
    FusionCombiner,
    LearnerTraits,
    LinearDecision,
    Target,
    WeightingCombiner,
    weighting_rule,
)
from mklkit.protocols import Learner as BaseOfLearners


@attrs.frozen
class Mean(FusionCombiner):
    """The mean of the decisions."""

    name: ClassVar[str] = "mean"

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores.mean(axis=1))


@attrs.frozen
class Weighting(WeightingCombiner):
    """Even weights."""

    name: ClassVar[str] = "even"

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.ones(len(views))


MOMENTS = CombinerTraits(from_moments=True)


@defect("training_order_does_not_matter", Weighting)
def weights_first(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return 1 + np.arange(len(views)) * (y[0] > 0)


@defect("training_order_does_not_matter", Weighting)
def weights_last(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return 1 + np.arange(len(views)) * (y[-1] > 0)


@defect("sums_are_enough", Weighting, MOMENTS)
def weights_rows(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return np.array([np.abs(view.gram()).max() for view in views])


@defect("weights_of_rows_count", Weighting, CombinerTraits(row_weights="throughout"))
def weights_alike(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return np.array([(view.gram() @ y) @ y / np.linalg.norm(view.gram()) for view in views])


@defect("weights_of_rows_count", Weighting)
def fit_dropping(self: Any, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
    unweighted = attrs.evolve(target, row_weights=None)
    return Weighting.fit(self, views, unweighted, learner, random_state)


@defect("learns_what_is_plain", Weighting)
def fit_nonsense(self: Any, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
    return object()


@defect("one_seed_gives_one_result", Weighting)
def weights_unseeded(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return np.random.default_rng().random(len(views))


@defect("inputs_are_left_as_they_are", Weighting)
def weights_meddling(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    for view in views:
        gram = view.gram()
        gram -= gram.mean()
    return np.ones(len(views))


@defect("odd_data_are_learned_or_refused", Weighting)
def weights_fragile(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    spreads = np.array([view.gram().std() for view in views])
    if not spreads.all():
        raise ZeroDivisionError("spread of zero")
    return 1 / spreads


@defect("odd_data_are_learned_or_refused", Weighting)
def weights_refused(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    raise MKLKitError("No.")


@defect("useless_kernels_do_no_harm", Weighting)
def weights_once(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    if len({float(view.gram().sum()) for view in views}) < len(views):
        raise MKLKitError("No.")
    return np.ones(len(views))


@defective("weights_are_on_the_simplex")
@weighting_rule("nan")
def nan(view: Any, y: np.ndarray) -> float:
    """Has no weight for any kernel."""
    return np.nan


@defective("weights_are_on_the_simplex")
class Off(Weighting):
    """Has weights that don't sum to one."""

    def fit(self, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
        decision = super().fit(views, target, learner, random_state)
        return attrs.evolve(decision, weights=np.ones(len(views)))


@defective("declares_its_partners")
class Orphan(Weighting):
    """Names a learner that does not exist."""

    traits: ClassVar[CombinerTraits] = CombinerTraits(learner="svn")


@defect("learns_what_is_plain", Mean)
def fuse_inverted(self: Any, scores: np.ndarray) -> np.ndarray:
    return -scores.mean(axis=1)


@defect("each_row_by_itself", Mean)
def fuse_blocks(self: Any, scores: np.ndarray) -> np.ndarray:
    return scores.mean(axis=1) - scores.mean() * (len(scores) > 256)


@attrs.frozen
class Learner(BaseOfLearners):
    """Nearest class mean on features."""

    name: ClassVar[str] = "means"
    traits: ClassVar[Any] = LearnerTraits(on_features=True)

    def fit(self, side: Any, target: Any) -> Any:
        return LinearDecision(side.project_back(target.values) / len(target), 0.0)


@defect("learns_what_is_plain", Learner)
def fit_silent(self: Any, side: Any, target: Any) -> Any:
    return LinearDecision(np.zeros(side.features().shape[1]), 0.0)


NUMBERS = LearnerTraits(on_features=True, learns=("two classes", "numbers"))


@defect("learns_what_is_plain", Learner, NUMBERS)
def fit_signs(self: Any, side: Any, target: Any) -> Any:
    return Learner.fit(self, side, Target.two_classes(np.sign(target.values)))


@defect("training_order_does_not_matter", Learner)
def fit_half(self: Any, side: Any, target: Any) -> Any:
    first = np.arange(len(target)) < len(target) // 2
    return Learner.fit(self, side, Target.two_classes(np.where(first, target.values, 0.0)))


@defect("sums_are_enough", Learner, LearnerTraits(on_features=True, from_moments=True))
def fit_rows(self: Any, side: Any, target: Any) -> Any:
    return LinearDecision(side.features().T @ target.values / len(target), 0.0)


@defect("one_seed_gives_one_result", Learner)
def fit_noise(self: Any, side: Any, target: Any) -> Any:
    noise = np.random.default_rng().normal(size=len(target))
    return Learner.fit(self, side, Target.two_classes(target.values + noise))


@defect("decides_one_number_a_row", Learner)
def fit_column(self: Any, side: Any, target: Any) -> Any:
    fitted = Learner.fit(self, side, target)
    return attrs.evolve(fitted, coefficients=fitted.coefficients[:, None])


CLASSES = LearnerTraits(
    on_features=True, learns=("two classes", "several classes"), one_hot_classes=True
)


@defect("numbers_of_classes_are_columns", Learner, CLASSES)
def fit_first(self: Any, side: Any, target: Any) -> Any:
    members = target.values[:, None] == [0, 0, 2]  # There is no column of class 1.
    return LinearDecision(side.project_back(members / members.sum(axis=0)), 0.0)


@defective("declares_its_traits")
class Undecided(Learner):
    """Does not say what it learns from."""

    traits: ClassVar[Any] = None


@defective("declares_its_traits")
class Mistuned(Learner):
    """Wants a parameter tuned that it does not have."""

    traits: ClassVar[Any] = LearnerTraits(on_features=True, search_space={"shrinkage": (0.1, 1.0)})


@defective("weights_of_rows_count")
class Unweighing(Learner):
    """Says that it takes weights of rows, and has no use for them."""

    traits: ClassVar[Any] = LearnerTraits(on_features=True, takes_row_weights=True)


@defect("implicit_columns_are_similarities", Implicit)
def fit_lifted(self: Any, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
    return Implicit.fit(self, lambda a, b: 1 + kernel(a, b), rows, random_state)


@defect("training_order_does_not_matter", Empirical)
def fit_greedy(self: Any, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
    return attrs.evolve(Empirical.fit(self, kernel, rows[:5], random_state), full=False)


@defect("shortcuts_agree_with_transform", Empirical)
def fit_overhasty(self: Any, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
    return attrs.evolve(Empirical.fit(self, kernel, rows[:5], random_state), full=True)


@defective("says_whether_it_is_explicit")
class Lying(Implicit):
    """Says that it is explicit, and is not."""

    traits: ClassVar[FeatureMapTraits] = FeatureMapTraits(explicit=True)


@attrs.frozen
class Changed(FittedKernel):
    """Another kernel, whose values it changes."""

    kernel: Any
    change: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.change(self.kernel(a, b), a)

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(a))


@defect("gram_matrices_are_definite", Present)
def fit_negated(self: Any, kernel: Any, rows: np.ndarray) -> Any:
    return Changed(kernel, lambda values, _: -values)


@defect("each_new_row_by_itself", Present)
def fit_together(self: Any, kernel: Any, rows: np.ndarray) -> Any:
    return Changed(kernel, lambda values, a: values * (1 + a.std()))


@defect("complete_rows_are_as_without", Present)
def wrap_replaced(self: Any, combiner: Any) -> Any:
    return get_registry().create("combiner", "alignment")


@defect("learns_from_rows_that_lack", Present)
def fit_flat(self: Any, kernel: Any, rows: np.ndarray) -> Any:
    return Changed(kernel, lambda values, _: 0 * values)
