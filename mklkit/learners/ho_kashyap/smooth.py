"""The objective with its margins eliminated, minimised over the coefficients alone.

The best margin of a sample is b = max(0, φf − 1). What is left of the objective of
:mod:`mklkit.learners.ho_kashyap.rules` is smooth and convex,

    L = Σ_l [Σ_i max(0, 1 − φ_i f_l(x_i))² + α‖w_l‖²] + λ Σ_l ‖f_l − f̄‖²,

and is minimised by L-BFGS from the views' least-squares solutions. The system of each view's ridge
regression, which is factorised already, is the approximate Hessian: the Hessian is that of the
samples that are short of their margin. Each evaluation of the objective and its gradient is one
pass over the samples, for all columns and views.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.learners.ho_kashyap.agreement import STRONG, Agreement, columns_at_once
from mklkit.learners.ho_kashyap.iteration import (
    WholeRows,
    iterate,
    missing_views,
    warn_if_stopped,
)
from mklkit.learners.ho_kashyap.rules import GRADIENT, Columns, Rule, Solution, stands_still
from mklkit.learners.ho_kashyap.sweeps import on_same_blocks
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.compiling import compiled
from mklkit.numerics.lbfgs import descent
from mklkit.protocols import Array, Projector, Subproblem, Target, missing_patterns, present_weights
from mklkit.views.deciding import RowBlock
from mklkit.views.engines import Blocks, added
from mklkit.views.feature_moments import BackProjection, Projection
from mklkit.views.view import BlockSide

MANY_ROWS = 10_000
"""The number of samples above which the smooth objective is minimised by default."""
PATIENCE = 30
"""The passes after which columns of a printed iteration go on with the smooth objective."""
CLOSER = 0.1
"""The share of the tolerance at which they end."""


def is_smooth(problems: Sequence[Subproblem], target: Target, solver: str | None) -> bool:
    """Return whether the smooth objective is minimised: by default, on features of many samples."""
    able = all(problem.ridges is not None for problem in problems)
    if solver == "smooth" and not able:
        raise IncompatibleError(
            "solver='smooth' minimises over the coefficients of features, which a Gram matrix"
            " does not have: use solver='printed', or a learner on explicit features."
        )
    return able and (solver == "smooth" or (solver is None and len(target) > MANY_ROWS))


@attrs.frozen(eq=False)
class _RowLoss:
    """What the loss of samples depends on besides their outputs: labels, λ (G,), patterns, margins.

    ``missing`` (K, M) are the views that samples of each pattern miss, ``weights`` (K, M) the μ of
    the others. The target is ``reach`` times the label, which outputs exceed at no cost if
    ``grows``.
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


Evaluated = tuple[Array, list[Array]]
"""The loss (G,), and half its gradient in the coordinates of each view (P_l, G)."""


@attrs.frozen(eq=False)
class _ByBlocks:
    """The loss in one pass over the samples, with the features of a block computed once.

    The labels and counts of each part of the samples stay with it.
    """

    sides: Sequence[BlockSide]
    parts: Sequence[Any]

    @classmethod
    def of(cls, sides: Sequence[BlockSide], labels: Array, counts: Array) -> Self:
        """Distribute labels and counts (N,) to the parts."""
        return cls(sides, sides[0].blocks.states(lambda *arrays: arrays, labels, counts))

    def __call__(self, loss: _RowLoss, parts: Sequence[Array]) -> Evaluated:
        """Evaluate the loss at the views' parts (P_l, G) of points."""
        functions = [(part[:-1], part[-1]) for part in parts]
        pairs = zip(self.sides, functions, strict=True)
        projections = [side.projection(weights) for side, (weights, _) in pairs]
        backs, finishes = zip(*(side.back_projection() for side in self.sides), strict=True)
        sweep = _Sweep(loss, projections, [bias for _, bias in functions], backs)
        _, (value, sums, *products) = self.sides[0].blocks.sweep(sweep, self.parts)
        gradients = []
        for back, finish, of_bias in zip(backs, finishes, sums, strict=True):
            size = 2 * len(back.projectors)
            gradients.append(np.vstack([finish(products[:size]), of_bias]))
            products = products[size:]
        return value, gradients


@attrs.frozen(eq=False)
class _Sweep:
    """The work on a part of the samples: outputs, their loss, and the products of its slopes."""

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
        # Views of samples that miss sources have separate features, which are not swept together.
        value = self.loss(outputs, labels, counts, np.zeros(len(labels), np.intp))
        products = [
            part
            for back, slopes in zip(self.backs, outputs, strict=True)
            for part in back.of(block, slopes)
        ]
        return [value, outputs.sum(axis=1, dtype=np.float64), *products]


@attrs.frozen(eq=False)
class _ByViews:
    """The loss with the outputs of all samples in memory, one view after another."""

    views: Sequence[_FeatureView | _RowView]
    labels: Array
    counts: Array
    codes: NDArray[np.intp]

    def __call__(self, loss: _RowLoss, parts: Sequence[Array]) -> Evaluated:
        """Evaluate the loss at the views' parts (P_l, G) of points."""
        pairs = list(zip(self.views, parts, strict=True))
        outputs = np.array([view.outputs(part) for view, part in pairs], self.labels.dtype)
        value = loss(outputs, self.labels, self.counts, self.codes)
        pairs = list(zip(self.views, outputs, strict=True))
        return value, [view.slopes(of_view) for view, of_view in pairs]


@attrs.frozen(eq=False)
class _FeatureView:
    """Points of one view that are weights of features and a bias, (p + 1, G)."""

    problem: Any
    total: float

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return int(self.problem.n_coefficients)

    def point(self, coefficients: Any) -> Array:
        """Return the points of coefficients as a subproblem's ``solve`` returns them."""
        return np.vstack(self.problem.function(coefficients))

    def outputs(self, points: Array) -> Array:
        """Return the decision values (N, G)."""
        return np.asarray(self.problem.outputs(LinearDecision(points[:-1], points[-1])))

    def slopes(self, values: Array) -> Array:
        """Return the gradient of a loss whose derivatives by the outputs are (N, G)."""
        return np.vstack(self.problem.products(values))

    def penalty(self, points: Array, columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return α‖w‖² (G,) and half its gradient."""
        gradient = np.vstack(
            [self.problem.ridges[columns] * points[:-1], np.zeros_like(points[-1])]
        )
        return np.einsum("pg,pg->g", points, gradient), gradient

    def solved(self, right: Array, data_weights: Array, columns: NDArray[np.intp]) -> Array:
        """Return the products of gradients with the inverse of the view's ridge system."""
        means = right[-1] / self.total
        return self.point(self.problem.solve_projected(right[:-1], means, data_weights, columns))

    def finish(self, point: Array) -> Any:
        """Return the decision function of one point (P,)."""
        return self.problem.finish(LinearDecision(point[:-1, None], point[-1:]))


@attrs.frozen(eq=False)
class _RowView:
    """Points of one view that are functions f = Kv + w₀: v, f of the n samples and w₀, (2n + 1, G).

    The gradient along a direction with the outputs δ is (s + αv)ᵀδ for slopes s by the outputs, so
    it is stored in the places of f, with zeros in the others. The system that is solved for v gives
    f along with it, so that K is never multiplied.
    """

    problem: Any
    counts: Array
    members: NDArray[np.intp] | slice
    n_rows: int

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return 2 * len(self.counts) + 1

    def point(self, coefficients: Any) -> Array:
        """Return the points of coefficients as a subproblem's ``solve`` returns them."""
        return np.vstack(self.problem.row_function(coefficients))

    def outputs(self, points: Array) -> Array:
        """Return the decision values (N, G)."""
        return self._on_all(points[len(self.counts) : -1])

    def _on_all(self, values: Array) -> Array:
        if len(self.counts) == self.n_rows:
            return values
        on_all = np.zeros((self.n_rows, values.shape[1]))
        on_all[self.members] = values
        return on_all

    def slopes(self, values: Array) -> Array:
        """Return the gradient of a loss whose derivatives by the outputs are (N, G)."""
        gradient = np.zeros((self.size, values.shape[1]))
        gradient[len(self.counts) : -1] = values[self.members]
        return gradient

    def penalty(self, points: Array, columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return αvᵀKv (G,) and half its gradient."""
        n_members = len(self.counts)
        gradient = np.zeros_like(points)
        gradient[n_members:-1] = self.problem.row_ridges[columns] * points[:n_members]
        # Weights sum to zero, so that the bias adds nothing.
        return np.einsum("pg,pg->g", points, gradient), gradient

    def solved(self, right: Array, data_weights: Array, columns: NDArray[np.intp]) -> Array:
        """Return the products of gradients with the inverse of the view's ridge system."""
        targets = right[len(self.counts) : -1] / self.counts[:, None]
        return self.point(self.problem.solve(self._on_all(targets), data_weights, columns))

    def finish(self, point: Array) -> Any:
        """Return the decision function of one point (P,)."""
        return self.problem.finish_rows(point[: len(self.counts)].copy(), float(point[-1]))


def _view_of(problem: Any, counts: Array) -> _FeatureView | _RowView:
    members = slice(None) if problem.members is None else problem.members
    if problem.ridges is not None:
        return _FeatureView(problem, float(counts[members].sum()))
    return _RowView(problem, counts[members], members, len(counts))


def _agreement(
    problems: Sequence[Any], columns: Columns, running: NDArray[np.intp]
) -> Agreement | None:
    """Return the joint systems of columns, if all views have Gram matrices of all rows."""
    if any(problem.row_ridges is None or problem.members is not None for problem in problems):
        return None
    if not len(running) or columns.lam[running].max() < STRONG:
        return None
    grams = [problem.centered_gram for problem in problems]
    if any(gram is None for gram in grams):
        return None
    ridges = np.mean([problem.row_ridges for problem in problems], axis=0)
    return Agreement.of(grams, ridges, columns.lam, columns.weights, running.tolist())


class _Objective:
    """Half the objective of each column, and its gradient, at points (P, G).

    Points are the coordinates of the views, one after another.
    """

    def __init__(
        self,
        problems: Sequence[Any],
        target: Target,
        columns: Columns,
        running: NDArray[np.intp],
    ) -> None:
        labels, counts = np.ascontiguousarray(target.values), target.counts
        self._columns = columns
        self.views = [_view_of(problem, counts) for problem in problems]
        codes, missing = missing_patterns(missing_views(problems, len(target)))
        weights = present_weights(missing, columns.weights)
        grows = bool(columns.rates.any())
        reach = 1.0 if grows else 1.0 + columns.traits.b0
        self._loss = _RowLoss(columns.lam, missing, weights, reach, grows)
        self._evaluate = (
            _ByBlocks.of([problem.block_columns for problem in problems], labels, counts)
            if on_same_blocks(problems)
            else _ByViews(self.views, labels, counts, codes)
        )
        _, own = GRADIENT.couplings(weights, missing)
        self._data_weights = 1.0 + columns.lam[:, None] * own
        self._agreement = _agreement(problems, columns, running)
        stops = np.cumsum([view.size for view in self.views]).tolist()
        self.size = stops[-1]
        self._slots = [slice(*ends) for ends in zip([0, *stops], stops, strict=False)]

    def parts(self, points: Array) -> list[Array]:
        """Return the views' parts of points (P, G)."""
        return [points[slot] for slot in self._slots]

    def __call__(self, points: Array, running: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """Return the values (R,), gradients and descending vectors (P, R) of running columns."""
        loss = attrs.evolve(self._loss, lam=self._columns.lam[running])
        value, gradients = self._evaluate(loss, self.parts(points))
        slopes = []
        for view, part, gradient in zip(self.views, self.parts(points), gradients, strict=True):
            penalty, of_penalty = view.penalty(part, running)
            value = value + penalty
            slopes.append(gradient + of_penalty)
        every = np.concatenate(slopes)
        return value / 2, every, self._descending(every, running)

    def _descending(self, gradients: Array, running: NDArray[np.intp]) -> Array:
        """Return the products of gradients (P, R) with the approximate inverse of the Hessian."""
        data_weights = self._data_weights[running].copy()
        if self._agreement is None:
            return self.solved(gradients, data_weights, running)
        joint = np.flatnonzero([column in self._agreement.factors for column in running])
        data_weights[joint] = 1 + self._agreement.couplings[running[joint], None]
        result = self.solved(gradients, data_weights, running)
        if joint.size:
            pairs = list(zip(self.views, self.parts(result[:, joint]), strict=True))
            sums = np.sum([view.outputs(part) for view, part in pairs], axis=0)
            pulls = self._agreement.pulls(sums, running[joint])
            every = np.concatenate([view.slopes(pulls) for view in self.views])
            result[:, joint] += self.solved(every, data_weights[joint], running[joint])
        return result

    def solved(self, right: Array, data_weights: Array, columns: NDArray[np.intp]) -> Array:
        """Return the products of vectors (P, R) with the inverse of each view's ridge system.

        The systems are those of columns with data weights (R, M).
        """
        triples = zip(self.views, self.parts(right), data_weights.T, strict=True)
        return np.concatenate([view.solved(part, w, columns) for view, part, w in triples])


@attrs.frozen(eq=False)
class Start:
    """Where columns begin: at zero, or at coefficients of an iteration after some passes.

    The coefficients of each view have the columns at some places; histories are those of all.
    """

    columns: NDArray[np.intp]
    histories: Sequence[Sequence[float]]
    coefficients: Sequence[Any] = ()
    places: NDArray[np.intp] | None = None
    passes: int = 0

    @classmethod
    def zeros(cls, n_columns: int) -> Self:
        """Return the start of all columns at zero."""
        return cls(np.arange(n_columns), [()] * n_columns)

    def portions(self, count: int) -> Iterator[Self]:
        """Yield the start of so many columns at a time, nearly the same number in each."""
        n_portions = -(-len(self.columns) // count)
        for part in np.array_split(np.arange(len(self.columns)), n_portions):
            places = None if self.places is None else self.places[part]
            yield attrs.evolve(self, columns=self.columns[part], places=places)

    def points(self, objective: _Objective) -> Array:
        """Return a point for each column, (G, P)."""
        if not self.coefficients:
            return np.zeros((len(self.columns), objective.size))
        pairs = zip(objective.views, self.coefficients, strict=True)
        parts = [view.point(coefficients)[:, self.places] for view, coefficients in pairs]
        return np.ascontiguousarray(np.concatenate(parts).T)


def minimize(
    problems: Sequence[Any], target: Target, columns: Columns, start: Start | None = None
) -> list[Solution]:
    """Return the minimiser of each column; its history is the least value after each pass.

    Problems have ridges of features or of samples. All columns descend at once, so that they share
    passes over the samples. Some may go on from where an iteration has brought them.
    """
    start = start or Start.zeros(len(columns.lam))
    objective = _Objective(problems, target, columns, start.columns)
    stopping = columns.traits.stopping
    total = float(target.counts.sum())
    kind = target.values.dtype

    def reached(before: float, now: float) -> bool:
        objectives = np.array([2 * before]), np.array([2 * now])
        return bool(stands_still(stopping, *objectives, total, kind)[0])

    def alone(column: int, gradient: Array) -> Array:
        weights = np.ones((1, len(problems)))
        return objective.solved(gradient[:, None], weights, np.array([column])).ravel()

    points = start.points(objective)
    descents = {
        # From zero, first to the ridge regression of each view alone.
        column: descent(point, reached, None if start.coefficients else partial(alone, column))
        for column, point in zip(start.columns.tolist(), points, strict=True)
    }
    best = dict(zip(descents, points, strict=True))
    waiting = {column: next(each) for column, each in descents.items()}
    histories = {column: list(start.histories[column]) for column in descents}
    passes = start.passes
    while waiting and passes < stopping.max_iter:
        running = np.array(list(waiting))
        trials = np.column_stack(list(waiting.values()))
        values, *vectors = objective(trials, running)
        # A sample for each column, in one piece.
        gradients, descending = (np.ascontiguousarray(part.T) for part in vectors)
        passes += 1
        for place, column in enumerate(running.tolist()):
            value = float(values[place])
            history = histories[column]
            least = history[-1] if history else np.inf
            # Also if it is not finite, which is detected in the decisions.
            if not 2 * value >= least:
                best[column] = waiting[column]
                least = 2 * value
            history.append(least)
            try:
                sent = value, gradients[place], descending[place]
                waiting[column] = descents[column].send(sent)
            except StopIteration:
                del waiting[column]
    warn_if_stopped(stopping, np.array([column not in waiting for column in descents]))
    return [
        Solution(
            [
                view.finish(part)
                for view, part in zip(objective.views, objective.parts(best[column]), strict=True)
            ],
            None,
            tuple(histories[column]),
            column not in waiting,
            printed=False,
        )
        for column in descents
    ]


def iterate_and_minimize(
    rule: Rule, problems: Sequence[Subproblem], target: Target, columns: Columns
) -> list[Solution]:
    """Return the solutions of the printed iteration, or where it is slow, the minimisers.

    A column that has not converged after ``PATIENCE`` passes goes on from there with the smooth
    objective, which is at most that of its margins. So views that approach each other by a share of
    1/(1 + λ) per pass need no thousand passes, and the solution of a column does not depend on the
    other columns.
    """
    initial = [None] * len(problems)
    has_points = all(
        problem.ridges is not None or problem.row_ridges is not None for problem in problems
    )
    if not has_points or on_same_blocks(problems):
        return iterate(rule, problems, target, columns, initial)
    iteration = WholeRows(rule, problems, target, columns, initial, None)
    iteration.run(rule.steps(len(problems)), PATIENCE)
    solutions = list(iteration.solutions)
    if iteration.running.size:
        # A step of L-BFGS is no measure of what is left: without this share, some points ended
        # above the printed iteration by the tolerance or two.
        stopping = columns.traits.stopping
        closer = attrs.evolve(stopping, tol=stopping.tol * CLOSER)
        columns = attrs.evolve(columns, traits=attrs.evolve(columns.traits, stopping=closer))
        start = Start(
            iteration.running,
            iteration.history,
            iteration.coefficients,
            iteration.places,
            PATIENCE,
        )
        for part in start.portions(columns_at_once(len(target))):
            slow = minimize(problems, target, columns, part)
            for column, solution in zip(part.columns.tolist(), slow, strict=True):
                solutions[column] = solution
    return [solution for solution in solutions if solution is not None]
