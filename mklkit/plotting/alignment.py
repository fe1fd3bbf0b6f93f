"""How much kernels are alike on some rows, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mklkit.errors import DataError
from mklkit.evaluation.alignment import alignment_matrix
from mklkit.plotting.cells import draw_cells, short
from mklkit.plotting.parts import check_table, figure_of, new_figure, require_matplotlib

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AlignmentDisplay"]

CELL, SMALLEST, LARGEST = 0.52, 2.2, 6.0
"""Inches: a cell with its number, and the smallest and the largest matrix."""
CHARACTER = 0.075
BESIDE = 1.3
WRITTEN_KERNELS = 10
"""Up to so many kernels have their alignments written in the cells."""


class AlignmentDisplay:
    """The alignment of each pair of kernels.

    Parameters
    ----------
    alignments : pandas.DataFrame of shape (M, M)
        Named by kernels, as :func:`mklkit.alignment_matrix` returns it.
    centered : bool, default=True
        Whether the kernels were centred, for the text of the colour bar.

    Attributes
    ----------
    alignments, centered : as above
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit.plotting import AlignmentDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> kernels = ["sepals:rbf@0:2", "petals:rbf@2:4", "linear"]
    >>> display = AlignmentDisplay.from_kernels(kernels, X)  # doctest: +SKIP
    >>> display.figure_.savefig("alignment.png")  # doctest: +SKIP
    """

    def __init__(self, alignments: pd.DataFrame, centered: bool = True) -> None:
        self.alignments = alignments
        self.centered = centered

    @classmethod
    def from_kernels(
        cls, kernels: Any, X: Any, *, centered: bool = True, ax: Axes | None = None
    ) -> Self:
        """Draw the alignments of kernels on some rows.

        Parameters
        ----------
        kernels : as for MKLClassifier, or a fitted estimator
            Spec strings, kernels, bindings; or a fitted estimator (a search, a vote) with kernels.
        X : array-like or DataFrame of shape (n, d)
            Rows; kernels with a rule for their width are fitted to them.
        centered : bool, default=True
            Whether kernels are centred first; a constant that all of them share counts otherwise.
        ax : matplotlib Axes, optional
            Where to draw; a new figure when not given.

        Returns
        -------
        AlignmentDisplay

        Raises
        ------
        DataError
            If X is not a table of at least two rows of finite numbers.
        ValueError
            If X has other columns than those that the estimator was fitted on.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        return cls(alignment_matrix(kernels, X, centered=centered), centered).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Raises
        ------
        DataError
            If ``ax`` is no matplotlib Axes, or the alignments are no square table or an empty one.
        """
        source = "mklkit.alignment_matrix"
        check_table(self.alignments, (), source)
        n_rows, n_columns = self.alignments.shape
        if n_rows != n_columns:
            raise DataError(
                f"A square DataFrame like that of {source} is expected; got {n_rows} x {n_columns}."
            )
        names = [str(name) for name in self.alignments.index]
        values = self.alignments.to_numpy(dtype=float)
        if ax is None:
            side = min(max(SMALLEST, CELL * len(names)), LARGEST)
            beside = CHARACTER * max(len(short(name)) for name in names)
            ax = new_figure(side + beside + BESIDE, side + 0.6 * beside + 0.3).add_subplot()
        self.figure_: Figure = figure_of(ax)
        self.ax_: Axes = ax
        few = len(names) <= WRITTEN_KERNELS
        limits = min(0.0, float(values.min())), 1.0
        image = draw_cells(ax, values, limits, names, names, written=few)
        label = "alignment of centred kernels" if self.centered else "alignment of kernels"
        self.figure_.colorbar(image, ax=ax, label=label)
        return self
