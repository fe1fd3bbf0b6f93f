"""Plugin packages to start from: templates, and the writing of them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Template"]


class Template(StrEnum):
    """What kind of component to start from."""

    weighting = "weighting"
    gating = "gating"
    coupling = "coupling"
    fusion = "fusion"
    kernel = "kernel"
    map = "map"
    learner = "learner"
