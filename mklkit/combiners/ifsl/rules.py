"""The iterations of coupled Ho–Kashyap learners of papers 000 and 002.

Minimises, over one decision function f_l and margins b_l ≥ 0 per view,

    L = Σ_l [‖φ∘f_l − 1 − b_l‖² + penalty_l] + λ Σ_l ‖f_l − f̄‖²,   f̄ = Σ_j μ_j f_j.

With one view this is MHKS or KMHKS. Many (λ, ridge) pairs run side by side, one per column, so a
whole grid reads the features as often as one fit does; converged columns are removed.

Arrays are (N, G) per view: N training rows, G columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit.numerics.compiling import compiled
from mklkit.protocols import Array, CouplingFacts, LinearFunction, Subproblem

__all__ = ["PAPER_GRID", "Columns", "Solution", "by_fixed_mean", "by_gradient"]

PAPER_GRID = tuple(2.0**k for k in range(-4, 5))
"""2⁻⁴ … 2⁴, for the ridge α (the papers' c) and for λ (paper 000, section 3)."""


@attrs.frozen(eq=False)
class Columns:
    """The parameters of the columns: λ (G,) per column, the others for all.

    Attributes
    ----------
    lam : ndarray of shape (G,)
    weights : ndarray of shape (M,)
        μ, on the simplex.
    facts : CouplingFacts
        ρ, b₀ and ξ, as the learner states them.
    """

    lam: Array
    weights: Array
    facts: CouplingFacts


@attrs.frozen(eq=False)
class Solution:
    """The final state of one column.

    Attributes
    ----------
    learners : list of LinearFunction
        One per view.
    margins : ndarray of shape (M, N)
        b of each view.
    history : tuple of float
        The objective after each pass.
    converged : bool
    """

    learners: list[LinearFunction]
    margins: Array
    history: tuple[float, ...]
    converged: bool


@compiled()
def _gradient_target(
    outputs: Array, margins: Array, labels: Array, row: Array, lam: Array, view: int, target: Array
) -> None:  # pragma: no cover - compiled
    """Set ``φ∘(1 + b_l) − λ Σ_{j≠l} C_lj f_j``, in one pass over the rows."""
    n_views, n_rows, n_columns = outputs.shape
    for i in range(n_rows):
        for g in range(n_columns):
            pull = 0.0
            for j in range(n_views):
                if j != view:
                    pull += row[j] * outputs[j, i, g]
            target[i, g] = labels[i] * (1.0 + margins[view, i, g]) - lam[g] * pull


@compiled()
def _fixed_mean_target(
    outputs: Array, margins: Array, labels: Array, mu: Array, lam: Array, view: int, target: Array
) -> None:  # pragma: no cover - compiled
    """Set ``φ∘(1 + b_p) + γ Σ_j μ_j f_j``, in one pass over the rows."""
    n_views, n_rows, n_columns = outputs.shape
    for i in range(n_rows):
        for g in range(n_columns):
            mean = 0.0
            for j in range(n_views):
                mean += mu[j] * outputs[j, i, g]
            target[i, g] = labels[i] * (1.0 + margins[view, i, g]) + lam[g] * mean


@compiled()
def _grow_margins(
    outputs: Array, labels: Array, rate: float, margins: Array
) -> None:  # pragma: no cover - compiled
    """Set ``b ← b + ρ(e + |e|)`` with ``e = φ∘f − 1 − b``, in place."""
    for i in range(outputs.shape[0]):
        for g in range(outputs.shape[1]):
            error = labels[i] * outputs[i, g] - 1.0 - margins[i, g]
            if error > 0.0:
                margins[i, g] += 2.0 * rate * error


@compiled()
def _loss(
    outputs: Array, margins: Array, labels: Array, mu: Array, lam: Array
) -> Array:  # pragma: no cover - compiled
    """Return the objective without its penalties, (G,), accumulated in float64."""
    n_views, n_rows, n_columns = outputs.shape
    total = np.zeros(n_columns)
    for i in range(n_rows):
        for g in range(n_columns):
            mean = 0.0
            for j in range(n_views):
                mean += mu[j] * outputs[j, i, g]
            loss = 0.0
            spread = 0.0
            for j in range(n_views):
                error = labels[i] * outputs[j, i, g] - 1.0 - margins[j, i, g]
                loss += error * error
                gap = outputs[j, i, g] - mean
                spread += gap * gap
            total[g] += loss + lam[g] * spread
    return total


class _State:
    """The columns still running: their outputs, margins and coefficients, view by view."""

    def __init__(
        self,
        problems: Sequence[Subproblem],
        labels: Array,
        columns: Columns,
        initial: Sequence[Any],
    ) -> None:
        n_columns = len(columns.lam)
        self.problems = list(problems)
        self.labels = labels
        self.given = columns
        self.running = np.arange(n_columns)
        self.coefficients: list[Any] = list(initial)
        shape = (len(problems), len(labels), n_columns)
        self.outputs = np.zeros(shape, dtype=labels.dtype)
        for view, coefficients in enumerate(initial):
            if coefficients is not None:
                self.outputs[view] = problems[view].outputs(coefficients)
        self.margins = np.empty(shape, dtype=labels.dtype)
        self.margins[...] = columns.facts.b0
        self.target = np.empty(shape[1:], dtype=labels.dtype)
        self.history: list[list[float]] = [[] for _ in range(n_columns)]
        self.solutions: list[Solution | None] = [None] * n_columns

    @property
    def lam(self) -> Array:
        return self.given.lam[self.running]

    def solve(self, view: int, data_weights: Array) -> None:
        """Solve one view against ``self.target``; the newest outputs are used at once."""
        problem = self.problems[view]
        self.coefficients[view] = problem.solve(self.target, data_weights, self.running)
        self.outputs[view] = problem.outputs(self.coefficients[view])

    def grow(self, view: int) -> None:
        """Let one view's margins grow towards its outputs."""
        _grow_margins(self.outputs[view], self.labels, self.given.facts.rho, self.margins[view])

    def objective(self) -> Array:
        """Return L of each running column."""
        total = _loss(self.outputs, self.margins, self.labels, self.given.weights, self.lam)
        for problem, coefficients in zip(self.problems, self.coefficients, strict=True):
            if coefficients is not None:
                total = total + problem.penalty(coefficients, self.running)
        return total

    def record(self) -> bool:
        """Record the objective and remove converged columns; return whether any are left."""
        stopping = self.given.facts.stopping
        now = self.objective()
        for column, value in zip(self.running, now, strict=True):
            self.history[column].append(float(value))
        passes = len(self.history[self.running[0]])
        if passes == 1:
            return True
        before = np.array([self.history[column][-2] for column in self.running])
        done = stopping.reached(before, now)
        out_of_time = passes >= stopping.max_iter
        leaving = np.ones_like(done) if out_of_time else done
        if out_of_time and not done.all():
            warnings.warn(
                f"The iteration stopped at max_iter={stopping.max_iter} while the objective still"
                f" changed (by {np.abs(now - before)[~done].max():.3g}); raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )
        for position in np.flatnonzero(leaving).tolist():
            owner = int(self.running[position])
            pairs = zip(self.problems, self.coefficients, strict=True)
            self.solutions[owner] = Solution(
                [problem.finish(found, position) for problem, found in pairs],
                self.margins[:, :, position].copy(),
                tuple(self.history[owner]),
                bool(done[position]),
            )
        if leaving.any():
            self._keep(~leaving)
        return len(self.running) > 0

    def _keep(self, staying: NDArray[np.bool_]) -> None:
        self.running = self.running[staying]
        self.outputs = np.ascontiguousarray(self.outputs[:, :, staying])
        self.margins = np.ascontiguousarray(self.margins[:, :, staying])
        self.target = np.empty(self.outputs.shape[1:], dtype=self.outputs.dtype)
        # Stale coefficients are replaced by the next solve before they are read again.

    def result(self) -> list[Solution]:
        return [solution for solution in self.solutions if solution is not None]


def coupling_matrix(weights: Array) -> Array:
    """Return C (M, M) with ``∂/∂f_l Σ_k ‖f_k − f̄‖² = 2 Σ_j C_lj f_j`` for the mean's weights μ.

    With even weights C is I − 11ᵀ/M, the coefficients of paper 000, equation (9).
    """
    n_views = len(weights)
    return (
        np.eye(n_views) - weights[None, :] - weights[:, None] + n_views * np.outer(weights, weights)
    )


def by_gradient(
    problems: Sequence[Subproblem],
    labels: Array,
    columns: Columns,
    initial: Sequence[Any],
) -> list[Solution]:
    """Iterate as in Table 1 of paper 000: the exact gradient in each view's function.

    Parameters
    ----------
    problems : sequence of Subproblem
        M of them.
    labels : ndarray of shape (N,)
        φ, −1 and +1.
    columns : Columns
    initial : sequence
        Initial coefficients of each view; those of the first are not used.

    Returns
    -------
    list of Solution
        One per column.

    Notes
    -----
    The first view is solved once; then, each pass, all margins grow, all views are solved in
    turn (newest outputs at once) and the objective is evaluated. A pass costs one ``solve`` and one
    ``outputs`` per view.
    """
    labels = np.ascontiguousarray(labels)
    state = _State(problems, labels, columns, [None, *initial[1:]])
    coupling = coupling_matrix(columns.weights)

    def solve(view: int) -> None:
        lam = state.lam
        _gradient_target(
            state.outputs, state.margins, labels, coupling[view], lam, view, state.target
        )
        state.solve(view, 1.0 + lam * coupling[view, view])

    solve(0)
    while state.record():
        for view in range(len(problems)):
            state.grow(view)
        for view in range(len(problems)):
            solve(view)
    return state.result()


def by_fixed_mean(
    problems: Sequence[Subproblem],
    labels: Array,
    columns: Columns,
    initial: Sequence[Any],
) -> list[Solution]:
    """Iterate as in Table 1 of paper 002: the weighted mean is held fixed while a view is solved.

    Each view's factor is 1 + γ and its target 1 + b_p + γ Σ_j μ_j F_j over all j, itself included,
    newest values first (equation 9); its margins grow as soon as it is solved.

    Parameters and returns as for :func:`by_gradient`; all of ``initial`` is used.
    """
    labels = np.ascontiguousarray(labels)
    state = _State(problems, labels, columns, initial)
    running = True
    while running:
        lam = state.lam
        for view in range(len(problems)):
            _fixed_mean_target(
                state.outputs, state.margins, labels, columns.weights, lam, view, state.target
            )
            state.solve(view, 1.0 + lam)
            state.grow(view)
        running = state.record()
    return state.result()
