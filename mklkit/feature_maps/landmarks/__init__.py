"""Strategies that choose the landmarks of an empirical map, one per file.

A module of this package is a strategy: its name is what users type, and its function
``choose(seen, count, random_state)`` returns ``seen``, kernels with their N training rows, on
``count`` < N landmarks instead. Kernels that share an array of rows share one of landmarks.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from mklkit.errors import quoted, suggest
from mklkit.views.kernel_rows import KernelRows

__all__ = ["STRATEGIES", "choose", "known_strategy"]

STRATEGIES = tuple(sorted(module.name for module in iter_modules(__path__)))


def known_strategy(instance: object, attribute: Any, value: Any) -> None:
    """Validate an attrs field: the name of a strategy."""
    if value not in STRATEGIES:
        raise ValueError(
            f"{attribute.name} must be one of {', '.join(STRATEGIES)}; got {quoted(value)}."
            f"{suggest(str(value), STRATEGIES)}"
        )


def choose(
    name: str, seen: KernelRows, count: int, random_state: np.random.RandomState
) -> KernelRows:
    """Return the kernels on ``count`` < N landmarks, chosen by the strategy of that name."""
    chosen: KernelRows = import_module(f"{__name__}.{name}").choose(seen, count, random_state)
    return chosen
