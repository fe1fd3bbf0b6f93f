"""Between a single fit and a grid of them: one column of many, and one problem as a column."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.combiners.ifsl.rules import GridProblem
from mklkit.learners.ho_kashyap.ridge import RidgeCoefficients
from mklkit.learners.linear_decision import LinearDecision
from mklkit.protocols import Array, Subproblem

__all__ = ["AsGrid", "OneColumn"]


@attrs.frozen(eq=False)
class OneColumn:
    """A grid problem as the subproblem of one fit."""

    grid: Any

    def solve(self, target: Array, data_weight: float = 1.0) -> RidgeCoefficients:
        """Return the minimiser for one target (N,)."""
        coefficients = self.grid.solve(target[:, None], np.array([data_weight]), np.array([0]))
        picked: RidgeCoefficients = self.grid.pick(coefficients, 0)
        return picked

    def outputs(self, coefficients: RidgeCoefficients) -> Array:
        """Return the decision values (N,)."""
        return np.asarray(self.grid.outputs(_column(coefficients))[:, 0])

    def penalty(self, coefficients: RidgeCoefficients) -> float:
        """Return the regularisation term."""
        return float(self.grid.penalty(_column(coefficients), np.array([0]))[0])

    def finish(self, coefficients: RidgeCoefficients) -> LinearDecision:
        """Return the decision function."""
        finished: LinearDecision = self.grid.finish(coefficients)
        return finished


@attrs.frozen(eq=False)
class AsGrid:
    """Any learner's subproblem as a grid problem of one column."""

    problem: Subproblem

    def solve(self, targets: Array, data_weights: Array, columns: NDArray[np.intp]) -> Any:
        """Return the coefficients for the one target."""
        return self.problem.solve(targets[:, 0], float(data_weights[0]))

    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values (N, 1)."""
        return self.problem.outputs(coefficients)[:, None]

    def penalty(self, coefficients: Any, columns: NDArray[np.intp]) -> Array:
        """Return the regularisation term (1,)."""
        return np.array([self.problem.penalty(coefficients)])

    def pick(self, coefficients: Any, column: int) -> Any:
        """Return the coefficients."""
        return coefficients

    @classmethod
    def of(cls, problem: Subproblem) -> GridProblem:
        """Return a subproblem as a grid problem: its own where it has one."""
        return problem.grid if isinstance(problem, OneColumn) else cls(problem)


def _column(coefficients: RidgeCoefficients) -> RidgeCoefficients:
    return RidgeCoefficients(coefficients.weights[:, None], np.array([coefficients.bias]))
