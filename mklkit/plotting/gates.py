"""Plots of gates, one panel per kernel (paper 001, Figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import DataError, IncompatibleError, SpecError, counted, quoted
from mklkit.estimators.anatomy import GatedModel, split
from mklkit.plotting.class_markers import SHAPES, class_markers, is_text
from mklkit.plotting.gate_plane import Plane, plane_of_gates, principal_components
from mklkit.plotting.parts import (
    ON_DARK,
    ON_LIGHT,
    SCALE,
    axes_among,
    ink,
    new_figure,
    require_matplotlib,
)
from mklkit.protocols import Array
from mklkit.protocols.component import is_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GatesDisplay", "Plane"]

TEXT_SIZE = 70.0
LEGEND_SIZE = 75.0
"""Areas of markers, in square points: of coloured text, and the maximum in the legend."""

PANELS_A_ROW = 3
WIDTH, BESIDE, LARGEST_PANEL = 7.0, 1.2, 2.9
"""Inches: the widest figure, what is beside the panels, and the largest panel."""


class GatesDisplay:
    """Each row's weight on each kernel for gating combiners, one panel per kernel.

    For rows of two columns the plane is coloured by the gate, with the rows on top (paper 001,
    Figure 3); wider rows are shown in their first two principal components, coloured by their own
    gate.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        The positions of the rows in the plot.
    gates : ndarray of shape (n, M)
        Their weights.
    kernel_names : sequence of M str
    axis_names : pair of str
    plane : Plane, optional
        The gates between the rows.
    labels : ndarray of shape (n,), optional
        Classes, drawn as markers: shapes, and text from the ninth class on.

    Attributes
    ----------
    points, gates, kernel_names, axis_names, plane, labels : as above
    axes_ : list of M matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from mklkit.plotting import GatesDisplay
    >>> from mklkit.datasets.stars import make_four_stars
    >>> X, y, _ = make_four_stars(400, random_state=0)
    >>> kernels = ["s0.01:rbf(gamma=100)", "s1:rbf(gamma=1)"]
    >>> model = MKLClassifier(kernels, combiner="cluster-gating", random_state=0).fit(X, y)
    >>> GatesDisplay.from_estimator(model, X, y).figure_.savefig("gates.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        points: Array,
        gates: Array,
        kernel_names: Sequence[str],
        axis_names: tuple[str, str],
        plane: Plane | None = None,
        labels: NDArray[Any] | None = None,
    ) -> None:
        self.points = points
        self.gates = gates
        self.kernel_names = kernel_names
        self.axis_names = axis_names
        self.plane = plane
        self.labels = labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 120,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the gates of a fitted classifier at some rows.

        Parameters
        ----------
        estimator : MKLClassifier, or a pipeline or search around it
            Fitted, with a gating combiner such as ``cluster-gating``.
        X : array-like or DataFrame of shape (n, d)
            Rows as passed to the estimator, for example its training rows.
        y : array-like of shape (n,), optional
            Their classes, shown as markers.
        grid_resolution : int, default=120
            The number of grid points per axis, 2 or more, for two columns.
        axes : sequence of M matplotlib Axes, optional
            Where to draw; a new figure when not given.

        Returns
        -------
        GatesDisplay

        Raises
        ------
        IncompatibleError
            If the kernel weights are the same for all rows, or the estimator has none.
        DataError
            If there is only one column, or ``y`` and ``X`` differ in length.
        SpecError
            If ``grid_resolution`` is not a whole number, 2 or above.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        if not is_whole(grid_resolution) or grid_resolution < 2:
            raise SpecError(
                "grid_resolution must be a whole number, 2 or above; got"
                f" {quoted(grid_resolution)}."
            )
        before, classifier = split(estimator)
        if not isinstance(classifier, GatedModel):
            raise IncompatibleError(
                f"{type(classifier).__name__} has no gates to draw; a fitted MKLClassifier with a"
                " gating combiner, such as cluster-gating, is expected."
            )
        seen = X if before is None else before.transform(X)
        gates = np.asarray(classifier.gate_weights(seen), dtype=np.float64)
        labels = None if y is None else np.asarray(y)
        if labels is not None and len(labels) != len(gates):
            raise DataError(f"X has {len(gates)} rows but y has {len(labels)} labels.")
        names: list[str] = classifier.kernel_names_
        if np.shape(X)[1] == 2 and _numeric(X):
            points: Array = np.asarray(X, dtype=np.float64)

            def gates_at(rows: Array) -> Array:
                named = isinstance(X, pd.DataFrame)
                table = pd.DataFrame(rows, columns=X.columns) if named else rows
                taken = table if before is None else before.transform(table)
                return np.asarray(classifier.gate_weights(taken))

            plane = plane_of_gates(points, gates_at, grid_resolution)
            display = cls(points, gates, names, _column_names(X), plane, labels)
        else:
            points, axis_names = principal_components(np.asarray(seen, dtype=np.float64))
            display = cls(points, gates, names, axis_names, None, labels)
        return display.plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw on ``axes``, one per kernel, or on a new figure."""
        if axes is None:
            axes = self._new_axes()
        n_kernels = len(self.kernel_names)
        what = f"Axes for {counted(n_kernels, 'kernel')} are needed, one panel per kernel"
        found = axes_among(axes, n_kernels, what, more=True)
        self.axes_: list[Axes] = found[0]
        self.figure_: Figure = found[1]
        coloured: Any = None
        for index, ax in enumerate(self.axes_):
            coloured = self._panel(ax, index)
        self.figure_.colorbar(coloured, ax=self.axes_, label="kernel weight")
        handles, texts = self.axes_[0].get_legend_handles_labels()
        if handles:
            # The approximate width of a legend entry, in inches.
            entry = 0.67 + 0.085 * max(map(len, texts))
            columns = int(np.clip(self.figure_.get_figwidth() // entry, 1, 6))
            legend = self.figure_.legend(
                handles,
                texts,
                loc="outside upper center",
                ncols=columns,
                frameon=False,
                markerscale=1.8,
            )
            shown: list[Any] = legend.legend_handles
            for handle in shown:
                handle.set_sizes(np.minimum(handle.get_sizes(), LEGEND_SIZE))
        return self

    def _new_axes(self) -> list[Axes]:
        n_panels = len(self.kernel_names)
        columns = 2 if n_panels == 4 else min(n_panels, PANELS_A_ROW)
        rows = -(-n_panels // columns)
        side = min(LARGEST_PANEL, (WIDTH - BESIDE) / columns)
        figure = new_figure(BESIDE + side * columns, 0.9 + (side + 0.1) * rows)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for ax in grid[n_panels:]:
            ax.remove()
        for place, ax in enumerate(grid[:n_panels]):
            # Panels without a panel below show the shared axis.
            ax.tick_params(labelbottom=place + columns >= n_panels)
        figure.supxlabel(self.axis_names[0], fontsize="medium")
        figure.supylabel(self.axis_names[1], fontsize="medium")
        return list(grid[:n_panels])

    def _panel(self, ax: Axes, index: int) -> Any:
        """Draw one kernel's panel; return the artist with its colours."""
        ax.set_title(self.kernel_names[index], fontsize="medium")
        if self.plane is None:
            for rows, marker, name in self._by_class():
                across, up = self.points[rows].T
                drawn = ax.scatter(
                    across,
                    up,
                    c=self.gates[rows, index],
                    s=TEXT_SIZE if is_text(marker) else 22,
                    edgecolors=ink(),
                    linewidths=0.4,
                    marker=marker,
                    label=name,
                    cmap=SCALE,
                    vmin=0,
                    vmax=1,
                )
            return drawn
        mesh = ax.pcolormesh(
            self.plane.horizontal,
            self.plane.vertical,
            self.plane.gates[:, :, index],
            shading="nearest",
            rasterized=True,
            cmap=SCALE,
            vmin=0,
            vmax=1,
        )
        for place, (rows, marker, name) in enumerate(self._by_class()):
            across, up = self.points[rows].T
            ax.scatter(across, up, marker=marker, label=name, **_colours_on_plane(place, marker))
        return mesh

    def _by_class(self) -> list[tuple[Any, str, str]]:
        """Return the rows of each class, its marker, and its name in the legend."""
        if self.labels is None:
            # Names that begin with an underscore are not shown in the legend.
            return [(slice(None), SHAPES[0], "_")]
        classes = np.unique(self.labels)
        names = [str(label) for label in classes]
        rows = [self.labels == label for label in classes]
        return list(zip(rows, class_markers(names), names, strict=True))


def _colours_on_plane(place: int, marker: str) -> dict[str, Any]:
    """Return the style that makes a class's markers visible on any colour."""
    if is_text(marker):
        from matplotlib.patheffects import withStroke

        # An edge would cover the strokes of a letter; a halo is drawn below them.
        halo = withStroke(linewidth=1.6, foreground=ON_DARK)
        return {"s": TEXT_SIZE / 2, "c": ON_LIGHT, "linewidths": 0, "path_effects": [halo]}
    face, edge = (ON_DARK, ON_LIGHT) if place % 2 else (ON_LIGHT, ON_DARK)
    return {"s": 9, "c": face, "edgecolors": edge, "linewidths": 0.4}


def _numeric(X: Any) -> bool:
    return np.asarray(X).dtype.kind in "fiub"


def _column_names(X: Any) -> tuple[str, str]:
    names = X.columns if isinstance(X, pd.DataFrame) else ("first column", "second column")
    first, second = names
    return str(first), str(second)
