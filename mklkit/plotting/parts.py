"""What the pictures share: matplotlib when it is needed, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.errors import MKLKitError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WEIGHT_COLOURS", "new_figure", "require_matplotlib"]

WEIGHT_COLOURS = "YlGnBu"


def require_matplotlib() -> None:
    """Make sure that pictures can be drawn.

    Raises
    ------
    MKLKitError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MKLKitError("Pictures need matplotlib: pip install 'mklkit[plot]'.") from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches that pyplot knows of, so that notebooks show it."""
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")
