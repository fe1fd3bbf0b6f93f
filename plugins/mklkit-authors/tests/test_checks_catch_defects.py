"""Components with one defect each: the check made for it fails, and says what to do."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from defective_kernels import Kernel, Negative
from defective_strategies import Learner, Off, Weighting
from defects import DEFECTS
from mklkit_authors.testing import (
    CheckFailure,
    NotApplicable,
    check_component,
    component_checks,
)
from mklkit_authors.testing.checks import checks_of

from mklkit import MKLKitError, get_registry
from mklkit.kernels import RBF, Precomputed
from mklkit.learners import SVM
from mklkit.plugin import CombinerTraits, KernelTraits, Target, WeightingCombiner
from mklkit.registry.readings import category_codes, texts_of


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
    assert any("traits = KernelTraits(definite=False)" in line for line in failed)


def test_declarations_ask_for_less() -> None:
    class Declared(Negative):
        traits: ClassVar[KernelTraits] = KernelTraits(definite=False)

    class Bounded(Off):
        traits: ClassVar[CombinerTraits] = CombinerTraits(weight_range=(0.0, 1.0))

    with pytest.raises(NotApplicable, match="does not claim"):
        run_check(Declared, "positive_semi_definite")
    run_check(Bounded, "weights_are_on_the_simplex")
    Bounded.traits = CombinerTraits(weight_range=(0.0, 0.5))
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
        traits: ClassVar[KernelTraits] = KernelTraits(reads=reads)

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

        traits: ClassVar[KernelTraits] = KernelTraits(reads=reads, examples=examples)

        def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            for rows in (a, b):
                values = np.array(texts_of(rows)) if reads == "text" else rows
                if not np.isin(values, codes).all():
                    raise ValueError("This is not allowed.")
            return super().__call__(a, b)

    for name in ("each_row_by_itself", "odd_data_are_learned_or_refused"):
        run_check(Choosy, name)
    Choosy.traits = KernelTraits(reads=reads)
    with pytest.raises(
        CheckFailure, match=r"This is not allowed.*traits = KernelTraits\(examples="
    ):
        run_check(Choosy, "each_row_by_itself")


def test_a_kernel_that_allows_gaps_is_checked_on_rows_with_gaps() -> None:
    class Taking(Reading):
        """Its diagonal is 1 even for gaps, which are equal to nothing."""

        traits: ClassVar[KernelTraits] = KernelTraits(reads="categories", allows_gaps=True)

    with pytest.raises(NotApplicable, match="does not claim to take gaps"):
        run_check(Reading, "gaps_are_left_out")
    with pytest.raises(CheckFailure, match="of samples with gaps too"):
        run_check(Taking, "gaps_are_left_out")

    class Spreading(Taking):
        def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return a @ b.T

    with pytest.raises(CheckFailure, match=r"samples with gaps to be finite"):
        run_check(Spreading, "gaps_are_left_out")


def test_instances_are_checked_as_they_are() -> None:
    check_component(SVM(C=10))
    check_component(get_registry().create("combiner", "uniform"))
    with pytest.raises(CheckFailure, match="matrix"):
        check_component(Precomputed)
    [by_name] = [c for c in checks_of(get_registry(), "mklkit") if c.component == "precomputed"]
    with pytest.raises(NotApplicable, match=r"check_component\(Precomputed"):
        by_name()
    # It knows twelve samples, and is asked about sixteen.
    with pytest.raises(CheckFailure, match="whole numbers 0 to 11"):
        check_component(Precomputed(np.eye(12)), rows=np.arange(16.0)[:, None])


def test_what_is_no_component_is_refused() -> None:
    with pytest.raises(MKLKitError, match="Kernel, FeatureMap"):
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
    assert first.startswith("learner means, inputs_are_left_as_they_are:")
    line = inspect.getsourcelines(Flipping)[1] + 5
    assert f"at {__file__}, line {line}." in first


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


def test_parameters_that_are_no_fields_are_said_to_be() -> None:
    class Unstored(WeightingCombiner):
        """Wrong."""

        name = "unstored"

        def __init__(self, power: float = 1.0) -> None:
            self._power = power

    with pytest.raises(CheckFailure, match=r"attrs\.frozen"):
        check_component(Unstored)


def test_weights_of_rows_that_are_not_taken_are_said_to_be_an_argument() -> None:
    @attrs.frozen
    class Deaf(WeightingCombiner):
        """Wrong."""

        name: ClassVar[str] = "deaf"
        traits: ClassVar[CombinerTraits] = attrs.evolve(
            WeightingCombiner.traits, row_weights="throughout"
        )

        def weights(self, views: Any, y: Any) -> Any:  # type: ignore[override]
            return np.ones(len(views))

    with pytest.raises(CheckFailure, match="a further argument"):
        check_component(Deaf)


def test_examples_that_are_texts_need_a_kernel_on_text() -> None:
    @attrs.frozen
    class Numbers(RBF):
        """Wrong."""

        traits: ClassVar[KernelTraits] = KernelTraits(examples=("a", "b"))

    with pytest.raises(CheckFailure, match="reads='text'"):
        check_component(Numbers)
