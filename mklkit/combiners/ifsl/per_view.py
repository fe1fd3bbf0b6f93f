"""Parameters of ifsl that have one value per view: weights, ridges, rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from mklkit.errors import IncompatibleError, SpecError
from mklkit.protocols import Array

__all__ = ["mean_weights", "one_per_view", "per_view", "scaled"]


def per_view(expected: str, fits: Callable[[Array], bool]) -> Any:
    """Return the attrs field of optional finite numbers, one per view, that fit."""

    def convert(value: Any) -> tuple[float, ...] | None:
        if value is None:
            return None
        # Of a text or a set, the order is not one of kernels.
        if not np.iterable(value) or isinstance(value, (str, bytes, set, frozenset)):
            raise ValueError(f"expected one number per kernel, such as (1, 2); got {value!r}")
        return tuple(float(number) for number in value)

    def check(instance: object, attribute: Any, value: tuple[float, ...] | None) -> None:
        if value is not None and not (value and np.isfinite(value).all() and fits(np.array(value))):
            raise ValueError(f"{attribute.name} must be {expected}, one per kernel; got {value!r}")

    return attrs.field(default=None, converter=convert, validator=check)


def one_per_view(name: str, values: Sequence[float], n_views: int) -> Array:
    """Return values (M,), or raise SpecError where there is not one for each view."""
    if len(values) != n_views:
        raise SpecError(f"ifsl has {len(values)} {name} for {n_views} kernels; give one each.")
    return np.array(values)


def mean_weights(weights: Sequence[float] | None, n_views: int) -> Array:
    """Return μ (M,) on the simplex."""
    if weights is None:
        return np.full(n_views, 1 / n_views)
    return one_per_view("weights", weights, n_views) / sum(weights)


def scaled(learner: Any, ridge: float) -> Any:
    """Return a learner with a multiple of its α."""
    if not (hasattr(learner, "alpha") and hasattr(learner, "with_params")):
        raise IncompatibleError(
            f"ifsl(ridges=...) multiplies the parameter 'alpha' of a learner, and {learner.name}"
            " has none: use a learner such as 'mhks' or 'kmhks'."
        )
    return learner.with_params(alpha=ridge * learner.alpha)
