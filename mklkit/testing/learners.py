"""Checks of a learner by itself, on each kind of view that its facts declare."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit.testing.cases import Case
from mklkit.testing.expectations import NotApplicable, expect, expect_array, expect_close

__all__ = ["subproblem_finds_the_minimum", "support_carries_the_decision"]


def support_carries_the_decision(case: Case) -> None:
    """A decision function that can be restricted to its support has the same values then."""
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
            "The support is every training row with a non-zero coefficient.",
        )
    if not applicable:
        raise NotApplicable(f"{case.label} has no 'restricted' decision functions on Gram matrices")


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
    targets, weights = case.y[:, None] + random.normal(size=shape), np.full(shape[1], 1.5)

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
