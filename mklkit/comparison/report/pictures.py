"""Displays as pictures in the page, where matplotlib is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.errors import MKLKitError
from mklkit.plotting.parts import require_matplotlib

if TYPE_CHECKING:
    from markupsafe import Markup

    from mklkit.plotting.base import Display

__all__ = ["drawn"]


def drawn(display: Display, label: str) -> Markup | None:
    """Return a display as SVG with the colours of the page, None without matplotlib."""
    try:
        require_matplotlib()
    except MKLKitError:
        return None
    from mklkit.plotting.svg import svg_of

    return svg_of(display, label)
