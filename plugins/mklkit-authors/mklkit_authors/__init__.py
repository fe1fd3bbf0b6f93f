"""New plugin packages from templates, and the checks of installed ones, as a command."""

from enum import StrEnum

__all__ = ["Template"]


class Template(StrEnum):
    """The kind of component that a new package contains, or a command."""

    weighting = "weighting"
    gating = "gating"
    coupling = "coupling"
    fusion = "fusion"
    kernel = "kernel"
    map = "map"
    learner = "learner"
    missing = "missing"
    task = "task"
    command = "command"
