"""Components with one defect each: the check made for it fails, and says what to do."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from mklkit_authors.testing import (
    CheckFailure,
    NotApplicable,
    check_component,
    component_checks,
)
from mklkit_authors.testing.checks import checks_of

from mklkit import MKLKitError, get_registry
from mklkit.feature_maps import Empirical, Implicit
from mklkit.kernels import RBF, Precomputed
from mklkit.learners import SVM
from mklkit.missing import Present
from mklkit.plugin import (
    CombinerFacts,
    FeatureMapFacts,
    FittedKernel,
    FittedScalarKernel,
    FusionCombiner,
    KernelFacts,
    LearnerFacts,
    LinearDecision,
    Target,
    WeightingCombiner,
    weighting_rule,
)
from mklkit.protocols import Component
from mklkit.registry.readings import category_codes, texts_of

DEFECTS: list[Any] = []
Method = Callable[..., Any]


def defective(check: str) -> Callable[[Any], Any]:
    """Return a decorator of components that fail in the check of that name."""

    def add(cls: Any) -> Any:
        DEFECTS.append(pytest.param(cls, check, id=f"{cls.__name__}-{check}"))
        return cls

    return add


def defect(check: str, base: type, facts: Any = None) -> Callable[[Method], Any]:
    """Return a decorator of a method ``replaced_word`` that spoils a sound component."""

    def add(method: Method) -> Any:
        replaced, _, word = method.__name__.partition("_")
        members = {"__doc__": "Wrong.", {"call": "__call__"}.get(replaced, replaced): method}
        stated = {} if facts is None else {"facts": facts}
        return defective(check)(type(word, (base,), members | stated))

    return add


@attrs.frozen
class Mean(FusionCombiner):
    """The mean of the decisions."""

    name: ClassVar[str] = "mean"

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores.mean(axis=1))


@defective("values_that_are_no_numbers_are_refused")
@attrs.frozen
class Kernel(Component):
    """The inner product and one."""

    name: ClassVar[str] = "plain"
    shift: float = attrs.field(default=1.0, converter=float)

    def fit(self, rows: np.ndarray) -> Any:
        return self

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b.T + 1.0

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return np.asarray((a**2).sum(axis=1) + 1.0)


@defect("values_have_their_shapes", Kernel)
def call_flat(self: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a @ b.T).ravel()


@defect("symmetric", Kernel)
def call_crooked(self: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b.T + a[:, :1]


@defect("diagonal_is_that_of_the_matrix", Kernel)
def diagonal_shifted(self: Any, a: np.ndarray) -> np.ndarray:
    return np.asarray((a**2).sum(axis=1))


@defect("each_row_by_itself", Kernel)
def call_crowded(self: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b.T + len(a) * len(b)


@defect("inputs_are_left_as_they_are", Kernel)
def fit_scribbling(self: Any, rows: np.ndarray) -> Any:
    rows -= rows.mean(axis=0)
    return self


@defect("global_random_state_has_no_say", Kernel)
def fit_reckless(self: Any, rows: np.ndarray) -> Any:
    return RBF(gamma=1 + np.random.random()).fit(rows)  # noqa: NPY002


@defect("global_random_state_has_no_say", Kernel)
def fit_shuffling(self: Any, rows: np.ndarray) -> Any:
    random.shuffle([1, 2, 3])
    return self


@defective("parameters_round_trip")
class Fussy(Kernel):
    """Has a converter that changes its mind."""

    def with_params(self, **params: Any) -> Any:
        return type(self)(shift=1 + params["shift"])


@defective("positive_semi_definite")
class Negative(Kernel):
    """Not positive semi-definite."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -(a @ b.T)

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return -np.asarray((a**2).sum(axis=1))


@attrs.frozen
class FallingFitted(FittedScalarKernel):
    base: ClassVar[str] = "squared_distance"
    monotone: ClassVar[int] = 1

    def of(self, base: np.ndarray, out: np.ndarray) -> np.ndarray:
        return np.exp(np.negative(base, out=out), out=out)


@defect("shared_base_is_honest", Kernel)
def fit_falling(self: Any, rows: np.ndarray) -> Any:
    return FallingFitted()


@defective("fit_changes_nothing")
@attrs.define
class Changing(Component):
    """Is its own fitted object."""

    name: ClassVar[str] = "changing"
    width: float = attrs.field(default=1.0, converter=float)

    def fit(self, rows: np.ndarray) -> Any:
        self.width = float(rows.std())
        return RBF(gamma=self.width).fit(rows)


@defective("name_and_description")
class Wordless(Kernel):
    name: ClassVar[str] = "two words"


@defective("name_and_description")
class Underlined(Kernel):
    """
    Begins a line too late.
    """


@defective("name_and_description")
class Outdated(Kernel):
    """The inner product and one.

    Parameters
    ----------
    shift : float
        What is added.
    width : float
        There is no such thing.

    Examples
    --------
    >>> Outdated()
    Outdated(shift=1.0)
    """


@attrs.frozen
class Weighting(WeightingCombiner):
    """Even weights."""

    name: ClassVar[str] = "even"

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.ones(len(views))


MOMENTS = CombinerFacts(from_moments=True)


@defect("training_order_does_not_matter", Weighting)
def weights_first(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return 1 + np.arange(len(views)) * (y[0] > 0)


@defect("training_order_does_not_matter", Weighting)
def weights_last(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return 1 + np.arange(len(views)) * (y[-1] > 0)


@defect("sums_are_enough", Weighting, MOMENTS)
def weights_rows(self: Any, views: Any, y: np.ndarray) -> np.ndarray:
    return np.array([np.abs(view.gram()).max() for view in views])


@defect("weights_of_rows_count", Weighting, CombinerFacts(row_weights="throughout"))
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

    facts: ClassVar[CombinerFacts] = CombinerFacts(learner="svn")


@defect("learns_what_is_plain", Mean)
def fuse_inverted(self: Any, scores: np.ndarray) -> np.ndarray:
    return -scores.mean(axis=1)


@defect("each_row_by_itself", Mean)
def fuse_blocks(self: Any, scores: np.ndarray) -> np.ndarray:
    return scores.mean(axis=1) - scores.mean() * (len(scores) > 256)


@attrs.frozen
class Learner(Component):
    """Nearest class mean on features."""

    name: ClassVar[str] = "means"
    facts: ClassVar[Any] = LearnerFacts(on_features=True)

    def fit(self, side: Any, target: Any) -> Any:
        return LinearDecision(side.project_back(target.values) / len(target), 0.0)


@defect("learns_what_is_plain", Learner)
def fit_silent(self: Any, side: Any, target: Any) -> Any:
    return LinearDecision(np.zeros(side.features().shape[1]), 0.0)


NUMBERS = LearnerFacts(on_features=True, tasks=("two classes", "numbers"))


@defect("learns_what_is_plain", Learner, NUMBERS)
def fit_signs(self: Any, side: Any, target: Any) -> Any:
    return Learner.fit(self, side, Target.two_classes(np.sign(target.values)))


@defect("training_order_does_not_matter", Learner)
def fit_half(self: Any, side: Any, target: Any) -> Any:
    first = np.arange(len(target)) < len(target) // 2
    return Learner.fit(self, side, Target.two_classes(np.where(first, target.values, 0.0)))


@defect("sums_are_enough", Learner, LearnerFacts(on_features=True, from_moments=True))
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


@defective("states_its_facts")
class Undecided(Learner):
    """Does not say what it learns from."""

    facts: ClassVar[Any] = None


@defective("states_its_facts")
class Mistuned(Learner):
    """Wants a parameter tuned that it does not have."""

    facts: ClassVar[Any] = LearnerFacts(on_features=True, search_space={"shrinkage": (0.1, 1.0)})


@defective("weights_of_rows_count")
class Unweighing(Learner):
    """Says that it takes weights of rows, and has no use for them."""

    facts: ClassVar[Any] = LearnerFacts(on_features=True, takes_row_weights=True)


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

    facts: ClassVar[FeatureMapFacts] = FeatureMapFacts(explicit=True)


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
def around_replaced(self: Any, combiner: Any) -> Any:
    return get_registry().create("combiner", "alignment")


@defect("learns_from_rows_that_lack", Present)
def fit_flat(self: Any, kernel: Any, rows: np.ndarray) -> Any:
    return Changed(kernel, lambda values, _: 0 * values)


def run_check(component: Any, name: str) -> None:
    """Run the check of that name alone."""
    [check] = [check for check in component_checks(component) if check.name == name]
    check()


@pytest.mark.parametrize(("cls", "name"), DEFECTS)
def test_the_check_for_it_fails(cls: Any, name: str) -> None:
    with pytest.raises(CheckFailure, match=rf"^\w+( map)? {cls.name}, {name}: .*Expected .*\.$"):
        run_check(cls, name)


def test_a_class_that_no_hook_lists_cannot_be_saved() -> None:
    with pytest.raises(CheckFailure, match=r"Weighting.*@register.*pip install -e"):
        run_check(Weighting, "model_file_round_trip")


def test_all_failures_are_listed_at_once() -> None:
    with pytest.raises(CheckFailure) as failure:
        check_component(Negative)
    head, *failed = str(failure.value).splitlines()
    assert head == f"{len(failed)} of {len(component_checks(Negative, 'kernel'))} checks failed."
    assert any("facts = KernelFacts(definite=False)" in line for line in failed)


def test_declarations_ask_for_less() -> None:
    class Declared(Negative):
        facts: ClassVar[KernelFacts] = KernelFacts(definite=False)

    class Bounded(Off):
        facts: ClassVar[CombinerFacts] = CombinerFacts(weight_range=(0.0, 1.0))

    with pytest.raises(NotApplicable, match="does not claim"):
        run_check(Declared, "positive_semi_definite")
    run_check(Bounded, "weights_are_on_the_simplex")
    Bounded.facts = CombinerFacts(weight_range=(0.0, 0.5))
    with pytest.raises(CheckFailure, match="weight_range"):
        run_check(Bounded, "weights_are_on_the_simplex")


class Reading(Kernel):
    """The share of equal columns, of rows that it remembers."""

    def fit(self, rows: np.ndarray) -> Any:
        SEEN.append(rows)
        return self

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a[:, None, :2] == b[:, :2]).mean(axis=2)

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return np.ones(len(a))


SEEN: list[np.ndarray] = []


@pytest.mark.parametrize("reads", ["numbers", "amounts", "categories", "text"])
def test_a_kernel_is_checked_on_rows_of_what_it_reads(reads: Any) -> None:
    class Reader(Reading):
        facts: ClassVar[KernelFacts] = KernelFacts(reads=reads)

    SEEN.clear()
    run_check(Reader, "positive_semi_definite")
    rows = SEEN[0]
    whole = bool((rows == np.floor(rows)).all())
    if reads == "text":
        assert whole
        assert {len(text) for text in texts_of(rows)} == {6, 7, 8, 9}
    if reads == "amounts":
        assert set(rows.ravel()) == {0.0, 1.0}
    if reads == "categories":
        assert set(rows.ravel()) == set(category_codes([0, 1]))
    assert whole == (reads != "numbers")


@pytest.mark.parametrize(
    ("reads", "examples"),
    [
        ("text", ("(())", "()()", "((()))")),
        ("categories", ("red", "green")),
        ("numbers", (2.0, 3.5, 7.0)),
    ],
)
def test_a_kernel_with_examples_is_checked_on_these_alone(reads: Any, examples: Any) -> None:
    codes = category_codes(examples) if reads == "categories" else np.array(examples)

    class Choosy(Reading):
        """The share of equal columns, of the values that it takes."""

        facts: ClassVar[KernelFacts] = KernelFacts(reads=reads, examples=examples)

        def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            for rows in (a, b):
                values = np.array(texts_of(rows)) if reads == "text" else rows
                if not np.isin(values, codes).all():
                    raise ValueError("This is not allowed.")
            return super().__call__(a, b)

    for name in ("each_row_by_itself", "odd_data_are_learned_or_refused"):
        run_check(Choosy, name)
    Choosy.facts = KernelFacts(reads=reads)
    with pytest.raises(CheckFailure, match=r"This is not allowed.*facts = KernelFacts\(examples="):
        run_check(Choosy, "each_row_by_itself")


def test_a_kernel_that_allows_gaps_is_checked_on_rows_with_gaps() -> None:
    class Taking(Reading):
        """Its diagonal is 1 even for gaps, which are equal to nothing."""

        facts: ClassVar[KernelFacts] = KernelFacts(reads="categories", allows_gaps=True)

    with pytest.raises(NotApplicable, match="does not claim to take gaps"):
        run_check(Reading, "gaps_are_left_out")
    with pytest.raises(CheckFailure, match="of rows with gaps too"):
        run_check(Taking, "gaps_are_left_out")

    class Spreading(Taking):
        def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return a @ b.T

    with pytest.raises(CheckFailure, match=r"rows with gaps to be finite"):
        run_check(Spreading, "gaps_are_left_out")


def test_instances_are_checked_as_they_are() -> None:
    check_component(SVM(C=10))
    check_component(get_registry().create("combiner", "uniform"))
    with pytest.raises(CheckFailure, match="matrix"):
        check_component(Precomputed)
    [by_name] = [c for c in checks_of(get_registry(), "mklkit") if c.component == "precomputed"]
    with pytest.raises(NotApplicable, match=r"check_component\(Precomputed"):
        by_name()
    # It knows twelve rows, and is asked about sixteen.
    with pytest.raises(CheckFailure, match="row ids from 0 to 11"):
        check_component(Precomputed(np.eye(12)), rows=np.arange(16.0)[:, None])


def test_what_is_no_component_is_refused() -> None:
    with pytest.raises(MKLKitError, match="'fit' method"):
        component_checks(object())
    with pytest.raises(MKLKitError, match="12 or more"):
        component_checks(RBF, rows=np.zeros((3, 1)))


def test_the_likeliest_cause_comes_first_with_the_authors_line() -> None:
    class Flipping(Learner):
        """Turns the labels round where they are."""

        def fit(self, side: Any, target: Any) -> Any:
            y = target.values
            y *= -1
            return super().fit(side, Target.two_classes(-y))

    with pytest.raises(CheckFailure) as failure:
        check_component(Flipping)
    first = str(failure.value).splitlines()[1]
    assert first.startswith("learner means, inputs_are_left_as_they_are: Expected the labels y,")
    line = inspect.getsourcelines(Flipping)[1] + 5
    assert f"in the labels y, written at {__file__}, line {line}." in first


def test_an_error_of_the_library_is_put_down_to_the_component() -> None:
    class Below(Weighting):
        """Gives a weight below zero."""

        def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
            return -np.ones(len(views))

    line = inspect.getsourcelines(Below)[1]
    with pytest.raises(CheckFailure, match=rf"at {__file__}, line {line}\."):
        run_check(Below, "each_row_by_itself")


def test_whatever_a_component_raises_is_a_failure() -> None:
    class Odd(BaseException):
        def __str__(self) -> str:
            raise ValueError

    class Raising(Kernel):
        """Raises what is no Exception."""

        def fit(self, rows: np.ndarray) -> Any:
            raise Odd

    with pytest.raises(CheckFailure, match=r"Expected no error; got Odd: Odd, at .*line"):
        check_component(Raising)
