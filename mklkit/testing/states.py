"""The state of components, and of the random numbers that they are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit.protocols.component import parameter_names

__all__ = ["has_drawn", "state_of"]


def state_of(component: Any) -> dict[str, Any]:
    """Return a component's state: its parameters and any other attributes."""
    held = dict(getattr(component, "__dict__", {}))
    try:
        names = parameter_names(component)
    except (TypeError, ValueError):  # not an attrs class
        return held
    return held | {name: getattr(component, name) for name in names}


def has_drawn(random_state: np.random.RandomState, seed: int) -> bool:
    """Return whether numbers were drawn from a random state since it was made from the seed.

    This is found from the next number, which is drawn.
    """
    return bool(random_state.random_sample() != np.random.RandomState(seed).random_sample())
