"""The picture of paper 001, Figure 2: stars, clusters, and where LocalizedMKL uses which kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mklkit.estimators.classifier import MKLClassifier
from mklkit.plotting.parts import new_figure
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RegionsDisplay"]

MARGIN = 0.5
RESOLUTION = 200
COLOURS = "Set2"


class RegionsDisplay:
    """Rows by class, rows by cluster, and the regions of a gated model, each in a panel.

    Parameters
    ----------
    rows : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        0 and 1.
    clusters : ndarray of shape (n,)
        Numbers from zero on.
    model : MKLClassifier
        Fitted, with gates: a region is where one kernel has the largest weight. Lines are its
        decision boundary.

    Attributes
    ----------
    rows, labels, clusters, model : as above
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit.datasets import make_four_stars
    >>> X, y, groups = make_four_stars(80, random_state=0)
    >>> kernels = ["rbf(gamma=100)", "rbf(gamma=1)"]
    >>> model = MKLClassifier(kernels, combiner="cluster-gating", random_state=0).fit(X, y)
    >>> RegionsDisplay(X, y, groups, model).plot().figure_  # doctest: +SKIP
    """

    def __init__(self, rows: Array, labels: Any, clusters: Any, model: MKLClassifier) -> None:
        self.rows, self.labels, self.clusters, self.model = rows, labels, clusters, model

    def plot(self) -> Self:
        """Draw on a new figure."""
        from matplotlib import colormaps

        self.figure_: Figure = new_figure(11, 4)
        classes, clusters, regions = self.figure_.subplots(1, 3, sharex=True, sharey=True)
        names = self.model.kernel_names_
        palette = colormaps[COLOURS].resampled(max(len(names), len(np.unique(self.clusters))))
        classes.scatter(*self.rows.T, c=self.labels, s=6, cmap="coolwarm")
        classes.set_title("classes")
        clusters.scatter(*self.rows.T, c=self.clusters, s=6, cmap=palette)
        clusters.set_title("clusters")
        low, high = self.rows.min(axis=0) - MARGIN, self.rows.max(axis=0) + MARGIN
        across, up = np.linspace(low, high, RESOLUTION, axis=1)
        plane = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        shape = RESOLUTION, RESOLUTION
        strongest = self.model.gate_weights(plane).argmax(axis=1).reshape(shape)
        coloured = regions.pcolormesh(
            across, up, strongest, cmap=palette, vmin=-0.5, vmax=len(names) - 0.5, rasterized=True
        )
        outputs = np.asarray(self.model.decision_function(plane)).reshape(shape)
        regions.contour(across, up, outputs, levels=[0], colors="black", linewidths=0.8)
        regions.scatter(*self.rows.T, c=self.labels, s=3, cmap="coolwarm")
        regions.set_title("LocalizedMKL: strongest kernel")
        bar = self.figure_.colorbar(coloured, ax=regions, ticks=range(len(names)))
        bar.set_ticklabels(names)
        return self
