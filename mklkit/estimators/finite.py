"""A binary fit that ends with finite numbers or with an error that gives advice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mklkit.errors import DataError, IncompatibleError, MKLKitError, plain_message, quoted
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, Combiner, CombinerFacts, Decision, Learner, Target, facts_of
from mklkit.views.deciding import RowBlock, decide_block
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.tiles import symmetric_tiles
from mklkit.views.view_set import ViewSet

__all__ = ["fit_decision", "solver_errors_explained"]

CHECKED_ROWS = 256
"""The number of training rows decided at a time, to limit memory next to the matrices of a fit."""

FINITE_ROWS = 16_384
"""The number of rows decided on explicit maps, evenly spaced where there are more."""

SLACK = 1e-8
"""The tolerance for weights out of their range by rounding."""

ORDINARY = 1e12
"""Kernel values between the inverse of this and this are safe for every solver."""


def fit_decision(
    combiner: Combiner,
    views: ViewSet,
    target: Target,
    learner: Learner,
    random_state: np.random.RandomState,
    checked: FeatureBlocks | None = None,
) -> Decision:
    """Return a combiner's decision, with finite weights and decision values on the training rows.

    Where those are gone, ``checked`` has the rows to be decided instead.

    Raises
    ------
    DataError
        If they are not finite, or a solver fails on extreme kernel values; the message names the
        kernel and a remedy.
    IncompatibleError
        If the combiner requires another number of kernels.

    Notes
    -----
    The training rows are decided once: O(N²d) per kernel on an implicit map, no more than a Gram
    matrix costs, and at most 16,384 of them on an explicit one.
    """
    facts = facts_of(combiner, CombinerFacts)
    if facts.n_kernels not in (None, len(views)):
        raise IncompatibleError(
            f"{combiner.name} takes exactly {facts.n_kernels} kernels; there"
            f" {'is' if len(views) == 1 else 'are'} {len(views)}: {', '.join(views.labels)}."
        )
    rows = views if checked is None else ViewSet.of_blocks([view.kernel for view in views], checked)
    with solver_errors_explained(combiner, learner, rows):
        decision = combiner.fit(views, target, learner, random_state)
        finite = np.isfinite(decision.weights).all() and _decides_finitely(decision, rows)
    if not finite:
        problem = "gave decision values that are not finite"
        raise _beyond(combiner, learner, *_most_extreme(rows), problem)
    _check_range(combiner, decision.weights, facts.weight_range)
    return decision


def _check_range(combiner: Combiner, weights: Array, stated: tuple[float, float] | None) -> None:
    low, high = stated or (0.0, 1.0)
    if weights.min() < low - SLACK or weights.max() > high + SLACK:
        raise MKLKitError(
            f"{combiner.name} must have weights from {low:g} to {high:g}; it returned"
            f" {weights.min():.6g} to {weights.max():.6g}. State another range by"
            " facts = CombinerFacts(weight_range=(low, high))."
        )


@contextmanager
def solver_errors_explained(combiner: Combiner, learner: Learner, views: ViewSet) -> Iterator[None]:
    """Turn solver errors on extreme kernel values into an error that names the kernel.

    Errors on kernel values of ordinary size are bugs and are not changed. Overflow warnings are
    silenced: overflow ends in a number that is not finite, for which the caller checks.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except MKLKitError:
        raise
    except (FloatingPointError, OverflowError, ValueError, RuntimeError) as error:
        label, largest = _most_extreme(views)
        ordinary = 1 / ORDINARY <= largest <= ORDINARY
        if ordinary and not isinstance(error, np.linalg.LinAlgError):
            raise
        problem = f"failed ({plain_message(error)})"
        raise _beyond(combiner, learner, label, largest, problem) from error


def _decides_finitely(decision: Decision, views: ViewSet) -> bool:
    def finite(*blocks: RowBlock) -> bool:
        return all(np.isfinite(decide_block(decision, block)).all() for block in blocks)

    if views.blocks is not None:
        step = -(-views.blocks.n_rows // FINITE_ROWS)
        some = views.blocks if step == 1 else views.blocks.take(np.arange(0, len(views.rows), step))
        every = range(len(views))
        parts = some.each(lambda blocks: finite(*(block for _, block in blocks)), every)
        return all(parts)
    places = row_blocks(len(views.rows), CHECKED_ROWS)
    return all(each(lambda place: finite(RowBlock(views.rows[place])), places))


def _most_extreme(views: ViewSet) -> tuple[str, float]:
    """Return the kernel whose values are furthest from one, and its largest value.

    A kernel with NaN values comes before all others.
    """
    largest = np.zeros(len(views))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _, _, tiles in symmetric_tiles(KernelRows.of_views(views)):
            for index, tile in tiles:
                largest[index] = np.maximum(largest[index], np.abs(tile).max())
        place = int(np.argmax(np.nan_to_num(np.abs(np.log(largest)), nan=np.inf)))
    return views.labels[place], float(largest[place])


def _beyond(
    combiner: Combiner, learner: Learner, label: str, largest: float, problem: str
) -> DataError:
    """Return the error that names the kernel, its values and a remedy."""
    size = f"values up to {largest:.2g}" if np.isfinite(largest) else "NaN values"
    return DataError(
        f"{combiner.name} with {learner.name} {problem} on these training data. Kernel"
        f" {quoted(label)} has the most extreme values, {size}: scale the data (each column to"
        f" mean 0 and standard deviation 1, say), use a lower degree, or a normalised kernel:"
        " 'cosine(polynomial)'."
    )
