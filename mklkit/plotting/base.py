"""The base classes of displays: checking the input, using or creating axes, and drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mklkit.errors import DataError
from mklkit.plotting.parts import figure_of, new_figure, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display(ABC):
    """A figure of results, drawn on one matplotlib Axes, in the style of scikit-learn's displays.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after :meth:`plot`.
    figure_ : matplotlib.figure.Figure
        Their figure.

    See Also
    --------
    KernelWeightsDisplay : The weights of a model's kernels.
    ComparisonDisplay : The scores of compared methods.

    Examples
    --------
    >>> from mklkit.plotting import KernelWeightsDisplay
    >>> issubclass(KernelWeightsDisplay, Display)
    True
    """

    ax_: Axes
    figure_: Figure

    @abstractmethod
    def _check(self) -> None:
        """Raise a ``DataError`` if the data can't be drawn."""

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure, in inches."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on these axes."""

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on axes of yours, or on a new figure, which notebooks show.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on the axes of a new figure.

        Returns
        -------
        Display
            The display itself, with ``ax_`` and ``figure_``.

        Raises
        ------
        DataError
            If ``ax`` is not a matplotlib Axes, or there is nothing to draw.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        self._check()
        return self._on(new_figure(*self._size()).add_subplot() if ax is None else ax)

    def figure(self) -> Figure:
        """Return a separate figure that no notebook or window shows, for writing to a file.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        DataError
            If there is nothing to draw.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        from matplotlib.figure import Figure

        self._check()
        return self._on(Figure(figsize=self._size(), layout="constrained").add_subplot()).figure_

    def _on(self, ax: Axes) -> Self:
        self.figure_ = figure_of(ax)
        self.ax_ = ax
        self._draw(ax)
        return self


class PanelsDisplay(ABC):
    """A figure of results on several matplotlib Axes.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
    figure_ : matplotlib Figure
    """

    axes_: list[Axes]
    figure_: Figure

    @abstractmethod
    def _check(self) -> int:
        """Return the number of axes needed; raise a ``DataError`` if the data can't be drawn."""

    @abstractmethod
    def _new_axes(self) -> Sequence[Axes]:
        """Return the axes of a new figure."""

    @abstractmethod
    def _draw(self) -> None:
        """Draw on ``axes_``."""

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw on axes of yours, one for each panel, or on a new figure.

        Parameters
        ----------
        axes : sequence of matplotlib.axes.Axes, optional
            Where to draw; further axes stay empty. By default the axes of a new figure.

        Returns
        -------
        PanelsDisplay
            The display itself, with ``axes_`` and ``figure_``.

        Raises
        ------
        DataError
            If ``axes`` are not matplotlib Axes, or fewer than panels, or there is nothing to draw.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        needed = self._check()
        axes = self._new_axes() if axes is None else axes
        panels: list[Any] = list(np.ravel(np.asarray(axes, dtype=object)))
        figures = [figure_of(ax) for ax in panels]
        if len(panels) < needed:
            raise DataError(f"{type(self).__name__} needs {needed} axes; got {len(panels)}.")
        self.axes_, self.figure_ = panels[:needed], figures[0]
        self._draw()
        return self
