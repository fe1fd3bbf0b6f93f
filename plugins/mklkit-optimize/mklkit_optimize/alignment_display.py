"""The similarity of kernels on some samples, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import attrs
import pandas as pd

from mklkit import DataError, alignment_matrix
from mklkit.plotting import Display, draw_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL, SMALLEST, LARGEST = 0.52, 2.2, 6.0
"""Sizes in inches: a cell with its number, and the smallest and the largest matrix."""
WRITTEN_KERNELS = 10
"""With at most this many kernels, the alignments are written in the cells."""


@attrs.define(eq=False, repr=False, slots=False)
class AlignmentDisplay(Display):
    """The alignment of each pair of kernels.

    Parameters
    ----------
    alignments : pandas.DataFrame of shape (M, M)
        Named by kernels, as :func:`mklkit.alignment_matrix` returns it.
    centered : bool, default=True
        Whether the kernels were centred, for the text of the colour bar.

    Examples
    --------
    >>> from mklkit_optimize.alignment_display import AlignmentDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> kernels = ["sepals:rbf@0:2", "petals:rbf@2:4", "linear"]
    >>> display = AlignmentDisplay.from_kernels(kernels, X)  # doctest: +SKIP
    >>> display.figure_.savefig("alignment.png")  # doctest: +SKIP
    """

    alignments: pd.DataFrame
    centered: bool = True

    @classmethod
    def from_kernels(
        cls, kernels: Any, X: Any, *, centered: bool = True, ax: Axes | None = None
    ) -> Self:
        """Draw the alignments of kernels on some samples.

        Parameters
        ----------
        kernels, X : as for :func:`mklkit.alignment_matrix`
        centered : bool, default=True
            Whether kernels are centred first; otherwise a constant that they share counts.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        AlignmentDisplay

        Raises
        ------
        DataError, ValueError
            As :func:`mklkit.alignment_matrix` does.
        """
        return cls(alignment_matrix(kernels, X, centered=centered), centered).plot(ax)

    def _check(self) -> None:
        table = self.alignments
        square = isinstance(table, pd.DataFrame) and table.shape[0] == table.shape[1]
        if not square or table.empty:
            raise DataError("Expected a square DataFrame like that of mklkit.alignment_matrix.")

    def _names(self) -> list[str]:
        return [str(name) for name in self.alignments.index]

    def _size(self) -> tuple[float, float]:
        names = self._names()
        side = min(max(SMALLEST, CELL * len(names)), LARGEST)
        # The width of the longest name, cut at 24 characters of 0.075 inches.
        beside = 0.075 * min(max(map(len, names)), 24)
        return side + beside + 1.3, side + 0.6 * beside + 0.3

    def _draw(self, ax: Axes) -> None:
        names, values = self._names(), self.alignments.to_numpy(dtype=float)
        limits = min(0.0, float(values.min())), 1.0
        image = draw_cells(ax, values, limits, names, names, len(names) <= WRITTEN_KERNELS)
        label = "alignment of centred kernels" if self.centered else "alignment of kernels"
        self.figure_.colorbar(image, ax=ax, label=label)
