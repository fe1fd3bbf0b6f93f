"""Shared parts of plots: import of matplotlib when needed, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.errors import MKLKitError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WEIGHT_COLOURS", "new_figure", "require_matplotlib"]

WEIGHT_COLOURS = "YlGnBu"


def require_matplotlib() -> None:
    """Check that matplotlib is available.

    Raises
    ------
    MKLKitError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MKLKitError("Plots need matplotlib: pip install 'mklkit[plot]'.") from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, known to pyplot for display in notebooks."""
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")
