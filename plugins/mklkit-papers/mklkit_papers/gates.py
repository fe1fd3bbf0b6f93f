"""Plots of gates, one panel per kernel (Mu and Zhou 2011, Figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from mklkit.display.numbers import percentage
from mklkit.errors import DataError, IncompatibleError
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.introspection import split
from mklkit.plotting.base import PanelsDisplay
from mklkit.plotting.parts import ON_DARK, ON_LIGHT, SCALE, SHAPES, ink, new_figure
from mklkit.protocols import Array
from mklkit.protocols.component import check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.06
"""The extent of the plane beyond the points, as a share of their range."""
PANELS_A_ROW = 3
WIDTH, BESIDE, LARGEST_PANEL = 7.0, 1.2, 2.9
"""Widths in inches: the widest figure, the space beside the panels, and the largest panel."""


@attrs.frozen(eq=False)
class Plane:
    """Gates on a grid of the plane: coordinates (G,) per axis, weights (G, G, M), y by x."""

    horizontal: Array
    vertical: Array
    gates: Array


@attrs.define(eq=False, repr=False, slots=False)
class GatesDisplay(PanelsDisplay):
    """Each sample's weight on each kernel for gating combiners, one panel per kernel.

    For samples of two columns the plane is coloured by the gate, with the samples on top (Mu and
    Zhou 2011, Figure 3); wider samples are shown in their first two principal components, coloured
    by their own gate.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        The positions of the samples in the plot.
    gates : ndarray of shape (n, M)
        Their weights.
    kernel_names : sequence of M str
    axis_names : pair of str
    plane : Plane, optional
        The gates between the samples.
    labels : ndarray of shape (n,), optional
        Classes, drawn as markers of 15 shapes.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from mklkit_papers.gates import GatesDisplay
    >>> from mklkit_papers.stars import make_four_stars
    >>> X, y, _ = make_four_stars(400, random_state=0)
    >>> kernels = ["s0.01:rbf(gamma=100)", "s1:rbf(gamma=1)"]
    >>> model = MKLClassifier(kernels, combiner="cluster-gating", random_state=0).fit(X, y)
    >>> GatesDisplay.from_estimator(model, X, y).figure_.savefig("gates.png")  # doctest: +SKIP
    """

    points: Array
    gates: Array
    kernel_names: Sequence[str]
    axis_names: tuple[str, str]
    plane: Plane | None = None
    labels: NDArray[Any] | None = None

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
        """Draw the gates of a fitted classifier at some samples.

        Parameters
        ----------
        estimator : MKLClassifier, or a pipeline or search around it
            Fitted, with a gating combiner such as ``cluster-gating``.
        X : array-like or DataFrame of shape (n, d)
            Samples as passed to the estimator, for example its training samples.
        y : array-like of shape (n,), optional
            Their classes, shown as markers.
        grid_resolution : int, default=120
            The number of grid points per axis, 2 or more, for two columns.
        axes : sequence of M matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        GatesDisplay

        Raises
        ------
        IncompatibleError
            If the kernel weights are the same for all samples, or the estimator has none.
        DataError
            If there is only one column, or ``y`` and ``X`` differ in length.
        SpecError
            If ``grid_resolution`` is not a whole number, 2 or above.
        """
        check_whole("grid_resolution", grid_resolution, 2)
        before, model = split(estimator)
        if not isinstance(model, KernelEstimator):
            raise IncompatibleError(
                f"{type(model).__name__} has no gates to draw; expected a fitted MKLClassifier"
                " with a gating combiner."
            )

        def gates_at(table: Any) -> Array:
            rows = table if before is None else before.transform(table)
            return np.asarray(model.gate_weights(rows), dtype=np.float64)

        gates = gates_at(X)
        plane = None
        labels = None if y is None else np.asarray(y)
        if labels is not None and len(labels) != len(gates):
            raise DataError(f"X has {len(gates)} samples but y has {len(labels)} labels.")
        if np.shape(X)[1] == 2 and np.asarray(X).dtype.kind in "fiub":
            points: Array = np.asarray(X, dtype=np.float64)
            columns = list(X.columns) if isinstance(X, pd.DataFrame) else None
            plane = _plane_of_gates(points, columns, gates_at, grid_resolution)
            first, second = map(str, columns or ("first column", "second column"))
        else:
            rows = np.asarray(X if before is None else before.transform(X), dtype=np.float64)
            if min(rows.shape) < 2:
                raise DataError(
                    "Drawing gates needs at least two samples and two columns; got"
                    f" {rows.shape[0]} x {rows.shape[1]}."
                )
            components = PCA(n_components=2, svd_solver="full")
            points = components.fit(rows).transform(rows)
            shares = components.explained_variance_ratio_
            first, second = (
                f"principal component {place} ({percentage(share, 0)})"
                for place, share in enumerate(shares, 1)
            )
        return cls(points, gates, model.kernel_names_, (first, second), plane, labels).plot(axes)

    def _check(self) -> int:
        return len(self.kernel_names)

    def _draw(self) -> None:
        panels = [self._panel(ax, index) for index, ax in enumerate(self.axes_)]
        self.figure_.colorbar(panels[-1], ax=self.axes_, label="kernel weight")
        handles, texts = self.axes_[0].get_legend_handles_labels()
        if handles:
            # The approximate width of a legend entry, in inches.
            entry = 0.67 + 0.085 * max(map(len, texts))
            columns = int(np.clip(self.figure_.get_figwidth() // entry, 1, 6))
            place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns}
            self.figure_.legend(handles, texts, frameon=False, markerscale=1.5, **place)

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
        scale: dict[str, Any] = {"cmap": SCALE, "vmin": 0, "vmax": 1}
        drawn: Any = None
        if self.plane is not None:
            gates = self.plane.gates[:, :, index]
            places = self.plane.horizontal, self.plane.vertical
            drawn = ax.pcolormesh(*places, gates, shading="nearest", rasterized=True, **scale)
        for place, (rows, marker, name) in enumerate(self._by_class()):
            across, up = self.points[rows].T
            look: dict[str, Any] = {"marker": marker, "label": name, "linewidths": 0.4}
            if self.plane is None:
                colors = self.gates[rows, index]
                drawn = ax.scatter(across, up, 22, colors, edgecolors=ink(), **look, **scale)
            else:
                # Dark and light in turn, each with an edge of the other, show on any colour.
                face, edge = (ON_DARK, ON_LIGHT) if place % 2 else (ON_LIGHT, ON_DARK)
                ax.scatter(across, up, 9, face, edgecolors=edge, **look)
        return drawn

    def _by_class(self) -> list[tuple[Any, str, str]]:
        """Return the samples of each class, its marker, and its name in the legend."""
        if self.labels is None:
            # Names that begin with an underscore are not shown in the legend.
            return [(slice(None), SHAPES[0], "_")]
        classes = zip(np.unique(self.labels), cycle(SHAPES), strict=False)
        return [(self.labels == label, marker, str(label)) for label, marker in classes]


def _plane_of_gates(
    points: Array, columns: list[str] | None, gates_at: Callable[[Any], Array], resolution: int
) -> Plane:
    """Return the gates on a grid a little wider than the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = MARGIN * np.where(high > low, high - low, 1)
    horizontal, vertical = np.linspace(low - margin, high + margin, resolution, axis=1)
    rows = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    gates = gates_at(rows if columns is None else pd.DataFrame(rows, columns=columns))
    return Plane(horizontal, vertical, gates.reshape(resolution, resolution, -1))
