"""Kernel weights as bars or, for cluster gating, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
import pandas as pd

from mklkit.errors import IncompatibleError
from mklkit.estimators.base import FittedKernels
from mklkit.estimators.introspection import classifier_in
from mklkit.estimators.regressor import MKLRegressor
from mklkit.plotting.base import Display
from mklkit.plotting.parts import BARS, COLOURS, check_table, draw_cells, ink, paper, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUPED_PROBLEMS = 4
"""Up to this many binary problems are shown with separate bars."""
WRITTEN_CELLS = 200
"""Up to this many cells of a heat map are labelled with their values."""


@attrs.define(eq=False, repr=False, slots=False)
class KernelWeightsDisplay(Display):
    """Kernel weights of a fitted estimator.

    One bar per kernel; for several binary problems or targets bars side by side or, from five on,
    a bar for the mean and one dot for each. For cluster gating, a heat map of Θ with one row
    per cluster and one column per kernel (Mu and Zhou 2011, eq. 16).

    Parameters
    ----------
    weights : pandas.DataFrame
        Tidy: ``problem``, ``cluster`` (if there are any), ``kernel``, ``weight``; as from
        :meth:`mklkit.MKLClassifier.weights_frame`.
    each : str, default="problem"
        The content of the first column: ``"problem"`` or ``"target"``.

    See Also
    --------
    KernelWorthDisplay : What the score loses without each kernel.

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

    weights: pd.DataFrame
    each: str = "problem"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator : MKLClassifier, MKLRegressor, MKLOneClass, MKLTransformer, or one around them
            Fitted, possibly inside a pipeline, a search or a vote.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        KernelWeightsDisplay

        Raises
        ------
        IncompatibleError
            If the estimator has no kernel weights.
        sklearn.exceptions.NotFittedError
            If it is not fitted.
        """
        model = classifier_in(estimator)
        if not isinstance(model, FittedKernels):
            raise IncompatibleError(
                f"{type(model).__name__} has no kernel weights to draw; expected an estimator of"
                " mklkit, or a pipeline or search around one."
            )
        each = "target" if isinstance(model, MKLRegressor) else "problem"
        return cls(model.weights_frame(), each).plot(ax)

    def _check(self) -> None:
        check_table(self.weights, ("problem", "kernel", "weight"), "weights_frame()")

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
        return pd.DataFrame(values, index=labels, columns=columns.tolist())

    def _row_label(self, problem: Any, cluster: Any = None) -> str:
        if cluster is None:
            return str(problem)
        alone = self.weights["problem"].nunique() == 1
        return f"cluster {cluster}" if alone else f"{problem}, cluster {cluster}"

    def _size(self) -> tuple[float, float]:
        n_rows, n_kernels = self._table().shape
        if "cluster" in self.weights:
            return min(2.8 + 0.9 * n_kernels, 16), min(1.6 + 0.45 * n_rows, 16)
        bars = n_rows if n_rows <= GROUPED_PROBLEMS else 1
        return 6.4, min(1.2 + n_kernels * (0.22 + 0.2 * bars), 16)

    def _draw(self, ax: Axes) -> None:
        table = self._table()
        if "cluster" in self.weights:
            few = table.size <= WRITTEN_CELLS
            names = list(table.index), list(table.columns)
            image = draw_cells(ax, table.to_numpy(), (0, 1), *names, written=few)
            self.figure_.colorbar(image, ax=ax, label="kernel weight")
            return
        if 1 < len(table) <= GROUPED_PROBLEMS:
            self._grouped_bars(ax, table)
        else:
            self._mean_bars(ax, table)
        ax.set_yticks(range(table.shape[1]), [short(name) for name in table.columns])
        ax.invert_yaxis()
        ax.set_xlim(0, max(float(table.to_numpy().max()) * 1.12, 1e-12))
        ax.set_xlabel("kernel weight")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)

    def _mean_bars(self, ax: Axes, table: pd.DataFrame) -> None:
        bars = ax.barh(range(table.shape[1]), table.mean(), height=0.7, color=BARS)
        if len(table) == 1:
            ax.bar_label(bars, fmt="%.3f", padding=3)
            return
        dot: dict[str, Any] = {"markersize": 4, "markerfacecolor": paper(), "zorder": 3}
        for (_, column), weight in np.ndenumerate(table.to_numpy()):
            ax.plot(weight, column, "o", markeredgecolor=ink(), **dot)
        ax.set_title(f"mean over {len(table)} {self.each}s, and each (dots)", fontsize="medium")

    def _grouped_bars(self, ax: Axes, table: pd.DataFrame) -> None:
        height = 0.8 / len(table)
        for place, (problem, weights) in enumerate(table.iterrows()):
            centers = np.arange(len(weights)) - 0.4 + (place + 0.5) * height
            color = COLOURS[place]
            ax.barh(centers, weights.to_numpy(), height, label=str(problem), color=color)
        columns = len(table) if sum(map(len, table.index)) < 50 else 2
        self.figure_.legend(
            loc="outside upper center", title=self.each, ncols=columns, frameon=False
        )
