"""How steeply a kernel's part of the decision values changes with each of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.pairwise import BASES, inverse_lengths, row_blocks
from mklkit.protocols import Array, FittedKernel, Projector, Rows
from mklkit.views.deciding import BLOCK_ROWS, BlockDecision, RowBlock
from mklkit.views.kernel_rows import is_scalar

STEP = 1e-5
"""The step of difference quotients of a kernel by its base quantity, in units of its size."""
ALIKE = 1e-3
"""The relative difference up to which a sum over landmarks is the kernel's part."""


@attrs.frozen(eq=False)
class KernelSum:
    """A kernel's part of P values as a sum over landmarks, Σ_i a_ip k(x, l_i), up to a constant.

    ``coefficients`` are the a (r, P).
    """

    projector: Projector
    coefficients: Array

    @property
    def kernel(self) -> FittedKernel:
        """The kernel."""
        return self.projector.map.kernel

    @property
    def landmarks(self) -> Array:
        """The landmarks (r, d), as the kernel reads them."""
        return self.projector.map.landmarks

    def slopes(self, rows: Array) -> Iterator[Slopes]:
        """Yield the slopes of each of P values at samples (n, d): O(nrd), and O(nr) for each."""
        values, rates, own = _rates(self.kernel, rows, self.landmarks)
        for coefficients in self.coefficients.T:
            turn = None if own is None else own * (values @ coefficients)
            yield Slopes(_inner(self.kernel).base, rates * coefficients, turn)


@attrs.frozen(eq=False)
class Slopes:
    """The gradient of a function at n samples, as weights of that of a base quantity.

    The derivative by column j is Σ_i w_ri ∂base(x_r, l_i)/∂x_rj − t_r x_rj, with the ``weights`` w
    (n, r) and, where lengths are divided by, the ``turn`` t (n,). So it follows from the values in
    column j alone, whether the function has read them or others.
    """

    base: str
    weights: Array
    turn: Array | None

    def of(self, rows: Array, landmarks: Array) -> Array:
        """Return the derivatives (n, k) by columns with values (n, k), and (r, k) in landmarks."""
        if self.base == "manhattan_distance":
            pairs = zip(self.weights, rows, strict=True)
            return np.array([weights @ np.sign(row - landmarks) for weights, row in pairs])
        slopes = self.weights @ landmarks
        if self.base == "squared_distance":
            slopes = 2 * (self.weights.sum(axis=1)[:, None] * rows - slopes)
        return slopes if self.turn is None else slopes - self.turn[:, None] * rows


def has_slopes(kernel: FittedKernel) -> bool:
    """Return whether a kernel is a function of a base quantity, or the cosine of one that is."""
    return is_scalar(_inner(kernel))


def kernel_sums(
    decision: Any, rows: Rows, names: Sequence[str], wanted: Sequence[str]
) -> dict[str, KernelSum]:
    """Return the ``wanted`` kernels' parts of values that are sums over landmarks, by label.

    ``names`` are the labels of all M kernels of the decision. The coefficients are the parts of
    samples that are similar to one landmark each; a complete sample tells whether these add up,
    because a learner or a rule need not be linear.
    """
    if not isinstance(decision, BlockDecision):
        return {}
    projectors = list(decision.projectors)
    missing = rows.missing_of(projectors)
    sample = rows[np.array([0 if missing is None else int(missing.sum(axis=1).argmin())])]
    columns = dict(RowBlock(sample).columns_of(projectors))
    sums = {}
    for index, projector in enumerate(projectors):
        fitted = projector.map
        if projector.label not in wanted or not fitted.from_landmarks:
            continue
        if not has_slopes(fitted.kernel):
            continue
        place = list(names).index(projector.label)
        try:
            of_sample = decision.split_block(RowBlock(sample))[:, place].reshape(1, -1)
            of_columns, constant = _by_column(decision, sample, projectors, columns, index, place)
        except IncompatibleError:
            return {}
        coefficients = fitted.on_similarities(of_columns) if fitted.linear else of_columns
        if projector.missing is not None:
            coefficients = np.where(projector.missing[:, None], 0.0, coefficients)
        similar = fitted.kernel(sample.arrays_of([projector])[0], fitted.landmarks)
        size = np.abs(similar) @ np.abs(coefficients)
        if (np.abs(similar @ coefficients + constant - of_sample) <= ALIKE * size).all():
            sums[projector.label] = KernelSum(projector, coefficients)
    return sums


def _by_column(
    decision: BlockDecision,
    sample: Rows,
    projectors: Sequence[Projector],
    columns: dict[int, Array],
    index: int,
    place: int,
) -> tuple[Array, Array]:
    """Return a kernel's part (p, P) of samples that have a 1 in one of its map's p columns, without
    that of a sample that has zeros in all, and the latter (P,)."""
    width = columns[index].shape[1]
    parts = []
    for block in row_blocks(width + 1, BLOCK_ROWS):
        size = block.stop - block.start
        known = [
            (projector.map, np.broadcast_to(0.0, (size, columns[other].shape[1])))
            for other, projector in enumerate(projectors)
        ]
        known[index] = projectors[index].map, np.eye(size, width, block.start)
        same = RowBlock(sample[np.zeros(size, np.intp)], known=known)
        parts.append(decision.split_block(same)[:, place].reshape(size, -1))
    every = np.concatenate(parts)
    return every[:-1] - every[-1], every[-1]


def _inner(kernel: FittedKernel) -> FittedKernel:
    """Return the kernel whose cosine a kernel is, or the kernel itself."""
    inner = kernel.cosine_of
    return kernel if inner is None else inner


def _rates(
    kernel: FittedKernel, rows: Array, landmarks: Array
) -> tuple[Array, Array, Array | None]:
    """Return the similarities (n, r) and their derivatives by the base quantity (n, r).

    Those of a cosine of inner products have a third part (n,), the derivatives of the logarithms
    of the samples' own lengths, in units of the samples.
    """
    inner = _inner(kernel)
    base = BASES[inner.base](rows, landmarks).astype(np.float64)
    values, rates = inner.of(base, np.empty_like(base)), _slope(inner, base)
    if inner is kernel:
        return values, rates, None
    squares = np.asarray(inner.diagonal(rows), np.float64)
    lengths = inverse_lengths(squares)[:, None]
    lengths = lengths * inverse_lengths(np.asarray(inner.diagonal(landmarks), np.float64))
    own = None
    if inner.base == "inner_product":
        products = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        own = _slope(inner, products) * inverse_lengths(squares) ** 2
    return values * lengths, rates * lengths, own


def _slope(kernel: FittedKernel, base: NDArray[np.float64]) -> Array:
    """Return the derivative of a kernel by its base quantity, as a difference quotient."""
    step = STEP * (float(np.abs(base).mean()) or 1.0)
    above, below = base + step, base - step
    if kernel.base != "inner_product":
        below = np.maximum(below, 0.0)  # A kernel is not defined at negative distances.
    values = (kernel.of(end, np.empty_like(end)) for end in (above, below))
    return (next(values) - next(values)) / (above - below)
