"""Checks of a combiner by itself."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np

from mklkit.errors import MKLKitError, WeightsWarning
from mklkit.protocols import CombinerFacts, facts_of
from mklkit.registry.composing import choose_components
from mklkit.testing.cases import Case
from mklkit.testing.expectations import (
    CheckFailure,
    NotApplicable,
    expect,
    expect_array,
    expect_close,
)
from mklkit.views.deciding import BlockDecision, RowBlock

__all__ = [
    "declares_its_partners",
    "kept_columns_decide_the_same",
    "useless_kernels_do_no_harm",
    "weights_are_on_the_simplex",
    "weights_are_used_as_they_are",
]


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
    specs, facts = case.suitable, facts_of(case.component, CombinerFacts)
    for kernels in [case.kernels] if facts.n_kernels else [specs[:1], specs[:2], specs]:
        weights = case.fit_views(case.views(kernels=kernels)).weights
        n_rows = (len(weights),) if np.ndim(weights) == 2 else ()
        expect_array(weights, (*n_rows, len(kernels)), "weights", "One weight per kernel.")
        low, high = facts.weight_range or (-1e-12, np.inf)
        advice = "Correct the weights, or weight_range=(low, high) in the facts."
        inside = bool((weights >= low).all() and (weights <= high).all())
        expect(inside, f"weights within weight_range = ({low:g}, {high:g})", weights, advice)
        if facts.weight_range is None:
            sums = weights.sum(axis=-1)
            advice = "Divide them by their sum; or state weight_range=(low, high) in the facts."
            expect(bool(np.allclose(sums, 1, atol=1e-8)), "weights with sum one", sums, advice)


def weights_are_used_as_they_are(case: Case) -> None:
    """On plain data no weight is missing, and not all are zero: none has to be replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightsWarning)
        try:
            case.fit_views(case.views())
        except WeightsWarning as warning:
            raise CheckFailure(
                f"Expected weights that are used as they are; got the warning: {warning} Return a"
                " finite number for each kernel, none negative and not all zero."
            ) from warning


def kept_columns_decide_the_same(case: Case) -> None:
    """Decisions from columns that are kept for several decisions are those from rows."""
    decision = case.fitted().fitted
    if not isinstance(decision, BlockDecision):
        raise NotApplicable(f"{case.label} decides by itself")
    block = RowBlock(case.new_rows, keep=True)
    expected = "the same decisions for a block that keeps its columns"
    for _ in range(2):
        values = decision.decide_block(block)
        expect_close(values, decision.decide(case.new_rows), expected, "Don't write into them.")


def useless_kernels_do_no_harm(case: Case) -> None:
    """Two equal kernels and a constant kernel give finite weights and decisions.

    A constant kernel may be refused by an MKLKitError.
    """
    _expect_finite(case, (case.single_kernel,) * 2)
    if any(spec.startswith("polynomial") for spec in case.suitable):
        with suppress(MKLKitError):
            _expect_finite(case, (case.single_kernel, "polynomial(gamma=1e-12)"))


def _expect_finite(case: Case, kernels: tuple[str, ...]) -> None:
    decision = case.fit_views(case.views(kernels=kernels))
    values = decision.decide(case.new_rows)
    expect(
        bool(np.isfinite(decision.weights).all() and np.isfinite(values).all()),
        f"finite weights and decisions with the kernels {', '.join(kernels)}",
        decision.weights,
        "Guard divisions by spreads that may be zero.",
    )
