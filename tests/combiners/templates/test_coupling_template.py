"""The coupling template: subproblems solved against targets, in a joint ridge regression."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
from helpers.builders import TRIO, views_of

from mklkit import MKLClassifier
from mklkit.plugin import CoupledSolution, CouplingCombiner


@attrs.frozen
class CoupledRidge(CouplingCombiner):
    """Σ_l ‖f_l − y‖² + penalty + λ Σ_l ‖f_l − f̄‖², one view at a time until nothing moves."""

    name: ClassVar[str] = "coupled-ridge"

    lam: float = 0.0

    def couple(self, problems, target, learner, random_state=None):
        n_views = len(problems)
        weight = 1 + self.lam * (n_views - 1) / n_views
        outputs = np.zeros((n_views, len(target)))
        coefficients = [None] * n_views
        for _ in range(300 if self.lam else 1):
            for index, problem in enumerate(problems):
                others = outputs.sum(axis=0) - outputs[index]
                wanted = target.values + self.lam / n_views * others
                coefficients[index] = problem.solve(wanted[:, None], np.array([weight]))
                outputs[index] = problem.outputs(coefficients[index])[:, 0]
        learners = [problem.finish(c) for problem, c in zip(problems, coefficients, strict=True)]
        return CoupledSolution(learners, np.full(n_views, 1 / n_views), (1.0, 0.5))


def joint_outputs(features, y, c, lam):
    """Return the f_l that solve the whole problem at once: one dense linear system."""
    n_views = len(features)
    blocks = [np.column_stack([f, np.ones(len(y))]) for f in features]
    widths = np.cumsum([0] + [block.shape[1] for block in blocks])
    system, right = np.zeros((widths[-1], widths[-1])), np.zeros(widths[-1])
    for i, columns in enumerate(blocks):
        at = slice(widths[i], widths[i + 1])
        right[at] = columns.T @ y
        for j, neighbor in enumerate(blocks):
            share = 1 + lam * (n_views - 1) / n_views if i == j else -lam / n_views
            system[at, widths[j] : widths[j + 1]] = share * columns.T @ neighbor
        system[at, at] += c * np.diag([1.0] * (columns.shape[1] - 1) + [0.0])
    solution = np.linalg.solve(system, right)
    return [block @ solution[widths[i] : widths[i + 1]] for i, block in enumerate(blocks)]


@pytest.mark.parametrize("lam", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("c", [0.25, 2.0])
@pytest.mark.parametrize(
    ("feature_map", "learner"),
    [("empirical", "mhks"), ("empirical(subset=20)", "mhks"), ("implicit", "kmhks")],
)
def test_views_solved_in_turn_reach_the_joint_solution(two_classes, lam, c, feature_map, learner):
    rows, y = two_classes
    model = MKLClassifier(
        TRIO,
        combiner=CoupledRidge(lam),
        feature_map=feature_map,
        learner=f"{learner}(alpha={c})",
        random_state=3,
    ).fit(rows, y)
    (decision,) = model.decisions_
    if learner == "mhks":
        features = [projector.transform(rows) for projector in decision.projectors]
    else:  # columns whose products are the Gram matrix
        features = [view.features() for view in views_of(TRIO, rows, "empirical")]
    expected = joint_outputs(features, y, c, lam)
    np.testing.assert_allclose(model.decision_function(rows), np.mean(expected, axis=0), atol=1e-6)
    assert decision.history == (1.0, 0.5)
    np.testing.assert_allclose(decision.weights, 1 / 3)
