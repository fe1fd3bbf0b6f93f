"""Limited-memory BFGS for smooth convex functions whose values cost a pass over the rows.

A descent is a generator: it yields the point to evaluate next and is sent the value and gradient
there. So descents from several starts, or of several functions, share each pass over the rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

Descent = Generator[Array, tuple[float, Array], None]
"""Yields points (P,); is sent the value and the gradient (P,) at the point."""

PAIRS = 10
"""The steps, with their changes of the gradient, that approximate the inverse of the Hessian."""
SUFFICIENT = 1e-4
"""The least fraction of the decrease that the slope promises for which a step is taken."""
SHORTEST, LONGEST = 0.1, 0.9
"""The range of factors by which a step is shortened."""
MOST_SHORTENINGS = 20


def descent(
    start: Array,
    inverse: Callable[[Array], Array],
    reached: Callable[[float, float], bool],
) -> Descent:
    """Descend from a point (P,), until ``reached(value before, value)`` of a step is True.

    ``inverse`` applies an approximate inverse of the Hessian, symmetric and positive semi-definite,
    to a vector (P,). It is scaled by the latest step and improved by the latest ten, as in Nocedal
    and Wright 2006, "Numerical optimization", algorithms 7.4 and 7.5. If ``inverse`` solves with
    CCᵀ, that is plain L-BFGS after the change of variables by C. The function is convex, so any
    step with a sufficient decrease is taken.
    """
    point = start
    value, gradient = yield point
    descending = inverse(gradient)
    pairs: deque[tuple[Array, Array, Array, float]] = deque(maxlen=PAIRS)
    while True:
        direction = -_improved(gradient, descending, pairs)
        slope = float(gradient @ direction)
        if not slope < 0:
            return
        length = 1.0
        for _ in range(MOST_SHORTENINGS):
            trial = point + length * direction
            trial_value, trial_gradient = yield trial
            if trial_value <= value + SUFFICIENT * length * slope:
                break
            if reached(value, value + length * slope):
                return  # What is left to gain is within rounding.
            # Where the slope, if it were linear along the line, would be zero.
            rise = float(trial_gradient @ direction) - slope
            factor = -slope / rise if rise > 0 else SHORTEST
            length *= float(np.clip(factor, SHORTEST, LONGEST))
        else:
            return
        trial_descending = inverse(trial_gradient)
        step, change = trial - point, trial_gradient - gradient
        curvature = float(step @ change)
        if curvature > 0:
            pairs.append((step, change, trial_descending - descending, curvature))
        before, value = value, trial_value
        point, gradient, descending = trial, trial_gradient, trial_descending
        if reached(before, value):
            return


def _improved(
    gradient: Array, descending: Array, pairs: deque[tuple[Array, Array, Array, float]]
) -> Array:
    """Return Hg from g and its product with the approximate inverse, by the two-loop recursion.

    A pair is a step s, the change y of the gradient, the product of y with the approximate inverse,
    and sᵀy: the approximate inverse is applied only once per gradient.
    """
    if not pairs:
        return descending
    shares = []
    rest, result = gradient.copy(), descending.copy()
    for step, change, product, curvature in reversed(pairs):
        share = float(step @ rest) / curvature
        shares.append(share)
        rest -= share * change
        result -= share * product
    _, change, product, curvature = pairs[-1]
    result *= curvature / float(change @ product)
    for (step, change, _, curvature), share in zip(pairs, reversed(shares), strict=True):
        result += (share - float(change @ result) / curvature) * step
    return result
