"""Checks of a single combiner or learner."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from mklkit.errors import MKLKitError, WeightsWarning
from mklkit.protocols import (
    SEVERAL_CLASSES,
    Array,
    CombinerTraits,
    LearnerTraits,
    Target,
    traits_of,
)
from mklkit.registry.composing import choose_components
from mklkit.registry.tasks import kind_named
from mklkit.views.deciding import BlockDecision, RowBlock
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.expectations import (
    CheckFailure,
    NotApplicable,
    expect,
    expect_array,
    expect_close,
)


def declares_its_partners(case: Case) -> None:
    """The class names a feature map and a learner that exist and work together."""
    try:
        choose_components(case.component, None, None, target=kind_named(case.task))
    except MKLKitError as error:
        raise CheckFailure(
            f"Expected a feature map and a learner that work with {case.label}; got: {error} "
            "Write traits = CombinerTraits(feature_map=..., learner=...) in the class, with spec"
            " strings; weightings have 'implicit' and 'svm'."
        ) from error


def weights_are_on_the_simplex(case: Case) -> None:
    """Weights are (M,) or (C, M), non-negative with sum one, or within the declared range.

    On plain data none is missing and not all are zero, so none has to be replaced.
    """
    specs = case.suitable
    traits = traits_of(case.component, CombinerTraits)
    low, high = traits.weight_range or (-1e-12, np.inf)
    for kernels in [case.kernels] if traits.n_kernels else [specs[:1], specs[:2], specs]:
        weights = _learned_weights(case, kernels)
        n_rows = (len(weights),) if np.ndim(weights) == 2 else ()
        expect_array(weights, (*n_rows, len(kernels)), "weights", "One weight per kernel.")
        advice = "Correct the weights, or weight_range=(low, high) in the traits."
        inside = ((weights >= low) & (weights <= high)).all()
        expect(inside, f"weights within weight_range = ({low:g}, {high:g})", weights, advice)
        if traits.weight_range is None:
            sums = weights.sum(axis=-1)
            advice = "Divide them by their sum; or state weight_range=(low, high) in the traits."
            expect(np.allclose(sums, 1, atol=1e-8), "weights with sum one", sums, advice)


def _learned_weights(case: Case, kernels: tuple[str, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightsWarning)
        try:
            return case.fit_views(case.views(kernels=kernels)).fitted.weights
        except WeightsWarning as warning:
            raise CheckFailure(
                f"Expected weights that need no replacement; got the warning: {warning} Return a"
                " finite number for each kernel, none negative and not all zero."
            ) from warning


def kept_columns_decide_the_same(case: Case) -> None:
    """Decisions from columns kept for several decisions equal those from samples."""
    decision = case.fitted().fitted
    if not isinstance(decision, BlockDecision):
        raise NotApplicable(f"{case.label} does not decide block by block")
    block = RowBlock(case.new_rows, keep=True)
    expected = "the same decisions for a block that keeps its columns"
    for _ in range(2):
        values = decision.decide_block(block)
        expect_close(values, decision.decide(case.new_rows), expected, "Don't write into them.")


def useless_kernels_do_no_harm(case: Case) -> None:
    """Two equal kernels and a constant kernel give finite weights and decisions.

    The component may raise an MKLKitError for a constant kernel.
    """
    _expect_finite(case, (case.single_kernel,) * 2)
    if any(spec.startswith("polynomial") for spec in case.suitable):
        with suppress(MKLKitError):
            _expect_finite(case, (case.single_kernel, "polynomial(gamma=1e-12)"))


def _expect_finite(case: Case, kernels: tuple[str, ...]) -> None:
    decision = case.fit_views(case.views(kernels=kernels)).fitted
    values = decision.decide(case.new_rows)
    expect(
        bool(np.isfinite(decision.weights).all() and np.isfinite(values).all()),
        f"finite weights and decisions with the kernels {', '.join(kernels)}",
        decision.weights,
        "Guard divisions by spreads that may be zero.",
    )


def support_carries_the_decision(case: Case) -> None:
    """A decision function restricted to its support has the same values."""
    applicable = False
    for variant in case.variants():
        [view] = variant.views()
        fitted = variant.component.fit(view, variant.target())
        if view.explicit or fitted.support is None:
            continue
        applicable = True
        columns = view.projector.transform(case.new_rows)
        support = fitted.support
        expect_close(
            fitted.restricted(support).decide(columns[:, support]),
            fitted.decide(columns),
            "the same decisions of restricted(support) from the support's columns",
            "The support is every training sample with a non-zero coefficient.",
        )
    if not applicable:
        raise NotApplicable(f"{case.label} has no 'restricted' decision functions on Gram matrices")


def numbers_of_classes_are_columns(case: Case) -> None:
    """A fit of several classes has a column for each, in the order of the classes' numbers."""
    if not SEVERAL_CLASSES.is_in(traits_of(case.component, LearnerTraits).learns):
        raise NotApplicable(f"{case.label} does not learn several classes in one fit")
    advice = "Column c has the decision values of class c."
    rows, kinds = case.three_classes()
    numbers = np.unique(kinds, return_inverse=True)[1].astype(float)
    for variant in case.variants():
        [view] = variant.views(rows)
        columns = view.projector.transform(case.new_rows)

        def decided(values: Array, view: Any = view, columns: Array = columns) -> Array:
            learned = case.component.fit(view, Target(SEVERAL_CLASSES, values))
            return np.asarray(learned.decide(columns))

        values = decided(numbers)
        expect_array(values, (len(case.new_rows), 3), "decide(columns) for three classes")
        reversed_columns = decided(2 - numbers)[:, ::-1]
        expect_close(reversed_columns, values, "renumbered classes to move columns", advice, 1e-6)


def subproblem_finds_the_minimum(case: Case) -> None:
    """A subproblem's solution minimises s·‖f − t/s‖² + penalty, and its methods are consistent."""
    if case.component.coupling is None:
        raise NotApplicable(f"{case.label} has no subproblem, so it cannot be coupled")
    for variant in case.variants():
        _expect_minimum(variant)


def _expect_minimum(case: Case) -> None:
    learner: Any = case.component
    random = np.random.default_rng(5)
    [view] = case.views()
    # Two columns if variants can differ, else one.
    variants = [learner] * (2 if learner.coupling.variants else 1)
    problem = learner.subproblem(view, case.target(), variants)
    shape = len(case.y), len(variants)
    targets = case.y[:, None] + random.normal(size=shape)
    weights = np.full(shape[1], 1.5)

    def objectives(coefficients: Any) -> Any:
        gap = problem.outputs(coefficients) - targets / weights
        return weights * (gap**2).sum(axis=0) + problem.penalty(coefficients)

    solved = problem.solve(targets, weights)
    outputs, least = problem.outputs(solved), objectives(solved)
    expect_array(outputs, shape, "outputs(coefficients)")
    expect_array(least, shape[1:], "penalty(coefficients) and the squares, one column each,")
    for size in (1e-3, 0.1, 1.0):
        nearby = objectives(problem.solve(targets + size * random.normal(size=shape), weights))
        expect(
            bool((least <= nearby * (1 + 1e-9) + 1e-9).all()),
            "solve(targets, s) to minimise s·‖f − t/s‖² + penalty",
            f"{least} there and {nearby} elsewhere",
            "See mklkit.plugin.Subproblem for the equation.",
        )
    columns = view.features() if view.explicit else view.gram()
    expected = "finish(coefficients, column).decide(training columns) to be outputs(coefficients)"
    for column in range(shape[1]):
        decided = problem.finish(solved, column).decide(columns)
        expect_close(decided, outputs[:, column], expected, "Both are f.", 1e-6)


COMBINER_CHECKS = (
    declares_its_partners,
    weights_are_on_the_simplex,
    kept_columns_decide_the_same,
    useless_kernels_do_no_harm,
)
LEARNER_CHECKS = (
    support_carries_the_decision,
    numbers_of_classes_are_columns,
    subproblem_finds_the_minimum,
)
