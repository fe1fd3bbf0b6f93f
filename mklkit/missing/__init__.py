"""Strategies for missing sources: the class of each, and the base class for others."""

from __future__ import annotations

from mklkit.protocols import Missing, sample_scale
from mklkit.registry.hookspecs import exports

__getattr__, _strategies = exports(__name__, Missing)


def __dir__() -> list[str]:
    return [*_strategies(), Missing.__name__, sample_scale.__name__]
