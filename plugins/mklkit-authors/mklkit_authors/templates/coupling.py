"""Learners fitted jointly, each pulled towards the decision values of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from mklkit.plugin import (
    CoupledSolution,
    CouplingCombiner,
    Learner,
    Subproblem,
    Target,
    as_int,
    finite_number,
    register,
)


@register
@attrs.frozen
class Sketch(CouplingCombiner):
    """Fit each view's learner in turn to the labels and to the mean of the others.

    Parameters
    ----------
    pull : float, default=0.5
        Weight of the others relative to the labels; 0 for independent learners.
    sweeps : int, default=10
        How often each view is solved.
    """

    name: ClassVar[str] = "sketch"

    pull: float = attrs.field(default=0.5, converter=float, validator=[ge(0), finite_number])
    sweeps: int = attrs.field(default=10, converter=as_int, validator=[instance_of(int), ge(1)])

    def couple(
        self,
        problems: Sequence[Subproblem],
        target: Target,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> CoupledSolution:
        """Return the views' decision functions and their weights in the mean."""
        pull = self.pull if len(problems) > 1 else 0.0
        # One column: this coupling solves one target at a time.
        labels = target.values[:, None]
        weight = np.ones(1)
        coefficients = [problem.solve(labels, weight) for problem in problems]
        pairs = zip(problems, coefficients, strict=True)
        outputs = [problem.outputs(solved) for problem, solved in pairs]
        for _ in range(self.sweeps):
            for index, problem in enumerate(problems):
                others = outputs[:index] + outputs[index + 1 :]
                # ‖f − y‖² + pull·‖f − mean‖² = (1 + pull)·‖f − wanted/(1 + pull)‖² + a constant.
                wanted = labels + pull * np.mean(others, axis=0) if pull else labels
                coefficients[index] = problem.solve(wanted, (1 + pull) * weight)
                outputs[index] = problem.outputs(coefficients[index])
        pairs = zip(problems, coefficients, strict=True)
        learners = [problem.finish(solved) for problem, solved in pairs]
        return CoupledSolution(learners, np.full(len(problems), 1 / len(problems)))
