"""Rows in the combined kernel, the weights, and how much the kernels agree."""

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
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.target import looks_like_numbers
from mklkit.errors import DataError, IncompatibleError, type_name
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.introspection import FittedSearch, KernelModel
from mklkit.evaluation.alignment import alignment_matrix, combined_gram
from mklkit.plotting.alignment import WRITTEN_KERNELS, AlignmentDisplay
from mklkit.plotting.base import PanelsDisplay
from mklkit.plotting.parts import COLOURS, SCALE, SHAPES, ink, new_figure, width_of
from mklkit.plotting.weights import KernelWeightsDisplay
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@attrs.define(eq=False, repr=False, slots=False)
class ConsensusDisplay(PanelsDisplay):
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

    points: Array
    shares: tuple[float, float]
    weights: Array
    cosines: Array
    kernel_names: Sequence[str]
    labels: NDArray[Any] | None = None

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
            Rows as passed to the estimator, at least 3, for example its training rows.
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
        sklearn.exceptions.NotFittedError
            If it is not fitted.

        Notes
        -----
        One Gram matrix and its two largest eigenpairs, O(n²) per kernel and O(n³) at most: some
        thousands of rows.
        """
        before, model = _with_kernels(estimator)
        rows = X if before is None else before.transform(X)
        labels = None if y is None else np.asarray(y)
        if labels is not None and labels.shape != (len(rows),):
            raise DataError(f"X has {len(rows)} rows but y is of shape {labels.shape}.")
        if len(rows) < 3:
            raise DataError(f"At least 3 rows are needed to draw components; got {len(rows)}.")
        if labels is not None and is_outlier_detector(model) and set(labels) <= {-1, 1}:
            labels = np.where(labels == 1, "inlier", "outlier")
        frame = model.weights_frame()
        names: list[str] = model.kernel_names_
        weights = frame["weight"].to_numpy(float).reshape(-1, len(names)).mean(axis=0)
        gram = combined_gram(model, weights, rows).astype(np.float64)
        components = KernelPCA(2, kernel="precomputed", eigen_solver="dense")
        points = components.fit_transform(gram)
        # Of HKH, H = I − 11ᵀ/n.
        variance = max(float(np.trace(gram) - gram.mean(axis=0).sum()), np.finfo(float).tiny)
        shares = components.eigenvalues_ / variance
        cosines = alignment_matrix(model, rows, centered=True).to_numpy()
        return cls(points, shares, weights, cosines, names, labels).plot(axes)

    def _check(self) -> int:
        return 3

    def _new_axes(self) -> Sequence[Axes]:
        # The matrix of cosines is about as wide as it is high.
        side = min(max(2.4, 0.27 * len(self.kernel_names)), 11.0)
        figure = new_figure(width_of(self.kernel_names) + 1.6 + side + 1.1, 3.1 + side + 0.9)
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
        # The rows are those of the bars beside, with their names.
        cells.set_yticks([])
        if len(self.kernel_names) > WRITTEN_KERNELS:
            cells.set_xticks([])
            cells.set_xlabel("columns in the order of the rows")
        for ax, title in ((bars, "kernel weights"), (cells, "agreement of kernels")):
            ax.set_title(title, fontsize="medium")

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
            names = [str(label) for label in classes]
            looks = zip(classes, names, cycle(SHAPES), cycle(COLOURS), strict=False)
            for label, name, marker, colour in looks:
                points = self.points[self.labels == label]
                ax.scatter(*points.T, color=colour, marker=marker, label=name, **edge)
            many = len(names) > 4
            place: Any = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)} if many else {}
            ax.legend(fontsize="small", handletextpad=0.3, frameon=not many, **place)
        ax.set_title("rows in the combined kernel", fontsize="medium")
        first, second = self.shares
        ax.set_xlabel(f"component 1 ({first:.0%} of variance)")
        ax.set_ylabel(f"component 2 ({second:.0%})")
        ax.spines[["top", "right"]].set_visible(False)


def _with_kernels(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the steps before the fitted step with kernels, and that step."""
    if isinstance(estimator, FittedSearch):
        return _with_kernels(estimator.best_estimator_)
    pipeline = estimator if isinstance(estimator, Pipeline) else Pipeline([("model", estimator)])
    for place, (_, step) in enumerate(pipeline.steps):
        if isinstance(step, FittedKernels):
            check_is_fitted(step)
            if isinstance(step, KernelModel):
                return (pipeline[:place] if place else None), step
    raise IncompatibleError(
        f"{type_name(pipeline[-1])} has no kernels whose consensus could be drawn; an estimator of"
        " mklkit is expected, or a pipeline with one."
    )
