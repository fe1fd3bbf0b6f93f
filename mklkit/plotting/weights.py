"""Kernel weights as bars or, for cluster gating, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mklkit.errors import IncompatibleError
from mklkit.estimators.anatomy import KernelRegressor, WeightedModel, classifier_in
from mklkit.plotting.cells import draw_cells
from mklkit.plotting.parts import (
    BARS,
    COLOURS,
    check_table,
    figure_of,
    ink,
    new_figure,
    paper,
    require_matplotlib,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["KernelWeightsDisplay"]

GROUPED_PROBLEMS = 4
"""Up to this many binary problems are shown with separate bars."""
WRITTEN_CELLS = 200
"""Up to this many cells of a heat map are labelled with their values."""


class KernelWeightsDisplay:
    """Kernel weights of a fitted estimator.

    One bar per kernel; for several binary problems or targets bars side by side or, from five on,
    a bar for the mean and one dot for each. For cluster gating, a heat map of Θ with one row
    per cluster and one column per kernel (paper 001, eq. 16).

    Parameters
    ----------
    weights : pandas.DataFrame
        Tidy: ``problem``, ``cluster`` (where there are any), ``kernel``, ``weight``; as
        :meth:`mklkit.MKLClassifier.weights_frame` gives it.
    each : str, default="problem"
        What the first column has: ``"problem"`` or ``"target"``.

    Attributes
    ----------
    weights, each : as above
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from mklkit.plotting import KernelWeightsDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(["rbf", "linear"], combiner="dimkl3").fit(X, y)
    >>> display = KernelWeightsDisplay.from_estimator(model)  # doctest: +SKIP
    >>> display.figure_.savefig("weights.png")  # doctest: +SKIP
    """

    def __init__(self, weights: pd.DataFrame, each: str = "problem") -> None:
        self.weights = weights
        self.each = each

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator : MKLClassifier, MKLRegressor, MKLOneClass, MKLTransformer, or one around them
            Fitted; around them may be a pipeline, a search or a vote.
        ax : matplotlib Axes, optional
            Where to draw; a new figure when not given.

        Returns
        -------
        KernelWeightsDisplay

        Raises
        ------
        IncompatibleError
            If the estimator has no kernel weights.
        MKLKitError
            If matplotlib is not installed.
        sklearn.exceptions.NotFittedError
            If it is not fitted.
        """
        require_matplotlib()
        classifier = classifier_in(estimator)
        if not isinstance(classifier, WeightedModel):
            raise IncompatibleError(
                f"{type(classifier).__name__} has no kernel weights to draw; a fitted"
                " MKLClassifier, MKLRegressor, MKLOneClass or MKLTransformer is expected, or a"
                " pipeline or search around one."
            )
        each = "target" if isinstance(classifier, KernelRegressor) else "problem"
        return cls(classifier.weights_frame(), each).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Raises
        ------
        DataError
            If ``ax`` is no matplotlib Axes, or the weights are no such table or none.
        """
        check_table(self.weights, ("problem", "kernel", "weight"), "weights_frame()")
        table = self._table()
        if ax is None:
            ax = new_figure(*self._size(table)).add_subplot()
        self.figure_: Figure = figure_of(ax)
        self.ax_: Axes = ax
        if "cluster" in self.weights:
            self._heat_map(table)
        else:
            self._bars(table)
        return self

    def _table(self) -> pd.DataFrame:
        """Return the weights as a matrix: problems or clusters by kernels, in their order."""
        frame = self.weights
        rows = [name for name in ("problem", "cluster") if name in frame]
        first = frame[rows].drop_duplicates()
        n_kernels = len(frame) // len(first)
        # Two kernels may have the same name, so columns are identified by position.
        columns = frame["kernel"].iloc[:n_kernels]
        labels = [self._row_label(*row) for row in first.itertuples(index=False)]
        values = frame["weight"].to_numpy().reshape(len(first), n_kernels)
        return type(frame)(values, index=labels, columns=columns.tolist())

    def _row_label(self, problem: Any, cluster: Any = None) -> str:
        if cluster is None:
            return str(problem)
        alone = self.weights["problem"].nunique() == 1
        return f"cluster {cluster}" if alone else f"{problem}, cluster {cluster}"

    def _size(self, table: pd.DataFrame) -> tuple[float, float]:
        n_rows, n_kernels = table.shape
        if "cluster" in self.weights:
            return min(2.8 + 0.9 * n_kernels, 16), min(1.6 + 0.45 * n_rows, 16)
        bars = n_rows if n_rows <= GROUPED_PROBLEMS else 1
        return 6.4, min(1.2 + n_kernels * (0.22 + 0.2 * bars), 16)

    def _heat_map(self, table: pd.DataFrame) -> None:
        names = table.index.tolist(), table.columns.tolist()
        few = table.size <= WRITTEN_CELLS
        image = draw_cells(self.ax_, table.to_numpy(), (0, 1), *names, written=few)
        self.figure_.colorbar(image, ax=self.ax_, label="kernel weight")

    def _bars(self, table: pd.DataFrame) -> None:
        if 1 < len(table) <= GROUPED_PROBLEMS:
            self._grouped_bars(table)
        else:
            self._mean_bars(table)
        self.ax_.set_yticks(range(table.shape[1]), table.columns)
        self.ax_.invert_yaxis()
        self.ax_.set_xlim(0, max(float(table.to_numpy().max()) * 1.12, 1e-12))
        self.ax_.set_xlabel("kernel weight")
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)

    def _mean_bars(self, table: pd.DataFrame) -> None:
        bars = self.ax_.barh(range(table.shape[1]), table.mean(), height=0.7, color=BARS)
        if len(table) == 1:
            self.ax_.bar_label(bars, fmt="%.3f", padding=3)
            return
        for (_, column), weight in np.ndenumerate(table.to_numpy()):
            self.ax_.plot(
                weight,
                column,
                "o",
                markerfacecolor=paper(),
                markeredgecolor=ink(),
                markersize=4,
                zorder=3,
            )
        self.ax_.set_title(
            f"mean over {len(table)} {self.each}s, and each (dots)", fontsize="medium"
        )

    def _grouped_bars(self, table: pd.DataFrame) -> None:
        height = 0.8 / len(table)
        for place, (problem, weights) in enumerate(table.iterrows()):
            centres = [k - 0.4 + (place + 0.5) * height for k in range(len(weights))]
            colour = COLOURS[place]
            self.ax_.barh(centres, weights.to_numpy(), height, label=str(problem), color=colour)
        columns = len(table) if sum(map(len, table.index)) < 50 else 2
        self.figure_.legend(
            loc="outside upper center", title=self.each, ncols=columns, frameon=False
        )
