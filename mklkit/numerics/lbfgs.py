"""Limited-memory BFGS for smooth convex functions whose values cost a pass over the samples.

A descent is a generator: it yields the point to evaluate next and is sent the value and gradient
there. So descents from several starts, or of several functions, share each pass over the samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

Descent = Generator[Array, tuple[float, Array, Array], None]
"""Yields points (P,); is sent the value, the gradient (P,) and the descending vector (P,) there.

The last is the product of the gradient with an approximate inverse of the Hessian, symmetric and
positive semi-definite, which several descents compute together. Points and gradients need not have
the same coordinates, as long as their products are those of directions and slopes.
"""

PAIRS = 10
"""The steps, with their changes of the gradient, that approximate the inverse of the Hessian."""
SUFFICIENT = 1e-4
"""The least fraction of the decrease that the slope promises for which a step is taken."""
SHORTEST, LONGEST = 0.1, 0.9
"""The range of factors by which a step is shortened."""
MOST_SHORTENINGS = 8


def descent(
    start: Array,
    reached: Callable[[float, float], bool],
    first: Callable[[Array], Array] | None = None,
) -> Descent:
    """Descend from a point (P,) until ``reached(value before, value)`` of two steps is True.

    A single step may gain little because its direction was poor. It also ends if that is True of
    the value that the next step would reach if the function were quadratic. The approximate inverse
    of the Hessian is scaled and improved by the latest ten steps, as in algorithms 7.4 and 7.5 of
    Nocedal and Wright 2006, "Numerical optimization". If it solves with CCᵀ, that is plain L-BFGS
    after the change of variables by C. ``first`` is applied instead of it for the first step. The
    function is convex, so any step with a sufficient decrease is taken.
    """
    point = start
    value, gradient, descending = yield point
    direction = -(descending if first is None else first(gradient))
    pairs: deque[Pair] = deque(maxlen=PAIRS)
    small_before = False
    while True:
        slope = float(gradient @ direction)
        if not slope < 0 or (pairs and reached(value, value + slope / 2)):
            return
        length = 1.0
        for _ in range(MOST_SHORTENINGS):
            trial = point + length * direction
            trial_value, trial_gradient, trial_descending = yield trial
            if trial_value <= value + SUFFICIENT * length * slope:
                break
            if reached(value, value + length * slope):
                return  # What is left to gain is within rounding errors.
            # To where the slope would be zero if it were linear along the line.
            rise = float(trial_gradient @ direction) - slope
            factor = -slope / rise if rise > 0 else SHORTEST
            length *= float(np.clip(factor, SHORTEST, LONGEST))
        else:
            return
        pair = Pair.of(trial - point, trial_gradient - gradient, trial_descending - descending)
        # The second is negative only by rounding errors, in steps within these.
        if pair.curvature > 0 and pair.change @ pair.product > 0:
            pairs.append(pair)
        before, value = value, trial_value
        point, gradient, descending = trial, trial_gradient, trial_descending
        small = reached(before, value)
        if small and small_before:
            return
        small_before = small
        direction = -_improved(gradient, descending, pairs)


@attrs.frozen(eq=False)
class Pair:
    """A step s, the change y of the gradient, its product Hy with the approximate inverse, sᵀy."""

    step: Array
    change: Array
    product: Array
    curvature: float

    @classmethod
    def of(cls, step: Array, change: Array, product: Array) -> Self:
        """Return the pair of a step."""
        return cls(step, change, product, float(step @ change))

    @property
    def scale(self) -> float:
        """The scale sᵀy/yᵀHy of the approximate inverse along the step."""
        return self.curvature / float(self.change @ self.product)


def _improved(gradient: Array, descending: Array, pairs: Sequence[Pair]) -> Array:
    """Return the improved approximate inverse times g, given its product with the original one.

    That is the two-loop recursion, with products of the changes that are known already.
    """
    shares = []
    rest, result = gradient.copy(), descending.copy()
    for pair in reversed(pairs):
        share = float(pair.step @ rest) / pair.curvature
        shares.append(share)
        rest -= share * pair.change
        result -= share * pair.product
    if pairs:
        # One step's scale, as is usual, varies with the samples that reach their margins: the mean
        # of ten took 16 passes where that of the latest took 18.
        result *= np.exp(np.mean(np.log([pair.scale for pair in pairs])))
    for pair, share in zip(pairs, reversed(shares), strict=True):
        result += (share - float(pair.change @ result) / pair.curvature) * pair.step
    return result
