"""The iteration on features that are recomputed in each pass: one sweep over the samples per solve.

A sweep computes the features of a block once, for the outputs of the view that was solved last and
for the products of the next view with its target; margins and outputs stay with their part of the
samples. The objective is known one sweep late: the results of that sweep are discarded if the
iteration has converged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, TypeGuard

import attrs
import numpy as np

from mklkit.learners.ho_kashyap.rules import (
    RECORD,
    Columns,
    Rule,
    Solution,
    Step,
    grow_margins,
    loss,
    set_target,
    stands_still,
)
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, Projector, Subproblem, Target
from mklkit.views.deciding import BLOCK_ROWS, RowBlock
from mklkit.views.engines import added
from mklkit.views.feature_moments import BackProjection


def on_same_blocks(problems: Sequence[Subproblem]) -> TypeGuard[Any]:
    """Return whether all problems work on the same features, which are not kept in memory."""
    in_blocks = [problem.block_columns for problem in problems if problem.block_columns is not None]
    if len(in_blocks) < len(problems):
        return False
    blocks = in_blocks[0].blocks
    used = [index for part in in_blocks for index in part.used]
    return all(part.blocks is blocks for part in in_blocks) and blocks.makes_again(used)


@attrs.frozen(eq=False)
class _Block:
    """Outputs and margins (M, n, 1), labels and counts (n,) of a block of samples."""

    outputs: Array
    margins: Array
    labels: Array
    counts: Array


Queued = tuple[Any, ...]
"""A step, or a view with new outputs and their projection and bias."""


@attrs.frozen(eq=False)
class _Sweep:
    """The work on a block of samples: queued steps, then a view's target and its products."""

    columns: Columns
    queue: list[Queued]
    view: int
    factors: Array
    back: BackProjection

    def __call__(
        self, blocks: Iterator[tuple[slice, RowBlock]], state: list[_Block]
    ) -> tuple[list[_Block], list[Array]]:
        """Return the part's new state, the objective, the target's sum and its products."""
        projections = [function[0] for step, _, *function in self.queue if step == "outputs"]
        used = [projector for part in (self.back, *projections) for projector in part.projectors]
        distinct = list({id(projector.map): projector for projector in used}.values())
        pairs = zip(blocks, state, strict=True)
        sums = (self._of_block(block, values, distinct) for (_, block), values in pairs)
        return state, reduce(added, sums)

    def _of_block(
        self, block: RowBlock, rows: _Block, projectors: Sequence[Projector]
    ) -> list[Array]:
        block.prepare(projectors)
        columns = self.columns
        value = np.zeros(1)
        weights = self.columns.weights[None]
        # Samples that miss sources have separate features, which are not swept together.
        codes, missing = np.zeros(len(rows.labels), np.intp), np.zeros(weights.shape, bool)
        for step, view, *function in self.queue:
            if step == "outputs":
                projection, bias = function
                rows.outputs[view] = projection(block) + bias
            elif step == "grow":
                rate = columns.rates[view]
                grow_margins(rows.outputs[view], rows.labels, rate, rows.margins[view])
            else:
                counted = rows.outputs, rows.margins, rows.labels, rows.counts
                value = loss(*counted, codes, missing, weights, columns.lam)
        target = np.empty_like(rows.outputs[0])
        lam = columns.lam
        margins, labels, view = rows.margins, rows.labels, self.view
        set_target(rows.outputs, margins, labels, codes, self.factors, lam, view, target)
        target *= rows.counts[:, None]
        return [value, target.sum(axis=0, dtype=np.float64), *self.back.of(block, target)]


def iterate_by_sweeps(
    rule: Rule,
    problems: Sequence[Subproblem],
    target: Target,
    columns: Columns,
    initial: Sequence[Any],
    steps: Iterator[Step],
) -> Solution:
    """Return the solution of one column, with one sweep per solve; equal to that of ``iterate``."""
    blocks = problems[0].block_columns.blocks
    n_views = len(problems)
    start = columns.traits.b0

    def state(labels: Array, counts: Array) -> list[_Block]:
        def part(place: slice) -> _Block:
            members = labels[place]
            shape = n_views, len(members), 1
            margins = np.full(shape, start, members.dtype)
            return _Block(np.zeros(shape, members.dtype), margins, members, counts[place])

        return [part(place) for place in row_blocks(len(labels), BLOCK_ROWS)]

    counts, dtype = target.counts, target.values.dtype
    total = float(counts.sum())
    states = blocks.states(state, target.values, counts)
    coefficients: list[Any] = list(initial)
    queue: list[Queued] = [
        _outputs(problems[view], view, start_of_view)
        for view, start_of_view in enumerate(initial)
        if start_of_view is not None
    ]
    weights = columns.weights[None]
    factors, data_weights = rule.couplings(weights, np.zeros(weights.shape, bool))
    history: list[float] = []
    stopping = columns.traits.stopping
    for step, view in steps:
        if step != "solve":
            queue.append((step, view))
            continue
        problem = problems[view]
        back, finish = problem.block_columns.back_projection()
        sweep = _Sweep(columns, queue, view, factors[view], back)
        states, (value, sums, *products) = blocks.sweep(sweep, states)
        if RECORD in queue:
            pairs = zip(problems, coefficients, strict=True)
            known = [(problem, solved) for problem, solved in pairs if solved is not None]
            penalties = sum(problem.penalty(solved)[0] for problem, solved in known)
            history.append(float(value[0] + penalties))
            last = np.array(history[-2:])
            done = len(last) > 1 and bool(
                stands_still(stopping, last[:1], last[1:], total, dtype)[0]
            )
            if done or len(history) >= stopping.max_iter:
                break
        weight = 1.0 + columns.lam * data_weights[view]
        means = sums / total
        coefficients[view] = problem.solve_projected(finish(products), means, weight)
        queue = [_outputs(problem, view, coefficients[view])]
    pairs = zip(problems, coefficients, strict=True)
    finished = [problem.finish(solved) for problem, solved in pairs]
    return Solution(finished, None, tuple(history), done)


def _outputs(problem: Subproblem, view: int, coefficients: Any) -> Queued:
    weights, bias = problem.function(coefficients)
    return "outputs", view, problem.block_columns.projection(weights), bias
