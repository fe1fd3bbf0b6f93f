"""Rows in the combined kernel, the weights, and how much the kernels agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import scipy.linalg
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.target import looks_like_numbers
from mklkit.errors import DataError, IncompatibleError
from mklkit.estimators.anatomy import FittedSearch, KernelModel, WeightedModel
from mklkit.evaluation.alignment import alignment_matrix, combined_gram
from mklkit.numerics.centring import centred_gram
from mklkit.plotting.cells import draw_cells, short
from mklkit.plotting.class_markers import class_markers
from mklkit.plotting.parts import (
    BARS,
    COLOURS,
    SCALE,
    axes_among,
    ink,
    new_figure,
    require_matplotlib,
)
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ConsensusDisplay"]

WRITTEN_KERNELS = 8
"""Names are below the columns, and cosines in the cells, of up to so many kernels."""
LARGEST_MATRIX = 11.0


class ConsensusDisplay:
    """Rows in two kernel principal components, kernel weights, and cosines of the kernels.

    Above the rows in the first two principal components of the combined kernel Σ w_m K_m; below
    left the weights w; below right the cosines ⟨HK_mH, HK_lH⟩/(‖HK_mH‖‖HK_lH‖), from which
    ``consensus`` has its weights.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        The rows in the first two components.
    shares : pair of float
        The share of the variance in each of them.
    weights : ndarray of shape (M,)
    cosines : ndarray of shape (M, M)
    kernel_names : sequence of M str
    labels : ndarray of shape (n,), optional
        Classes or clusters, drawn as colours and markers, or numbers, drawn as a scale of colours:
        those with fractions, or with more than 20 different values on many rows.

    Attributes
    ----------
    points, shares, weights, cosines, kernel_names, labels : as above
    axes_ : list of three matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit import MKLTransformer
    >>> from mklkit.plotting import ConsensusDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLTransformer(["sepals:rbf@0:2", "petals:rbf@2:4"]).fit(X)
    >>> display = ConsensusDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    >>> display.figure_.savefig("consensus.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        points: Array,
        shares: tuple[float, float],
        weights: Array,
        cosines: Array,
        kernel_names: Sequence[str],
        labels: NDArray[Any] | None = None,
    ) -> None:
        self.points = points
        self.shares = shares
        self.weights = weights
        self.cosines = cosines
        self.kernel_names = list(kernel_names)
        self.labels = labels

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, axes: Sequence[Axes] | None = None
    ) -> Self:
        """Draw the consensus of a fitted estimator's kernels on some rows.

        Parameters
        ----------
        estimator : MKLTransformer, MKLOneClass, MKLClassifier, MKLRegressor, or a pipeline with one
            Fitted; the mean of its weights where it has several problems.
        X : array-like or DataFrame of shape (n, d)
            Rows as passed to the estimator, at least 3, for example its training rows. Kernels
            with a rule for their width are fitted to them.
        y : array-like of shape (n,), optional
            Their classes, clusters that were found, or numbers; 1 and −1, which an
            ``MKLOneClass`` predicts, are shown as inliers and outliers.
        axes : sequence of three matplotlib Axes, optional
            Where to draw; a new figure when not given.

        Returns
        -------
        ConsensusDisplay

        Raises
        ------
        IncompatibleError
            If the estimator has no kernels.
        DataError
            If there are fewer than 3 rows, or ``y`` is not one value per row.
        ValueError
            If X has other columns than those that the estimator was fitted on.
        MKLKitError
            If matplotlib is not installed.
        sklearn.exceptions.NotFittedError
            If it is not fitted.

        Notes
        -----
        One Gram matrix and its two largest eigenpairs, O(n²) per kernel and O(n³) at most: some
        thousands of rows.
        """
        require_matplotlib()
        before, model = _with_kernels(estimator)
        check_is_fitted(model)
        seen = X if before is None else before.transform(X)
        labels = None if y is None else np.asarray(y)
        if labels is not None and len(labels) != len(seen):
            raise DataError(f"X has {len(seen)} rows but y has {len(labels)} labels.")
        if labels is not None and labels.ndim != 1:
            raise DataError(
                f"Rows are coloured by one value each, and y is of shape {labels.shape}: give one"
                " of its columns."
            )
        if len(seen) < 3:
            raise DataError(f"At least 3 rows are needed to draw components; got {len(seen)}.")
        if labels is not None and is_outlier_detector(model) and set(labels) <= {-1, 1}:
            labels = np.where(labels == 1, "inlier", "outlier")
        frame = model.weights_frame()
        names: list[str] = model.kernel_names_
        weights = frame["weight"].to_numpy(float).reshape(-1, len(names)).mean(axis=0)
        points, shares = _components(combined_gram(model, weights, seen))
        cosines = alignment_matrix(model, seen, centered=True).to_numpy()
        return cls(points, shares, weights, cosines, names, labels).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw on three axes, those of rows, weights and cosines, or on a new figure.

        Raises
        ------
        DataError
            If ``axes`` are not three matplotlib Axes.
        """
        if axes is None:
            axes = self._new_axes()
        found = axes_among(axes, 3, "Three axes are needed, for rows, weights and cosines")
        self.axes_: list[Axes] = found[0]
        self.figure_: Figure = found[1]
        self._draw_rows(self.axes_[0])
        self._draw_weights(self.axes_[1])
        self._draw_cosines(self.axes_[2])
        return self

    def _new_axes(self) -> list[Axes]:
        # The matrix of cosines is about as wide as it is high.
        side = min(max(2.4, 0.27 * len(self.kernel_names)), LARGEST_MATRIX)
        names = 0.075 * max(len(short(name)) for name in self.kernel_names)
        figure = new_figure(names + 1.6 + side + 1.1, 3.1 + side + 0.9)
        parts: Any = figure.subfigures(2, 1, height_ratios=(3.1, side + 0.9))
        above, below = parts
        widths = {"width_ratios": (1.6, side)}
        return [above.subplots(), *below.subplots(1, 2, gridspec_kw=widths)]

    def _draw_rows(self, ax: Axes) -> None:
        edge: dict[str, Any] = {"edgecolors": ink(), "linewidths": 0.35, "s": 24}
        if self.labels is None:
            ax.scatter(*self.points.T, color=COLOURS[0], **edge)
        elif looks_like_numbers(pd.Series(self.labels)):
            across, up = self.points.T
            drawn = ax.scatter(across, up, c=self.labels, cmap=SCALE, **edge)
            self.figure_.colorbar(drawn, ax=ax, label="y", location="left", pad=0.02)
        else:
            classes = np.unique(self.labels)
            names = [str(one) for one in classes]
            markers = class_markers(names)
            for place, (one, name, marker) in enumerate(zip(classes, names, markers, strict=True)):
                colour = COLOURS[place % len(COLOURS)]
                own = self.points[self.labels == one]
                ax.scatter(*own.T, color=colour, marker=marker, label=name, **edge)
            beside = len(names) > 4
            ax.legend(
                loc="upper left" if beside else "best",
                bbox_to_anchor=(1.0, 1.02) if beside else None,
                frameon=not beside,
                fontsize="small",
                handletextpad=0.3,
            )
        ax.set_title("rows in the combined kernel", fontsize="medium")
        first, second = self.shares
        ax.set_xlabel(f"component 1 ({first:.0%} of variance)")
        ax.set_ylabel(f"component 2 ({second:.0%})")
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_weights(self, ax: Axes) -> None:
        places = range(len(self.weights))
        bars = ax.barh(places, self.weights, height=0.7, color=BARS)
        ax.bar_label(bars, fmt="%.2f", padding=3)
        ax.set_yticks(places, [short(name) for name in self.kernel_names])
        ax.set_ylim(len(self.weights) - 0.5, -0.5)
        ax.set_xlim(0, max(float(self.weights.max()) * 1.25, 1e-12))
        ax.set_title("kernel weights", fontsize="medium")
        ax.set_xlabel("weight")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)

    def _draw_cosines(self, ax: Axes) -> None:
        low = min(0.0, float(self.cosines.min()))
        few = len(self.weights) <= WRITTEN_KERNELS
        # The rows are those of the bars beside, with their names.
        names = self.kernel_names if few else []
        image = draw_cells(ax, self.cosines, (low, 1), [], names, written=few)
        if not few:
            ax.set_xlabel("columns in the order of the rows")
        ax.set_title("agreement of kernels", fontsize="medium")
        self.figure_.colorbar(image, ax=ax, label="cosine of centred kernels")


def _with_kernels(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the steps before the step with kernels, and that step."""
    if isinstance(estimator, FittedSearch):
        return _with_kernels(estimator.best_estimator_)
    steps = [one for _, one in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    for place, step in enumerate(steps):
        if isinstance(step, KernelModel) and isinstance(step, WeightedModel):
            return (estimator[:place] if place else None), step
    for step in steps:
        if isinstance(step, WeightedModel):
            check_is_fitted(step)
    raise IncompatibleError(
        f"{type(steps[-1]).__name__} has no kernels whose consensus could be drawn; a fitted"
        " MKLTransformer, MKLOneClass, MKLClassifier or MKLRegressor is expected, or a pipeline"
        " with one."
    )


def _components(gram: Array) -> tuple[Array, tuple[float, float]]:
    """Return the rows in the first two kernel principal components (N, 2), and their shares."""
    centred = centred_gram(gram.astype(np.float64))
    n_rows = len(centred)
    values, vectors = scipy.linalg.eigh(centred, subset_by_index=(n_rows - 2, n_rows - 1))
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    # An eigenvector's sign is arbitrary: its largest entry is positive here.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    first, second = values / max(float(np.trace(centred)), np.finfo(float).tiny)
    return vectors * signs * np.sqrt(values), (float(first), float(second))
