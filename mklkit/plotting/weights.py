"""Kernel weights as bars or, for cluster gating, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mklkit.errors import IncompatibleError
from mklkit.estimators.anatomy import KernelRegressor, WeightedModel, classifier_in
from mklkit.plotting.parts import WEIGHT_COLOURS, new_figure, require_matplotlib

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
    >>> from mklkit import KernelWeightsDisplay, MKLClassifier
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
        """Draw on ``ax``, or on a new figure."""
        table = self._table()
        if ax is None:
            ax = new_figure(*self._size(table)).add_subplot()
        figure = ax.get_figure(root=True)
        assert figure is not None
        self.ax_: Axes = ax
        self.figure_: Figure = figure
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
        image = self.ax_.imshow(table, cmap=WEIGHT_COLOURS, vmin=0, vmax=1, aspect="auto")
        self.ax_.set_xticks(range(table.shape[1]), table.columns)
        if max(map(len, table.columns)) > 8:
            for label in self.ax_.get_xticklabels():
                label.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")
        self.ax_.set_yticks(range(len(table)), table.index)
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)
        # White lines between the cells.
        self.ax_.set_xticks([k + 0.5 for k in range(table.shape[1] - 1)], minor=True)
        self.ax_.set_yticks([k + 0.5 for k in range(len(table) - 1)], minor=True)
        self.ax_.grid(which="minor", color="white", linewidth=2)
        self.ax_.tick_params(which="minor", length=0)
        self.figure_.colorbar(image, ax=self.ax_, label="kernel weight")
        if table.size <= WRITTEN_CELLS:
            for (row, column), weight in _cells(table):
                colour = "white" if weight > 0.55 else "black"
                self.ax_.text(column, row, f"{weight:.2f}", color=colour, ha="center", va="center")

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
        bars = self.ax_.barh(range(table.shape[1]), table.mean(), height=0.7, color="#2c7fb8")
        if len(table) == 1:
            self.ax_.bar_label(bars, fmt="%.3f", padding=3)
            return
        for (_, column), weight in _cells(table):
            self.ax_.plot(weight, column, "o", color="black", alpha=0.35, markersize=4, zorder=3)
        self.ax_.set_title(
            f"mean over {len(table)} {self.each}s, and each (dots)", fontsize="medium"
        )

    def _grouped_bars(self, table: pd.DataFrame) -> None:
        from matplotlib import colormaps

        height = 0.8 / len(table)
        colours = colormaps[WEIGHT_COLOURS]
        for place, (problem, weights) in enumerate(table.iterrows()):
            centres = [k - 0.4 + (place + 0.5) * height for k in range(len(weights))]
            share = 0.4 + 0.5 * place / (len(table) - 1)
            self.ax_.barh(
                centres, weights.to_numpy(), height, label=str(problem), color=colours(share)
            )
        columns = len(table) if sum(map(len, table.index)) < 50 else 2
        self.figure_.legend(
            loc="outside upper center", title=self.each, ncols=columns, frameon=False
        )


def _cells(table: pd.DataFrame) -> list[tuple[tuple[int, int], float]]:
    """Return (row, column) and weight of each cell."""
    return [
        ((row, column), float(weight))
        for row, weights in enumerate(table.to_numpy())
        for column, weight in enumerate(weights)
    ]
