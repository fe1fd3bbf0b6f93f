"""Checks of a learner by itself, on each kind of view that its facts declare."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from mklkit.protocols import (
    Array,
    FittedLearner,
    LearnerFacts,
    Target,
    facts_of,
)
from mklkit.registry.registry import get_registry
from mklkit.testing.cases import Case
from mklkit.testing.expectations import NotApplicable, expect, expect_array, expect_close
from mklkit.testing.places import expect_untouched
from mklkit.testing.row_weights import learner_counts_weights_of_rows
from mklkit.views.view import View

__all__ = ["LEARNER_CHECKS"]

# Iterations end at a tolerance, and the order of rows may change the last one.
ORDER_TOLERANCE = 0.02

FAR = 100.0
"""Added to every column of the rows, which have a spread of some units."""


def decides_one_number_a_row(case: Case) -> None:
    """The fitted learner returns one number per row for columns (n, p) or (n, N)."""
    for view in _views(case):
        fitted = case.component.fit(view, case.target)
        expect(
            isinstance(fitted, FittedLearner),
            "fit to return an object with a 'decide' method",
            repr(fitted),
            "mklkit.plugin.LinearDecision(coefficients, bias) is one.",
        )
        columns = view.projector.transform(case.new_rows)
        for n in (1, len(columns)):
            expect_array(fitted.decide(columns[:n]), (n,), "decide(columns)")


def learns_what_is_plain(case: Case) -> None:
    """Separated classes are told apart, by values above zero; or far rows from those learned."""
    for view in _views(case):
        fitted = case.component.fit(view, case.target)
        values = fitted.decide(view.projector.transform(case.new_rows))
        if case.task == "none":
            far = fitted.decide(view.projector.transform(case.new_rows + FAR))
            expect(
                bool((far < np.median(values)).all()),
                "lower values of rows far from the training rows",
                f"values up to {far.max():.3g} beside a median of {np.median(values):.3g}",
                "Values above zero are of rows like the training rows, others below.",
            )
            continue
        right = float(((values > 0) == (case.new_y > 0)).mean())
        expect(
            right >= 0.85,
            "at least 85% of new rows with the correct sign",
            f"{right:.0%} (on {'features' if view.explicit else 'a Gram matrix'})",
            "Rows labelled +1 get decision values above zero, the others below.",
        )


def learns_again_the_same(case: Case) -> None:
    """Fitted twice to the same rows, it has the same decision function."""
    for view in _views(case):
        columns = view.projector.transform(case.new_rows)
        first, second = (case.component.fit(view, case.target).decide(columns) for _ in range(2))
        advice = "A learner gets no seed: add a parameter for one, with a fixed default."
        expect_close(second, first, "the same decisions from the same rows", advice, 1e-12)


def training_order_does_not_matter(case: Case) -> None:
    """Reordered training rows give the same decisions, up to the learner's tolerance."""
    usual = [_decided(case, view) for view in _views(case)]
    for order in case.orders:
        target = case.target_of(case.y[order])
        for view, values in zip(_views(case, case.rows[order]), usual, strict=True):
            expect_close(
                _decided(case, view, target),
                values,
                "the same decisions from reordered training rows",
                "Remove the dependence on the order; tighten a tolerance that stops too early.",
                ORDER_TOLERANCE,
            )


def view_is_left_as_it_is(case: Case) -> None:
    """Fitting does not write into the view's matrices, which are shared."""
    for view in _views(case):
        matrix = view.features() if view.explicit else view.gram()
        y = case.y.copy()
        what = "the view's features" if view.explicit else "the Gram matrix"
        use = partial(case.component.fit, view, case.target_of(y))
        expect_untouched({"the labels y": y, what: matrix}, use, case.component)


def support_carries_the_decision(case: Case) -> None:
    """A decision function that can be restricted to its support has the same values then."""
    applicable = False
    for view in _views(case):
        fitted = case.component.fit(view, case.target)
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
    learner: Any = case.component
    if learner.coupling is None:
        raise NotApplicable(f"{case.label} has no subproblem, so it cannot be coupled")
    random = np.random.default_rng(5)
    for view in _views(case):
        # Two columns if variants can differ, else one.
        variants = [learner] * (2 if learner.coupling.variants else 1)
        problem = learner.subproblem(view, case.target, variants)
        shape = len(case.y), len(variants)
        targets, weights = case.y[:, None] + random.normal(size=shape), np.full(shape[1], 1.5)

        def objectives(
            coefficients: Any,
            problem: Any = problem,
            targets: Any = targets,
            weights: Any = weights,
        ) -> Any:
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
        what = "finish(coefficients, column).decide(training columns) to be outputs(coefficients)"
        for column in range(shape[1]):
            decided = problem.finish(solved, column).decide(columns)
            expect_close(decided, outputs[:, column], what, "Both are f.", 1e-6)


def _decided(case: Case, view: View, target: Target | None = None) -> Array:
    """Return the values for new rows, of the learner fitted on a view."""
    fitted = case.component.fit(view, case.target if target is None else target)
    return np.asarray(fitted.decide(view.projector.transform(case.new_rows)))


def _views(case: Case, rows: Any = None) -> Iterator[View]:
    """Yield a view of each kind that the learner's facts declare."""
    registry = get_registry()
    facts = facts_of(case.component, LearnerFacts)
    kinds = {"empirical": facts.on_features, "implicit": facts.on_gram}
    for name in [name for name, learns in kinds.items() if learns]:
        feature_map = registry.create("feature_map", name)
        yield case.views(rows, ("rbf(sigma='mean')",), feature_map)[0]


LEARNER_CHECKS = (
    view_is_left_as_it_is,
    decides_one_number_a_row,
    learns_what_is_plain,
    learns_again_the_same,
    training_order_does_not_matter,
    learner_counts_weights_of_rows,
    support_carries_the_decision,
    subproblem_finds_the_minimum,
)
