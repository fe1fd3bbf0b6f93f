"""Checks of weights of rows: a row of weight 2 counts as much as the same row twice."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.estimators.fitting import checked_decision
from mklkit.protocols import Array, CombinerFacts, Decision, LearnerFacts, facts_of
from mklkit.registry.registry import get_registry
from mklkit.testing.cases import Case
from mklkit.testing.expectations import NotApplicable, expect, expect_close
from mklkit.testing.states import has_drawn

__all__ = ["learner_counts_weights_of_rows", "weights_of_rows_count"]

# Iterations end at a tolerance, which repeated rows may reach elsewhere.
TOLERANCE = 0.02

# Their widths do not follow the rows, of which some are repeated.
KERNELS = ("linear", "rbf(gamma=0.1)", "rbf(gamma=0.5)")
NARROW = KERNELS[-1:]


def learner_counts_weights_of_rows(case: Case) -> None:
    """With takes_row_weights in the facts, a row of weight 3 counts as the same row three times."""
    facts = facts_of(case.component, LearnerFacts)
    if not facts.takes_row_weights:
        raise NotApplicable(f"{case.label} does not claim to take weights of rows")
    often = _often(case)
    target = attrs.evolve(case.target, row_weights=often.astype(float))
    for name in ["empirical"] * facts.on_features + ["implicit"] * facts.on_gram:
        feature_map = get_registry().create("feature_map", name)
        [weighted] = case.views(None, NARROW, feature_map)
        [repeated] = case.views(case.rows.repeat(often, axis=0), NARROW, feature_map)
        plain = case.target_of(case.y.repeat(often))
        values, others = (
            case.component.fit(view, some).decide(view.projector.transform(case.new_rows))
            for view, some in ((weighted, target), (repeated, plain))
        )
        advice = "Use target.row_weights; or leave takes_row_weights out of the facts."
        what = "the same decisions for rows of weight 3 as for these rows three times"
        expect_close(values, others, what, advice, TOLERANCE)


def weights_of_rows_count(case: Case) -> None:
    """Weights of rows change the decision if the facts say so; throughout, as repeated rows do."""
    facts = facts_of(case.component, CombinerFacts)
    learner = case.partners()[1]
    takes = facts_of(learner, LearnerFacts).takes_row_weights
    if facts.row_weights == "refused" or facts.n_kernels or not (takes and case.learns_classes):
        raise NotApplicable(f"{case.label} does not claim to take weights of rows")
    often, random_state = _often(case), np.random.RandomState(0)
    usual = _decision(case, case.rows, case.y, None, random_state)
    drawn = has_drawn(random_state, 0)
    # Light rows count for less even where a margin separates the classes.
    lighter = _decision(case, case.rows, case.y, np.where(often == 1, 1e-3, 1.0))
    advice = "Pass the target on as it is; or write another row_weights in the facts."
    values, others = lighter.decide(case.new_rows), usual.decide(case.new_rows)
    what = "other decisions for weights of rows, as the facts state"
    expect(not np.allclose(values, others, rtol=1e-9, atol=0), what, "the same", advice)
    if facts.row_weights == "throughout" and not drawn:
        weighted = _decision(case, case.rows, case.y, often.astype(float))
        repeated = _decision(case, case.rows.repeat(often, axis=0), case.y.repeat(often), None)
        what = "the same weights for rows of weight 3 as for these rows three times"
        expect_close(weighted.weights, repeated.weights, what, advice, TOLERANCE)


def _often(case: Case) -> NDArray[np.intp]:
    return np.where(case.y > 0, 3, 1)


def _decision(
    case: Case,
    rows: Array,
    y: Array,
    row_weights: Array | None,
    random_state: np.random.RandomState | None = None,
) -> Decision:
    target = attrs.evolve(case.target_of(y), row_weights=row_weights)
    random_state = np.random.RandomState(0) if random_state is None else random_state
    views = case.views(rows, KERNELS)
    decision = case.component.fit(views, target, case.partners()[1], random_state)
    return checked_decision(case.component, decision, len(views))
