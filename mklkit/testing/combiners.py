"""Checks of a combiner by itself."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from mklkit.errors import MKLKitError, WeightsWarning
from mklkit.protocols import Array, CombinerFacts, facts_of
from mklkit.registry.composing import choose_components
from mklkit.testing.cases import Case
from mklkit.testing.expectations import (
    CheckFailure,
    NotApplicable,
    expect,
    expect_array,
    expect_close,
)
from mklkit.testing.places import expect_untouched
from mklkit.testing.row_weights import weights_of_rows_count
from mklkit.testing.states import has_drawn
from mklkit.views.deciding import BlockDecision, RowBlock

__all__ = ["COMBINER_CHECKS"]

ORDER_TOLERANCE = 0.005


def declares_its_partners(case: Case) -> None:
    """The class names a feature map and a learner that exist and work together."""
    try:
        choose_components(case.component, None, None, task=case.task)
    except (MKLKitError, AttributeError) as error:
        raise CheckFailure(
            f"Expected a feature map and a learner that work with {case.label}; got: {error} Write"
            " facts = CombinerFacts(feature_map=..., learner=...) in the class, with spec strings;"
            " weightings have 'implicit' and 'svm'."
        ) from error


def weights_are_on_the_simplex(case: Case) -> None:
    """Weights are (M,) or (C, M), non-negative with sum one, or within the declared range."""
    some, facts = case.suitable, facts_of(case.component, CombinerFacts)
    for kernels in [case.kernels] if facts.n_kernels else [some[:1], some[:2], some]:
        views = case.views(kernels=kernels)
        weights = _fit(case, views).weights
        n_rows = (len(weights),) if np.ndim(weights) == 2 else ()
        expect_array(weights, (*n_rows, len(kernels)), "weights", "One weight per kernel.")
        limits = facts.weight_range
        if limits is not None:
            expect(
                bool((weights >= limits[0]).all() and (weights <= limits[1]).all()),
                f"weights within weight_range = {limits}",
                weights,
                "Correct the weights, or the declaration.",
            )
            continue
        advice = (
            "Divide them by their sum; or write facts = CombinerFacts(weight_range=(low, high)) in"
            " the class."
        )
        expect(bool((weights >= -1e-12).all()), "no weight below zero", weights, advice)
        sums = weights.sum(axis=-1)
        expect(bool(np.allclose(sums, 1, atol=1e-8)), "weights with sum one", sums, advice)


def weights_are_used_as_they_are(case: Case) -> None:
    """On plain data no weight is missing, and not all are zero: none has to be replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightsWarning)
        try:
            _fit(case, case.views())
        except WeightsWarning as warning:
            raise CheckFailure(
                f"Expected weights that are used as they are; got the warning: {warning} Return a"
                " finite number for each kernel, none negative and not all zero."
            ) from warning


def decides_one_number_a_row(case: Case) -> None:
    """The decision is one finite number per row, for one row or many, from kept columns or not."""
    decision = case.fitted()
    for n in (1, len(case.new_rows)):
        expect_array(decision.decide(case.new_rows[:n]), (n,), "decide(rows)")
    if isinstance(decision, BlockDecision):
        block = RowBlock(case.new_rows, keep=True)
        values, again = (decision.decide_block(block) for _ in range(2))
        alone = decision.decide(case.new_rows)
        what = "the same decisions for a block that keeps its columns"
        expect_close(values, alone, what, "Don't write into them.")
        expect_close(again, alone, what, "Don't write into them.")


def learns_what_is_plain(case: Case) -> None:
    """Two well separated classes are told apart, the positive one by values above zero."""
    if not case.learns_classes:
        raise NotApplicable(f"{case.label} does not learn from classes")
    values = case.fitted().decide(case.new_rows)
    right = float(((values > 0) == (case.new_y > 0)).mean())
    expect(
        right >= 0.85,
        "at least 85% of new rows with the correct sign",
        f"{right:.0%}",
        "Rows labelled +1 get decision values above zero, the others below.",
    )


def one_seed_gives_one_decision(case: Case) -> None:
    """Fitted twice with the same seed, it has the same weights and decisions."""
    first, second = case.fitted(), case.fit()
    advice = "Draw from the random_state that fit gets."
    expect_close(second.weights, first.weights, "the same weights from one seed", advice, 1e-12)
    expect_close(
        second.decide(case.new_rows),
        first.decide(case.new_rows),
        "the same decisions from one seed",
        advice,
        1e-12,
    )


def training_order_does_not_matter(case: Case) -> None:
    """Reordered training rows give the same weights and decisions."""
    random_state = np.random.RandomState(0)
    usual = _fit(case, case.views(), random_state=random_state)
    if has_drawn(random_state, 0):
        raise NotApplicable(f"{case.label} draws at random")
    values = usual.decide(case.new_rows)
    advice = "Remove the dependence on the order; tighten a tolerance that stops too early."
    for order in case.orders:
        shuffled = _fit(case, case.views(case.rows[order]), case.y[order])
        what = "the same weights from reordered training rows"
        expect_close(shuffled.weights, usual.weights, what, advice, ORDER_TOLERANCE)
        what = "the same decisions from reordered training rows"
        expect_close(shuffled.decide(case.new_rows), values, what, advice, ORDER_TOLERANCE)


def views_are_left_as_they_are(case: Case) -> None:
    """Fitting does not write into matrices, rows or labels, which are shared."""
    views, y = case.views(), case.y.copy()
    arrays = {"the labels y": y, "the rows": views.rows}
    for view in views:
        what = "features" if view.explicit else "Gram matrix"
        arrays[f"the {what} of {view.label}"] = view.features() if view.explicit else view.gram()
    expect_untouched(arrays, lambda: _fit(case, views, y), case.component)


def useless_kernels_do_no_harm(case: Case) -> None:
    """Two equal kernels and a constant kernel give finite weights and decisions.

    A constant kernel may be refused by an MKLKitError.
    """
    kernel = case.one_kernel
    _expect_finite(case, (kernel, kernel))
    constant = "polynomial(gamma=1e-12)"
    if any(spec.startswith("polynomial") for spec in case.suitable):
        with suppress(MKLKitError):
            _expect_finite(case, (kernel, constant))


def _expect_finite(case: Case, kernels: tuple[str, ...]) -> None:
    decision = _fit(case, case.views(kernels=kernels))
    values = decision.decide(case.new_rows)
    expect(
        bool(np.isfinite(decision.weights).all() and np.isfinite(values).all()),
        f"finite weights and decisions with the kernels {', '.join(kernels)}",
        decision.weights,
        "Guard divisions by spreads that may be zero.",
    )


def _fit(
    case: Case,
    views: Any,
    y: Array | None = None,
    random_state: np.random.RandomState | None = None,
) -> Any:
    random_state = np.random.RandomState(0) if random_state is None else random_state
    return case.fit_views(views, case.y if y is None else y, random_state)


COMBINER_CHECKS = (
    views_are_left_as_they_are,
    declares_its_partners,
    weights_are_on_the_simplex,
    weights_are_used_as_they_are,
    decides_one_number_a_row,
    learns_what_is_plain,
    one_seed_gives_one_decision,
    training_order_does_not_matter,
    useless_kernels_do_no_harm,
    weights_of_rows_count,
)
