"""Samples in the combined kernel, the weights, and how much the kernels agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mklkit import (
    DataError,
    IncompatibleError,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    MKLTransformer,
    alignment_matrix,
)
from mklkit.plotting import KernelWeightsDisplay
from mklkit.plugin import Array
from mklkit_optimize.alignment_display import AlignmentDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WITH_KERNELS = (MKLClassifier, MKLOneClass, MKLRegressor, MKLTransformer)
SEARCHES = (GridSearchCV, MKLSearchCV, RandomizedSearchCV)
SHAPES = "o^sDvP*X<>pdhH8"
"""The styles of classes, repeated from the sixteenth class on."""
COLOURS = "petroff10"
"""Matplotlib's sequence of ten colours that are distinct for any colour vision."""


@attrs.define(eq=False, repr=False, slots=False)
class ConsensusDisplay:
    """Samples in two kernel principal components, kernel weights, and cosines of the kernels.

    Top: the samples in the first two principal components of the combined kernel Σ w_m K_m; bottom
    left: the weights w; bottom right: the cosines ⟨HK_mH, HK_lH⟩/(‖HK_mH‖‖HK_lH‖) that
    ``consensus`` computes its weights from.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        The samples in the first two components.
    shares : pair of float
        The share of the variance in each of them.
    weights : ndarray of shape (M,)
    cosines : ndarray of shape (M, M)
    kernel_names : sequence of M str
    labels : ndarray of shape (n,), optional
        Classes or clusters, drawn as colours and markers, or numbers (those with fractions, or
        with more than 20 distinct values), drawn on a colour scale.

    Attributes
    ----------
    axes_ : list of three matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit import MKLTransformer
    >>> from mklkit_optimize.consensus_display import ConsensusDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> sources = ["sepals:rbf@0:2", "petals:rbf@2:4"]
    >>> model = MKLTransformer(sources, combiner="consensus").fit(X)
    >>> display = ConsensusDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    >>> display.figure_.savefig("consensus.png")  # doctest: +SKIP
    """

    points: Array
    shares: tuple[float, float]
    weights: Array
    cosines: Array
    kernel_names: Sequence[str]
    labels: NDArray[Any] | None = None
    axes_: list[Axes] = attrs.field(init=False)
    figure_: Figure = attrs.field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, axes: Sequence[Axes] | None = None
    ) -> Self:
        """Draw the consensus of a fitted estimator's kernels on some samples.

        Parameters
        ----------
        estimator : MKLTransformer, MKLOneClass, MKLClassifier, MKLRegressor, or a pipeline with one
            Fitted; its mean weights are used if it has several problems.
        X : array-like or DataFrame of shape (n, d)
            Samples as passed to the estimator, at least 3, for example its training samples.
        y : array-like of shape (n,), optional
            Their classes, clusters that were found, or numbers; 1 and −1, which an
            ``MKLOneClass`` predicts, are shown as inliers and outliers.
        axes : sequence of three matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ConsensusDisplay

        Raises
        ------
        IncompatibleError
            If the estimator has no kernels.
        DataError
            If there are fewer than 3 samples, or ``y`` is not one value per sample.
        ValueError
            If X has other columns than those that the estimator was fitted on.
        sklearn.exceptions.NotFittedError
            If it is not fitted.

        Notes
        -----
        Two Gram matrices at a time, and the two largest eigenpairs of their sum: O(n²) per kernel
        and O(n³) at most, for some thousands of samples.
        """
        before, model = _with_kernels(estimator)
        rows = X if before is None else before.transform(X)
        labels = None if y is None else np.asarray(y)
        if labels is not None and labels.shape != (len(rows),):
            raise DataError(f"X has {len(rows)} samples but y is of shape {labels.shape}.")
        if len(rows) < 3:
            raise DataError(f"At least 3 samples are needed to draw components; got {len(rows)}.")
        if labels is not None and is_outlier_detector(model) and set(labels) <= {-1, 1}:
            labels = np.where(labels == 1, "inlier", "outlier")
        frame = model.weights_frame()
        names: list[str] = model.kernel_names_
        weights = frame["weight"].to_numpy(float).reshape(-1, len(names)).mean(axis=0)
        cosines = alignment_matrix(model, rows, centered=True).to_numpy()
        gram = _combined(model, weights, rows)
        components = KernelPCA(2, kernel="precomputed", eigen_solver="dense")
        points = components.fit_transform(gram)
        # Of HKH, H = I − 11ᵀ/n.
        variance = max(float(np.trace(gram) - gram.mean(axis=0).sum()), np.finfo(float).tiny)
        shares = components.eigenvalues_ / variance
        return cls(points, shares, weights, cosines, names, labels).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw on three axes, or on a new figure; further axes stay empty.

        Raises
        ------
        DataError
            If ``axes`` are not matplotlib Axes, or fewer than three.
        """
        from matplotlib.axes import Axes

        candidates = self._new_axes() if axes is None else axes
        panels: list[Any] = list(np.ravel(np.asarray(candidates, dtype=object)))
        if len(panels) < 3 or not all(isinstance(ax, Axes) for ax in panels):
            raise DataError(
                f"ConsensusDisplay needs 3 axes, as from plt.subplots(1, 3); got {axes}."
            )
        self.axes_ = panels[:3]
        self.figure_ = panels[0].get_figure(root=True)
        self._draw()
        return self

    def _new_axes(self) -> Sequence[Axes]:
        from matplotlib import pyplot

        # The matrix of cosines is about as wide as it is high. Names are cut at 24 characters.
        side = min(max(2.4, 0.27 * len(self.kernel_names)), 11.0)
        names = 0.075 * min(max(map(len, self.kernel_names)), 24)
        size = names + 1.6 + side + 1.1, 3.1 + side + 0.9
        figure = pyplot.figure(figsize=size, layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(3.1, side + 0.9))
        above, below = parts
        return [above.subplots(), *below.subplots(1, 2, width_ratios=(1.6, side))]

    def _draw(self) -> None:
        rows, bars, cells = self.axes_
        self._draw_rows(rows)
        weights = {"problem": "all", "kernel": self.kernel_names, "weight": self.weights}
        KernelWeightsDisplay(pd.DataFrame(weights)).plot(bars)
        names = list(self.kernel_names)
        AlignmentDisplay(pd.DataFrame(self.cosines, names, names)).plot(cells)
        # The rows match the bars beside them, which show the names.
        cells.set_yticks([])
        if not cells.texts:
            cells.set_xticks([])
            cells.set_xlabel("columns in the order of the rows")
        for ax, title in ((bars, "kernel weights"), (cells, "agreement of kernels")):
            ax.set_title(title, fontsize="medium")

    def _draw_rows(self, ax: Axes) -> None:
        from matplotlib import color_sequences, rcParams

        colors = color_sequences[COLOURS]
        edge: dict[str, Any] = {"edgecolors": rcParams["text.color"], "linewidths": 0.35, "s": 24}
        if self.labels is None:
            ax.scatter(*self.points.T, color=colors[0], **edge)
        elif _are_numbers(self.labels):
            across, up = self.points.T
            drawn = ax.scatter(across, up, c=self.labels, cmap="viridis", **edge)
            self.figure_.colorbar(drawn, ax=ax, label="y", location="left", pad=0.02)
        else:
            classes = np.unique(self.labels)
            names = [str(label) for label in classes]
            looks = zip(classes, names, cycle(SHAPES), cycle(colors), strict=False)
            for label, name, marker, color in looks:
                points = self.points[self.labels == label]
                ax.scatter(*points.T, color=color, marker=marker, label=name, **edge)
            many = len(names) > 4
            place: Any = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)} if many else {}
            ax.legend(fontsize="small", handletextpad=0.3, frameon=not many, **place)
        ax.set_title("samples in the combined kernel", fontsize="medium")
        first, second = self.shares
        ax.set_xlabel(f"component 1 ({100 * first:.0f} % of variance)")
        ax.set_ylabel(f"component 2 ({100 * second:.0f} %)")
        ax.spines[["top", "right"]].set_visible(False)


def _combined(model: Any, weights: Array, rows: Any) -> Array:
    """Return the weighted sum of a model's kernels on samples, (n, n)."""
    kernels = zip(model.kernel_names_, model.kernels_, model.kernel_columns_, strict=True)
    total = np.zeros((len(rows), len(rows)))
    for weight, kernel in zip(weights, kernels, strict=True):
        total += weight * MKLTransformer([kernel], combiner="uniform").fit_transform(rows)
    return total


def _are_numbers(labels: NDArray[Any]) -> bool:
    """Return whether labels are numbers rather than classes."""
    if labels.dtype.kind not in "fiu":
        return False
    values = np.unique(labels)
    return len(values) > 20 or bool((values != values.round()).any())


def _with_kernels(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the steps before the fitted step with kernels, and that step."""
    if isinstance(estimator, SEARCHES):
        check_is_fitted(estimator)
        return _with_kernels(estimator.best_estimator_)
    pipeline = estimator if isinstance(estimator, Pipeline) else Pipeline([("model", estimator)])
    for place, (_, step) in enumerate(pipeline.steps):
        if isinstance(step, WITH_KERNELS):
            check_is_fitted(step)
            return (pipeline[:place] if place else None), step
    raise IncompatibleError(
        f"{type(pipeline[-1]).__name__} has no kernels to draw; expected an estimator"
        " of mklkit, or a pipeline with one."
    )
