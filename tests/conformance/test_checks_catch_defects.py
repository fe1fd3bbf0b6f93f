"""Components with one defect each: the check made for it fails, and says what to do."""

from __future__ import annotations

import inspect
import random
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from mklkit import MKLKitError, get_registry
from mklkit.feature_maps import Empirical, Implicit
from mklkit.kernels import RBF, Precomputed
from mklkit.learners import SVM
from mklkit.numerics.readings import category_codes, texts_of
from mklkit.plugin import (
    CombinerFacts,
    FeatureMapFacts,
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
from mklkit.testing import (
    CheckFailure,
    NotApplicable,
    check_component,
    component_checks,
)


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


class Wordless(Kernel):
    name: ClassVar[str] = "two words"


class Flat(Kernel):
    """One value for all pairs."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a @ b.T).ravel()


class Crooked(Kernel):
    """Not symmetric."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b.T + a[:, :1]


class Negative(Kernel):
    """Not positive semi-definite."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -(a @ b.T)

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        return -np.asarray((a**2).sum(axis=1))


class Crowded(Kernel):
    """Looks at the other rows."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b.T + len(a) * len(b)


class Scribbling(Kernel):
    """Writes into the rows."""

    def fit(self, rows: np.ndarray) -> Any:
        rows -= rows.mean(axis=0)
        return self


@attrs.frozen
class ByFirst(Component):
    """Depends on the first training row."""

    name: ClassVar[str] = "by-first"

    def fit(self, rows: np.ndarray) -> Any:
        return RBF(gamma=1 + abs(float(rows[0, 0]))).fit(rows)


@attrs.frozen
class Boasting(Component):
    """Falls with the distance, and says it grows."""

    name: ClassVar[str] = "boasting"

    def fit(self, rows: np.ndarray) -> Any:
        return BoastingFitted()


@attrs.frozen
class BoastingFitted(FittedScalarKernel):
    base: ClassVar[str] = "squared_distance"
    monotone: ClassVar[int] = 1

    def of(self, base: np.ndarray, out: np.ndarray) -> np.ndarray:
        return np.exp(np.negative(base, out=out), out=out)


@attrs.define
class Changing(Component):
    """Is its own fitted object."""

    name: ClassVar[str] = "changing"
    width: float = attrs.field(default=1.0, converter=float)

    def fit(self, rows: np.ndarray) -> Any:
        self.width = float(rows.std())
        return RBF(gamma=self.width).fit(rows)


class Reckless(Kernel):
    """Draws from the global random state."""

    def fit(self, rows: np.ndarray) -> Any:
        return RBF(gamma=1 + np.random.random()).fit(rows)  # noqa: NPY002


class WastefulInPython(Kernel):
    """Shuffles by Python's own random numbers, to no effect."""

    def fit(self, rows: np.ndarray) -> Any:
        random.shuffle([1, 2, 3])
        return self


class Underlined(Kernel):
    """
    Begins a line too late.
    """


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


class Fussy(Kernel):
    """Has a converter that changes its mind."""

    shift: float

    def with_params(self, **params: Any) -> Any:
        return type(self)(shift=1 + params["shift"])


KERNELS = {
    Wordless: "name_and_description",
    Flat: "values_have_their_shapes",
    Crooked: "symmetric",
    Negative: "positive_semi_definite",
    Crowded: "each_row_by_itself",
    Scribbling: "inputs_are_left_as_they_are",
    ByFirst: "training_order_does_not_matter",
    Boasting: "shared_base_is_honest",
    Changing: "fit_changes_nothing",
    Reckless: "global_random_state_has_no_say",
    Fussy: "parameters_round_trip",
    WastefulInPython: "global_random_state_has_no_say",
    Underlined: "name_and_description",
    Outdated: "name_and_description",
    Kernel: "values_that_are_no_numbers_are_refused",
}


@attrs.frozen
class Weighting(WeightingCombiner):
    """Even weights."""

    name: ClassVar[str] = "even"

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.ones(len(views))


class ByFirstLabel(Weighting):
    """Depends on the label of the first row."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return 1 + np.arange(len(views)) * (y[0] > 0)


class ByLastLabel(Weighting):
    """Depends on the label of the last row."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return 1 + np.arange(len(views)) * (y[-1] > 0)


@weighting_rule("nan")
def nan(view: Any, y: np.ndarray) -> float:
    """Has no weight for any kernel."""
    return np.nan


@weighting_rule("forgetful")
def forgetful(view: Any, y: np.ndarray) -> Any:
    """Returns nothing."""


class ReadsRows(Weighting):
    """Needs features, and says that moments do."""

    facts: ClassVar[CombinerFacts] = CombinerFacts(from_moments=True)

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.array([np.abs(view.gram()).max() for view in views])


class SortsRows(ReadsRows):
    """Depends on whether the rows are in the order of their classes, as those of moments are."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return 1 + np.arange(len(views)) * (np.diff(y) < 0).any()


class Unweighted(Weighting):
    """Says that weights of rows count throughout, where they count in the learner alone."""

    facts: ClassVar[CombinerFacts] = CombinerFacts(row_weights="throughout")

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.array([(view.gram() @ y) @ y / np.linalg.norm(view.gram()) for view in views])


class Dropping(Weighting):
    """Drops the weights of rows."""

    def fit(self, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
        unweighted = attrs.evolve(target, row_weights=None)
        return super().fit(views, unweighted, learner, random_state)


class Unseeded(Weighting):
    """Weighs at random, without the seed."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.random.default_rng().random(len(views))


class Meddling(Weighting):
    """Centres the Gram matrices of others."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        for view in views:
            gram = view.gram()
            gram -= gram.mean()
        return np.ones(len(views))


class Orphan(Weighting):
    """Names a learner that does not exist."""

    facts: ClassVar[CombinerFacts] = CombinerFacts(learner="svn")


class Off(Weighting):
    """Has weights that don't sum to one."""

    def fit(self, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
        return attrs.evolve(
            super().fit(views, target, learner, random_state),
            weights=np.ones(len(views)),
        )


@attrs.frozen
class Inverted(FusionCombiner):
    """Decides for the other class."""

    name: ClassVar[str] = "inverted"

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        return -scores.mean(axis=1)


class Centring(Inverted):
    """Depends on the rows asked about."""

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores.mean(axis=1) - scores.mean())


class CentringBlocks(Inverted):
    """Depends on the rows asked about, where they are many."""

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores.mean(axis=1) - scores.mean() * (len(scores) > 256))


class Fragile(Weighting):
    """Divides by the spread."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        spreads = np.array([view.gram().std() for view in views])
        if not spreads.all():
            raise ZeroDivisionError("spread of zero")
        return 1 / spreads


class Unwilling(Weighting):
    """Refuses whatever it is given."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        raise MKLKitError("No.")


class UnwillingTwice(Weighting):
    """Refuses a kernel that it has seen."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        if len({float(view.gram().sum()) for view in views}) < len(views):
            raise MKLKitError("No.")
        return np.ones(len(views))


class ByFirstRow(Weighting):
    """Looks at five similarities of the first row."""

    def weights(self, views: Any, y: np.ndarray) -> np.ndarray:
        return np.array([(view.gram()[0, :5] ** 2).max() for view in views])


COMBINERS = {
    Unwilling: "odd_data_are_learned_or_refused",
    UnwillingTwice: "useless_kernels_do_no_harm",
    ByFirstRow: "training_order_does_not_matter",
    ByFirstLabel: "training_order_does_not_matter",
    ByLastLabel: "training_order_does_not_matter",
    nan: "weights_are_used_as_they_are",
    forgetful: "weights_are_used_as_they_are",
    ReadsRows: "sums_are_enough",
    SortsRows: "sums_are_enough",
    Unweighted: "weights_of_rows_count",
    Dropping: "weights_of_rows_count",
    Unseeded: "one_seed_gives_one_result",
    Meddling: "inputs_are_left_as_they_are",
    Orphan: "declares_its_partners",
    Off: "weights_are_on_the_simplex",
    Inverted: "learns_what_is_plain",
    Centring: "each_row_by_itself",
    CentringBlocks: "each_row_by_itself",
    Fragile: "odd_data_are_learned_or_refused",
}


@attrs.frozen
class Learner(Component):
    """Nearest class mean on features."""

    name: ClassVar[str] = "means"
    facts: ClassVar[Any] = LearnerFacts(on_features=True)

    def fit(self, side: Any, target: Any) -> Any:
        return LinearDecision(side.project_back(target.values) / len(target), 0.0)


class Silent(Learner):
    """Says zero."""

    def fit(self, side: Any, target: Any) -> Any:
        return LinearDecision(np.zeros(side.features().shape[1]), 0.0)


class Signs(Learner):
    """Declares numbers, and learns from their signs."""

    facts: ClassVar[Any] = LearnerFacts(on_features=True, tasks=("two classes", "numbers"))

    def fit(self, side: Any, target: Any) -> Any:
        return super().fit(side, Target.two_classes(np.sign(target.values)))


class Undecided(Learner):
    """Does not say what it learns from."""

    facts: ClassVar[Any] = None


class Mistuned(Learner):
    """Wants a parameter tuned that it does not have."""

    facts: ClassVar[Any] = LearnerFacts(on_features=True, search_space={"shrinkage": (0.1, 1.0)})


class Ordered(Learner):
    """Believes the first half of the rows."""

    def fit(self, side: Any, target: Any) -> Any:
        first = np.arange(len(target)) < len(target) // 2
        return super().fit(side, Target.two_classes(np.where(first, target.values, 0.0)))


class NeedsRows(Learner):
    """Needs features, and says that moments do."""

    facts: ClassVar[Any] = LearnerFacts(on_features=True, from_moments=True)

    def fit(self, side: Any, target: Any) -> Any:
        return LinearDecision(side.features().T @ target.values / len(target), 0.0)


class Unweighing(Learner):
    """Says that it takes weights of rows, and has no use for them."""

    facts: ClassVar[Any] = LearnerFacts(on_features=True, takes_row_weights=True)


class Unsure(Learner):
    """Adds noise of its own."""

    def fit(self, side: Any, target: Any) -> Any:
        noise = np.random.default_rng().normal(size=len(target))
        return super().fit(side, Target.two_classes(target.values + noise))


class Careless(Learner):
    """Works in place."""

    def fit(self, side: Any, target: Any) -> Any:
        features = side.features()
        features *= 2
        return super().fit(side, target)


class Column(Learner):
    """Decides by a column instead of a vector."""

    def fit(self, side: Any, target: Any) -> Any:
        fitted = super().fit(side, target)
        return attrs.evolve(fitted, coefficients=fitted.coefficients[:, None])


LEARNERS = {
    Silent: "learns_what_is_plain",
    Signs: "learns_what_is_plain",
    Undecided: "states_its_facts",
    Mistuned: "states_its_facts",
    Ordered: "training_order_does_not_matter",
    NeedsRows: "sums_are_enough",
    Unweighing: "weights_of_rows_count",
    Unsure: "one_seed_gives_one_result",
    Careless: "inputs_are_left_as_they_are",
    Column: "decides_one_number_a_row",
}


class Shifted(Implicit):
    """Similarities that are not the kernel's."""

    def fit(self, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
        return super().fit(lambda a, b: 1 + kernel(a, b), rows, random_state)


class Trampling(Empirical):
    """Centres the rows of others."""

    def fit(self, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
        rows -= rows.mean(axis=0)
        return super().fit(kernel, rows, random_state)


class Whimsical(Empirical):
    """Takes a subset from a seed of its own."""

    def fit(self, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
        own = np.random.RandomState()
        return Empirical(subset=5).fit(kernel, rows, own)


class Lying(Implicit):
    """Says that it is explicit, and is not."""

    facts: ClassVar[FeatureMapFacts] = FeatureMapFacts(explicit=True)


class Greedy(Empirical):
    """Keeps the first rows as landmarks."""

    def fit(self, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
        return attrs.evolve(super().fit(kernel, rows[:5], random_state), full=False)


class Overhasty(Empirical):
    """Calls a subset the whole."""

    def fit(self, kernel: Any, rows: np.ndarray, random_state: Any) -> Any:
        return attrs.evolve(super().fit(kernel, rows[:5], random_state), full=True)


MAPS = {
    Trampling: "inputs_are_left_as_they_are",
    Shifted: "implicit_columns_are_similarities",
    Whimsical: "one_seed_gives_one_result",
    Lying: "says_whether_it_is_explicit",
    Greedy: "training_order_does_not_matter",
    Overhasty: "shortcuts_agree_with_transform",
}

DEFECTS = [
    pytest.param(kind, cls, check, id=f"{cls.__name__}-{check}")
    for kind, table in [
        ("kernel", KERNELS),
        ("combiner", COMBINERS),
        ("learner", LEARNERS),
        ("feature_map", MAPS),
    ]
    for cls, check in table.items()
]


@pytest.mark.parametrize(("kind", "cls", "name"), DEFECTS)
def test_the_check_for_it_fails(kind: Any, cls: type, name: str) -> None:
    [check] = [check for check in component_checks(cls, kind) if check.name == name]
    with pytest.raises(CheckFailure) as failure:
        check()
    message = str(failure.value)
    assert message.startswith(f"{check}: ")
    assert "Expected " in message
    assert message.endswith(".")


def test_a_class_that_no_hook_lists_cannot_be_saved() -> None:
    [check] = [
        check for check in component_checks(Weighting) if check.name == "model_file_round_trip"
    ]
    with pytest.raises(CheckFailure, match=r"Weighting.*@register.*pip install -e"):
        check()


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

    def outcome(component: type, name: str) -> None:
        [check] = [check for check in component_checks(component) if check.name == name]
        check()

    with pytest.raises(NotApplicable, match="does not claim"):
        outcome(Declared, "positive_semi_definite")
    outcome(Bounded, "weights_are_on_the_simplex")
    Bounded.facts = CombinerFacts(weight_range=(0.0, 0.5))
    with pytest.raises(CheckFailure, match="weight_range"):
        outcome(Bounded, "weights_are_on_the_simplex")


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

    [check] = [one for one in component_checks(Reader) if one.name == "positive_semi_definite"]
    SEEN.clear()
    check()
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

    failed = set()
    for check in component_checks(Choosy):
        try:
            check()
        except CheckFailure:
            failed.add(check.name)
        except NotApplicable:
            continue
    # Its parameter takes NaN, and its class is local.
    local = {"parameters_round_trip", "pickled_model_decides_the_same", "model_file_round_trip"}
    assert failed == {"values_that_are_no_numbers_are_refused", *local}


def test_a_kernel_that_allows_gaps_is_checked_on_rows_with_gaps() -> None:
    class Taking(Reading):
        """Its diagonal is 1 even for gaps, which are equal to nothing."""

        facts: ClassVar[KernelFacts] = KernelFacts(reads="categories", allows_gaps=True)

    def outcome(component: type) -> None:
        checks = component_checks(component)
        [check] = [check for check in checks if check.name == "gaps_are_left_out"]
        check()

    with pytest.raises(NotApplicable, match="does not claim to take gaps"):
        outcome(Reading)
    with pytest.raises(CheckFailure, match="of rows with gaps too"):
        outcome(Taking)

    class Spreading(Taking):
        def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return a @ b.T

    with pytest.raises(CheckFailure, match=r"rows with gaps to be finite"):
        outcome(Spreading)


class Nonsense(Weighting):
    """Returns no decision."""

    def fit(self, views: Any, target: Any, learner: Any, random_state: Any) -> Any:
        return object()


def test_what_is_no_decision_is_told_in_words() -> None:
    with pytest.raises(CheckFailure) as failure:
        check_component(Nonsense)
    _, *faults = str(failure.value).splitlines()
    assert len(faults) > 3
    assert all("even must return an object with" in fault for fault in faults), faults


def test_instances_are_checked_as_they_are() -> None:
    check_component(SVM(C=10))
    check_component(get_registry().create("combiner", "uniform"))
    with pytest.raises(CheckFailure, match="matrix"):
        check_component(Precomputed)
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

    with pytest.raises(CheckFailure) as failure:
        check_component(Below)
    line = inspect.getsourcelines(Below)[1]
    assert f"at {__file__}, line {line}." in str(failure.value)
    assert "base.py" not in str(failure.value)


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
