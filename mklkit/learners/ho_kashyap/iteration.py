"""The iteration of coupled learners with a rule of :mod:`mklkit.learners.ho_kashyap.rules`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit.learners.ho_kashyap.rules import (
    Columns,
    Rule,
    Solution,
    Step,
    grow_margins,
    loss,
    set_target,
    stands_still,
)
from mklkit.learners.ho_kashyap.sweeps import iterate_by_sweeps, on_same_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, Stopping, Subproblem, Target, missing_patterns, present_weights


def iterate(
    rule: Rule,
    problems: Sequence[Subproblem],
    target: Target,
    columns: Columns,
    initial: Sequence[Any],
    margins: Array | None = None,
) -> list[Solution]:
    """Run a rule on M problems until the objective stops changing; return a solution per column.

    Initial coefficients are None for a view that starts from zeros; margins (M, N) default to b₀.
    """
    target = attrs.evolve(target, values=np.ascontiguousarray(target.values))
    start = initial if rule.uses_first else [None, *initial[1:]]
    steps = rule.steps(len(problems))
    single = len(columns.lam) == 1
    if single and rule.order == "in-turn" and margins is None and on_same_blocks(problems):
        solution = iterate_by_sweeps(rule, problems, target, columns, start, steps)
        warn_if_stopped(columns.traits.stopping, np.array([solution.converged]))
        return [solution]
    return WholeRows(rule, problems, target, columns, start, margins).run(steps)


def warn_if_stopped(stopping: Stopping, done: NDArray[np.bool_]) -> None:
    """Warn if some columns are not done when the iteration ends."""
    if done.all():
        return
    warnings.warn(
        # The same text in every fold of a search, so that Python shows it once.
        f"The iteration stopped at max_iter={stopping.max_iter} while the objective still"
        " changed by more than tol; raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )


def missing_views(problems: Sequence[Subproblem], n_rows: int) -> NDArray[np.bool_]:
    """Return which samples miss the source of each view, (N, M)."""
    missing = np.zeros((n_rows, len(problems)), bool)
    for view, problem in enumerate(problems):
        if problem.members is not None:
            missing[:, view] = True
            missing[problem.members, view] = False
    return missing


class WholeRows:
    """The columns still running: their outputs, margins and coefficients, view by view.

    ``places`` are the positions of the running columns in the coefficients that were solved last.
    """

    def __init__(
        self,
        rule: Rule,
        problems: Sequence[Subproblem],
        target: Target,
        columns: Columns,
        initial: Sequence[Any],
        margins: Array | None,
    ) -> None:
        n_columns = len(columns.lam)
        self.rule = rule
        self.codes, self.missing = missing_patterns(missing_views(problems, len(target)))
        self.weights = present_weights(self.missing, columns.weights)
        self.factors, self.data_weights = rule.couplings(self.weights, self.missing)
        self.problems = list(problems)
        self.labels = labels = target.values
        self.counts = target.counts
        self.columns = columns
        self.running = self.places = np.arange(n_columns)
        self.coefficients: list[Any] = list(initial)
        shape = (len(problems), len(labels), n_columns)
        self.outputs = np.zeros(shape, dtype=labels.dtype)
        for view, coefficients in enumerate(initial):
            if coefficients is not None:
                self.outputs[view] = problems[view].outputs(coefficients)
        self.before = self.outputs if rule.order == "in-turn" else self.outputs.copy()
        self.margins = np.empty(shape, dtype=labels.dtype)
        self.margins[...] = columns.traits.b0 if margins is None else margins[..., None]
        self.target = np.empty(shape[1:], dtype=labels.dtype)
        self.history: list[list[float]] = [[] for _ in range(n_columns)]
        self.solutions: list[Solution | None] = [None] * n_columns

    def run(self, steps: Iterator[Step], patience: int | None = None) -> list[Solution]:
        """Take the steps until no column is running, or for some passes; return the solutions."""
        passes = 0
        # A factor per thread: two threads of one factorisation mostly wait for each other.
        weights = [1.0 + self.lam * weight for weight in self.data_weights]
        pairs = list(zip(self.problems, weights, strict=True))
        for _ in each(lambda pair: pair[0].prepare(pair[1]), pairs if len(pairs) > 1 else []):
            pass
        for step, view in steps:
            if step == "solve":
                self.solve(view)
            elif step == "grow":
                late = self.rule.order == "late-margins"
                outputs = (self.before if late else self.outputs)[view]
                grow_margins(outputs, self.labels, self.columns.rates[view], self.margins[view])
            else:
                passes += 1
                if not self.record() or passes == patience:
                    break
        return [solution for solution in self.solutions if solution is not None]

    @property
    def lam(self) -> Array:
        return self.columns.lam[self.running]

    def solve(self, view: int) -> None:
        """Solve one view, from the newest outputs or, if all at once, those of the last pass."""
        lam, order = self.lam, self.rule.order
        if order == "late-margins":
            self.before[view] = self.outputs[view]
        elif order == "at-once" and view == 0:
            self.before[...] = self.outputs
        outputs = self.before if order == "at-once" else self.outputs
        state = outputs, self.margins, self.labels, self.codes
        set_target(*state, self.factors[view], lam, view, self.target)
        data_weights = 1.0 + lam * self.data_weights[view]
        problem = self.problems[view]
        self.coefficients[view] = problem.solve(self.target, data_weights, self.running)
        self.outputs[view] = problem.outputs(self.coefficients[view])

    def objective(self) -> Array:
        """Return L of each running column."""
        state = self.outputs, self.margins, self.labels, self.counts
        total = loss(*state, self.codes, self.missing, self.weights, self.lam)
        for problem, coefficients in zip(self.problems, self.coefficients, strict=True):
            if coefficients is not None:
                total = total + problem.penalty(coefficients, self.running)
        return total

    def record(self) -> bool:
        """Record the objective and remove converged columns; return whether any are left."""
        stopping = self.columns.traits.stopping
        now = self.objective()
        for column, value in zip(self.running, now, strict=True):
            self.history[column].append(float(value))
        passes = len(self.history[self.running[0]])
        if passes == 1:
            return True
        before = np.array([self.history[column][-2] for column in self.running])
        done = stands_still(stopping, before, now, float(self.counts.sum()), self.labels.dtype)
        out_of_time = passes >= stopping.max_iter
        leaving = np.ones_like(done) if out_of_time else done
        if out_of_time:
            warn_if_stopped(stopping, done)
        for position in np.flatnonzero(leaving).tolist():
            owner = int(self.running[position])
            pairs = zip(self.problems, self.coefficients, strict=True)
            self.solutions[owner] = Solution(
                [problem.finish(solved, position) for problem, solved in pairs],
                self.margins[:, :, position].copy(),
                tuple(self.history[owner]),
                bool(done[position]),
            )
        self.places = np.flatnonzero(~leaving)
        if leaving.any():
            self._keep(~leaving)
        return len(self.running) > 0

    def _keep(self, staying: NDArray[np.bool_]) -> None:
        self.running = self.running[staying]
        before = self.before
        self.outputs = np.ascontiguousarray(self.outputs[:, :, staying])
        same = self.rule.order == "in-turn"
        self.before = self.outputs if same else np.ascontiguousarray(before[:, :, staying])
        self.margins = np.ascontiguousarray(self.margins[:, :, staying])
        self.target = np.empty(self.outputs.shape[1:], dtype=self.outputs.dtype)
        # Stale coefficients are replaced by the next solve before they are read again.
