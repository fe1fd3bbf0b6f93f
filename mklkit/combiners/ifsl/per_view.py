"""Parameters of ifsl that have one value per view: weights, ridges, rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mklkit.errors import IncompatibleError, SpecError
from mklkit.protocols import Array

__all__ = ["each_is", "mean_weights", "not_all_zero", "one_each", "one_per_view", "scaled"]


def one_each(value: Any) -> tuple[float, ...] | None:
    """Convert numbers, one per view, to a tuple."""
    if value is None:
        return None
    # Of a text or a set, the order is not one of kernels.
    if not np.iterable(value) or isinstance(value, (str, bytes, set, frozenset)):
        raise ValueError(f"expected one number per kernel, such as (1, 2); got {value!r}")
    return tuple(float(one) for one in value)


def each_is(what: str, fits: Callable[[float], bool]) -> Callable[[Any, Any, Any], None]:
    """Return a validator of numbers, one per view, with a message that says what they must be."""

    def check(instance: object, attribute: Any, value: Any) -> None:
        if value is not None and not (value and all(fits(one) for one in value)):
            raise ValueError(f"{attribute.name} must be {what}, one per kernel; got {value!r}")

    return check


def not_all_zero(instance: object, attribute: Any, value: Any) -> None:
    """Validate weights: non-negative and finite, not all zero."""
    if value is not None and not (value and min(value) >= 0 and 0 < sum(value) < np.inf):
        raise ValueError(f"weights must be non-negative numbers, not all zero; got {value!r}")


def mean_weights(weights: Sequence[float] | None, n_views: int) -> Array:
    """Return μ (M,) on the simplex."""
    if weights is None:
        return np.full(n_views, 1 / n_views)
    return one_per_view("weights", weights, n_views) / sum(weights)


def one_per_view(name: str, values: Sequence[float], n_views: int) -> Array:
    """Return values (M,), or raise SpecError where there is not one for each view."""
    if len(values) != n_views:
        raise SpecError(f"ifsl has {len(values)} {name} for {n_views} kernels; give one each.")
    return np.array(values)


def scaled(learner: Any, ridge: float) -> Any:
    """Return a learner with a multiple of its α."""
    if not (hasattr(learner, "alpha") and hasattr(learner, "with_params")):
        raise IncompatibleError(
            f"ifsl(ridges=...) multiplies the parameter 'alpha' of a learner, and {learner.name}"
            " has none: use a learner such as 'mhks' or 'kmhks'."
        )
    return learner.with_params(alpha=ridge * learner.alpha)
