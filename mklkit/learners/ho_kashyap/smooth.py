"""The objective with its margins eliminated, minimised over the coefficients alone.

The best margin of a row is b = max(0, φf − 1). What is left of the objective of
:mod:`mklkit.learners.ho_kashyap.rules` is smooth and convex,

    L = Σ_l [Σ_i max(0, 1 − φ_i f_l(x_i))² + α‖w_l‖²] + λ Σ_l ‖f_l − f̄‖²,

and is minimised by L-BFGS from the views' least-squares solutions. The system of each view's ridge
regression, which is factorised already, is the approximate Hessian: the Hessian is that of the rows
that are short of their margin. Each evaluation of the objective and its gradient is one pass over
the rows, for all columns and views.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.learners.ho_kashyap.iteration import missing_views, warn_if_stopped
from mklkit.learners.ho_kashyap.rules import GRADIENT, Columns, Solution, stands_still
from mklkit.learners.ho_kashyap.sweeps import on_same_blocks
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.compiling import compiled
from mklkit.numerics.lbfgs import Descent, descent
from mklkit.protocols import Array, Projector, Subproblem, Target, missing_patterns, present_weights
from mklkit.views.deciding import RowBlock
from mklkit.views.engines import Blocks, added
from mklkit.views.feature_moments import BackProjection, Projection
from mklkit.views.view import BlockSide

MANY_ROWS = 10_000
"""The number of rows above which the smooth objective is minimised by default."""


def is_smooth(problems: Sequence[Subproblem], target: Target, solver: str | None) -> bool:
    """Return whether the smooth objective is minimised: by default, on features of many rows."""
    able = all(problem.ridges is not None for problem in problems)
    if solver == "smooth" and not able:
        raise IncompatibleError(
            "solver='smooth' minimises over the coefficients of features, which a Gram matrix"
            " does not have: use solver='printed', or a learner on explicit features."
        )
    return able and (solver == "smooth" or (solver is None and len(target) > MANY_ROWS))


@attrs.frozen(eq=False)
class _RowLoss:
    """What the loss of rows depends on besides their outputs: labels, λ (G,), patterns, margins.

    ``missing`` (K, M) are the views that rows of each pattern miss, ``weights`` (K, M) the μ of the
    others. The target is ``reach`` times the label, which outputs exceed at no cost if ``grows``.
    """

    lam: Array
    missing: NDArray[np.bool_]
    weights: Array
    reach: float
    grows: bool

    def __call__(
        self, outputs: Array, labels: Array, counts: Array, codes: NDArray[np.intp]
    ) -> Array:
        """Return the loss (G,), and replace outputs (M, n, G) by half its derivatives."""
        rows = labels, counts, codes
        return differentiate(
            outputs, *rows, self.missing, self.weights, self.lam, self.reach, self.grows
        )


@compiled()
def differentiate(
    outputs: Array,
    labels: Array,
    counts: Array,
    codes: NDArray[np.intp],
    missing: NDArray[np.bool_],
    mu: Array,
    lam: Array,
    reach: float,
    grows: bool,
) -> Array:  # pragma: no cover - compiled
    """Replace outputs (M, n, G) by half the derivatives of the loss; return the loss (G,)."""
    n_views, n_rows, n_columns = outputs.shape
    total = np.zeros(n_columns)
    for i in range(n_rows):
        code, label = codes[i], labels[i]
        for g in range(n_columns):
            mean = 0.0
            for j in range(n_views):
                mean += mu[code, j] * outputs[j, i, g]
            all_gaps = 0.0
            for j in range(n_views):
                if not missing[code, j]:
                    all_gaps += outputs[j, i, g] - mean
            of_row = 0.0
            for j in range(n_views):
                if missing[code, j]:
                    outputs[j, i, g] = 0.0
                    continue
                gap = outputs[j, i, g] - mean
                error = outputs[j, i, g] - reach * label
                if grows and label * error > 0.0:
                    error = 0.0
                of_row += error * error + lam[g] * gap * gap
                # The mean moves with each view, by its weight.
                slope = error + lam[g] * (gap - mu[code, j] * all_gaps)
                outputs[j, i, g] = counts[i] * slope
            total[g] += counts[i] * of_row
    return total


LinearFunctions = Sequence[tuple[Array, Array]]
"""The weights (p, G) and biases (G,) of each view."""

Evaluated = tuple[Array, list[Array], Array]
"""The loss (G,), and half its gradient by the weights (p, G) and biases (M, G) of each view."""


@attrs.frozen(eq=False)
class _ByBlocks:
    """The loss in one pass over the rows, with the features of a block computed once.

    The labels and counts of each part of the rows stay with it.
    """

    sides: Sequence[BlockSide]
    parts: Sequence[Any]

    @classmethod
    def of(cls, sides: Sequence[BlockSide], labels: Array, counts: Array) -> Self:
        """Distribute labels and counts (N,) to the parts."""
        return cls(sides, sides[0].blocks.states(lambda *arrays: arrays, labels, counts))

    def __call__(self, loss: _RowLoss, functions: LinearFunctions) -> Evaluated:
        """Evaluate the loss of the views' functions."""
        pairs = zip(self.sides, functions, strict=True)
        projections = [side.projection(weights) for side, (weights, _) in pairs]
        backs, finishes = zip(*(side.back_projection() for side in self.sides), strict=True)
        sweep = _Sweep(loss, projections, [bias for _, bias in functions], backs)
        _, (value, sums, *products) = self.sides[0].blocks.sweep(sweep, self.parts)
        gradients = []
        for back, finish in zip(backs, finishes, strict=True):
            size = 2 * len(back.projectors)
            gradients.append(finish(products[:size]))
            products = products[size:]
        return value, gradients, sums


@attrs.frozen(eq=False)
class _Sweep:
    """The work on a part of the rows: outputs, their loss, and the products of its slopes."""

    loss: _RowLoss
    projections: Sequence[Projection]
    biases: Sequence[Array]
    backs: Sequence[BackProjection]

    def __call__(self, blocks: Blocks, part: tuple[Array, Array]) -> tuple[Any, list[Array]]:
        """Return the part unchanged, the loss (G,), and sums and products of each view."""
        distinct: dict[int, Projector] = {
            id(projector.map): projector for back in self.backs for projector in back.projectors
        }
        labels, counts = part
        projectors = list(distinct.values())
        sums = (
            self._of_block(block, labels[place], counts[place], projectors)
            for place, block in blocks
        )
        return part, reduce(added, sums)

    def _of_block(
        self, block: RowBlock, labels: Array, counts: Array, projectors: Sequence[Projector]
    ) -> list[Array]:
        block.prepare(projectors)
        outputs = np.empty((len(self.backs), len(labels), len(self.biases[0])), labels.dtype)
        for view, (projection, bias) in enumerate(zip(self.projections, self.biases, strict=True)):
            outputs[view] = projection(block) + bias
        # Views of rows that miss sources have separate features, which are not swept together.
        value = self.loss(outputs, labels, counts, np.zeros(len(labels), np.intp))
        products = [
            part
            for back, slopes in zip(self.backs, outputs, strict=True)
            for part in back.of(block, slopes)
        ]
        return [value, outputs.sum(axis=1, dtype=np.float64), *products]


@attrs.frozen(eq=False)
class _ByViews:
    """The loss with the outputs of all rows in memory, one view after another."""

    problems: Sequence[Subproblem]
    labels: Array
    counts: Array
    codes: NDArray[np.intp]

    def __call__(self, loss: _RowLoss, functions: LinearFunctions) -> Evaluated:
        """Evaluate the loss of the views' functions."""
        pairs = list(zip(self.problems, functions, strict=True))
        outputs = np.array(
            [problem.outputs(LinearDecision(*function)) for problem, function in pairs],
            self.labels.dtype,
        )
        value = loss(outputs, self.labels, self.counts, self.codes)
        products = [
            problem.products(slopes) for problem, slopes in zip(self.problems, outputs, strict=True)
        ]
        return value, [part for part, _ in products], np.array([sums for _, sums in products])


class _Coordinates:
    """Points (P,) of the descent: the weights and the bias of each view, one after another."""

    def __init__(self, problems: Sequence[Any], counts: Array) -> None:
        self.problems = problems
        of_members = [
            counts if problem.members is None else counts[problem.members] for problem in problems
        ]
        self.totals = [float(part.sum()) for part in of_members]
        stops = np.cumsum([problem.n_coefficients for problem in problems]).tolist()
        self.size = stops[-1]
        self.slots = [slice(*ends) for ends in zip([0, *stops], stops, strict=False)]

    def functions(self, points: Array) -> LinearFunctions:
        """Return the views' functions at points (P, G)."""
        parts = [points[slot] for slot in self.slots]
        return [(part[:-1], part[-1]) for part in parts]

    def penalties(self, points: Array, columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return Σ_l α‖w_l‖² (G,) at points (P, G), and half its gradient (P, G)."""
        total, gradient = np.zeros(points.shape[1]), np.zeros_like(points)
        for problem, slot in zip(self.problems, self.slots, strict=True):
            weights = points[slot][:-1]
            gradient[slot][:-1] = problem.ridges[columns] * weights
            total += (weights * gradient[slot][:-1]).sum(axis=0)
        return total, gradient

    def solved(self, column: int, data_weights: Array, right: Array) -> Array:
        """Return the product of a vector (P,) with the inverse of each view's ridge system.

        The systems are those of a column with data weights (M,).
        """
        parts: list[Array] = []
        pieces = zip(self.problems, self.slots, self.totals, data_weights, strict=True)
        for problem, slot, total, weight in pieces:
            projected, sums = right[slot][:-1, None], right[slot][-1:]
            places = np.array([column])
            solved = problem.solve_projected(projected, sums / total, np.array([weight]), places)
            parts.extend(problem.function(solved))
        return np.concatenate([part.ravel() for part in parts])


class _Objective:
    """Half the objective of each column, and its gradient, at points (P, G)."""

    def __init__(
        self, problems: Sequence[Any], target: Target, columns: Columns, space: _Coordinates
    ) -> None:
        labels, counts = np.ascontiguousarray(target.values), target.counts
        self._columns = columns
        self._space = space
        codes, missing = missing_patterns(missing_views(problems, len(target)))
        weights = present_weights(missing, columns.weights)
        grows = bool(columns.rates.any())
        reach = 1.0 if grows else 1.0 + columns.traits.b0
        self._loss = _RowLoss(columns.lam, missing, weights, reach, grows)
        self._evaluate = (
            _ByBlocks.of([problem.block_columns for problem in problems], labels, counts)
            if on_same_blocks(problems)
            else _ByViews(problems, labels, counts, codes)
        )
        _, own = GRADIENT.couplings(weights, missing)
        self.data_weights = 1.0 + columns.lam[:, None] * own
        """The weights (G, M) of each view's squares, in its error and in its disagreement."""

    def __call__(self, points: Array, running: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return the values (R,) and gradients (P, R) of the columns that are running."""
        loss = attrs.evolve(self._loss, lam=self._columns.lam[running])
        functions = self._space.functions(points)
        value, slopes, sums = self._evaluate(loss, functions)
        penalty, gradient = self._space.penalties(points, running)
        for slot, of_view, of_bias in zip(self._space.slots, slopes, sums, strict=True):
            gradient[slot] += np.vstack([of_view, of_bias])
        return (value + penalty) / 2, gradient


def minimize(problems: Sequence[Any], target: Target, columns: Columns) -> list[Solution]:
    """Return the minimiser of each column; its history is the least value after each pass.

    Problems have ridges. All columns descend at once, so that they share passes over the rows.
    """
    space = _Coordinates(problems, target.counts)
    objective = _Objective(problems, target, columns, space)
    stopping = columns.traits.stopping
    total = float(target.counts.sum())
    kind = target.values.dtype

    def reached(before: float, now: float) -> bool:
        objectives = np.array([2 * before]), np.array([2 * now])
        return bool(stands_still(stopping, *objectives, total, kind)[0])

    def descent_of(column: int) -> Descent:
        # From zero, first to the ridge regression of each view alone.
        alone = partial(space.solved, column, np.ones(len(problems)))
        coupled = partial(space.solved, column, objective.data_weights[column])
        return descent(np.zeros(space.size), alone, coupled, reached)

    every = np.arange(len(columns.lam))
    descents = [descent_of(column) for column in every.tolist()]
    waiting = {column: next(each) for column, each in enumerate(descents)}
    points = np.zeros((space.size, len(every)))
    histories: list[list[float]] = [[] for _ in descents]
    passes = 0
    while waiting and passes < stopping.max_iter:
        running = np.array(list(waiting))
        trials = np.column_stack(list(waiting.values()))
        values, gradients = objective(trials, running)
        passes += 1
        for place, column in enumerate(running.tolist()):
            value = float(values[place])
            history = histories[column]
            least = history[-1] if history else np.inf
            # Also if it is not finite, which is detected in the decisions.
            if not 2 * value >= least:
                points[:, column] = trials[:, place]
                least = 2 * value
            history.append(least)
            try:
                waiting[column] = descents[column].send((value, gradients[:, place]))
            except StopIteration:
                del waiting[column]
    warn_if_stopped(stopping, ~np.isin(every, list(waiting)))
    parts = list(zip(problems, space.functions(points), strict=True))
    return [
        Solution(
            [problem.finish(LinearDecision(*function), column) for problem, function in parts],
            None,
            tuple(histories[column]),
            column not in waiting,
        )
        for column in every.tolist()
    ]
