"""Sections of a report: pictures and tables under a heading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

if TYPE_CHECKING:
    from mklkit.display.table import ResultTable

__all__ = ["FoldedTable", "Picture", "Section"]


class Drawable(Protocol):
    """What a picture shows, such as a display of :mod:`mklkit.plotting`."""

    def figure(self) -> Any:
        """Return a new matplotlib figure."""


@attrs.frozen(eq=False)
class Picture:
    """A display in a report, with its caption.

    Parameters
    ----------
    display : mklkit.plotting.Display
        The display, drawn on a figure of its own.
    caption : str
        The text above it.
    label : str
        What screen readers say in its place. It differs from all others in the report, so it names
        the data.

    See Also
    --------
    Section : A part of a page that may hold pictures.

    Examples
    --------
    >>> from mklkit.plotting import CurvesDisplay
    >>> display = CurvesDisplay({"svm": ([0, 12], [1.0, 0.4])}, "months", "alive")
    >>> Picture(display, "Patients alive by month.", "Survival on lung").caption
    'Patients alive by month.'
    """

    display: Drawable
    caption: str
    label: str


@attrs.frozen(eq=False)
class FoldedTable:
    """A table under a line that unfolds it: a name in bold with a remark."""

    table: ResultTable
    style: str
    name: str
    remark: str


@attrs.frozen(eq=False)
class Section:
    """Pictures and tables under a heading of a report.

    Parameters
    ----------
    title : str
        The heading.
    parts : sequence of Picture
        The pictures, in their order. mklkit's own sections have tables too.

    See Also
    --------
    Picture : A picture of a section.

    Examples
    --------
    >>> Section("Survival", []).title
    'Survival'
    """

    title: str
    parts: Sequence[Picture | FoldedTable | ResultTable]
