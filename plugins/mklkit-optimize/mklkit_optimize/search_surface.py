"""The scores of a search over two of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import attrs
import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from mklkit import DataError, IncompatibleError, MKLSearchCV
from mklkit.plugin import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RINGS = (("#001730", 4.5), ("#fffae0", 2))
"""Colours and widths of two rings, one of which is visible on any cell and page colour."""
LONGEST_NAME = 24
MOST_LABELS = 12
"""The most values of a parameter to write at its axis; of more, every second, third …"""


@runtime_checkable
class SearchResults(Protocol):
    """A fitted search over parameters, with the scores of all points."""

    cv_results_: dict[str, Any]
    best_index_: int


@attrs.define(eq=False, repr=False, slots=False)
class SearchSurfaceDisplay:
    """Mean scores of a search over a grid of two parameters, with a ring around the best point.

    Parameters
    ----------
    x_values, y_values : sequence
        The values of the two parameters, in the order of the axes.
    scores : ndarray of shape (n_y, n_x)
        NaN for missing ones.
    x_name, y_name : str
    best : pair of int, optional
        The place of the best point among the values, x first.
    score_name : str, default="mean score of the folds"

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit import MKLClassifier, MKLSearchCV
    >>> from mklkit_optimize.search_surface import SearchSurfaceDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"combiner__lam": [0.1, 1, 10], "learner__alpha": [0.1, 1, 10]}
    >>> model = MKLClassifier(["linear", "rbf"], combiner="ifsl", learner="mhks")
    >>> search = MKLSearchCV(model, grid, cv=3, random_state=0).fit(X, y)
    >>> display = SearchSurfaceDisplay.from_estimator(
    ...     search, "combiner__lam", "learner__alpha"
    ... )  # doctest: +SKIP
    >>> display.figure_.savefig("surface.png")  # doctest: +SKIP
    """

    x_values: Sequence[Any]
    y_values: Sequence[Any]
    scores: Array = attrs.field(converter=np.asarray)
    x_name: str
    y_name: str
    best: tuple[int, int] | None = None
    score_name: str = "mean score of the folds"
    ax_: Axes = attrs.field(init=False)
    figure_: Figure = attrs.field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: str,
        y: str,
        *,
        score_name: str = "mean score of the folds",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scores of a fitted search.

        Parameters
        ----------
        estimator : MKLSearchCV, or GridSearchCV or another search of scikit-learn
            Fitted.
        x, y : str
            Two of its varied parameters, as named in ``param_grid``. Of points that differ only in
            others, the best counts.
        score_name : str, default="mean score of the folds"
            The label of the colour bar.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SearchSurfaceDisplay

        Raises
        ------
        IncompatibleError
            If the estimator is not a search.
        DataError
            If the search has not varied a parameter of this name.
        sklearn.exceptions.NotFittedError
            If it is not fitted.
        """
        if isinstance(estimator, MetaEstimatorMixin | MKLSearchCV):
            check_is_fitted(estimator)
        if not isinstance(estimator, SearchResults):
            raise IncompatibleError(
                f"{type(estimator).__name__} has no scores of a search to draw; expected a fitted"
                " MKLSearchCV or GridSearchCV."
            )
        results, best = estimator.cv_results_, estimator.best_index_
        points = results["params"]
        x_values, y_values = _values(points, x), _values(points, y)

        def place(point: dict[str, Any]) -> tuple[int, int] | None:
            known = x in point and y in point
            return (x_values.index(point[x]), y_values.index(point[y])) if known else None

        scores = np.full((len(y_values), len(x_values)), np.nan)
        for point, mean in zip(points, results["mean_test_score"], strict=True):
            if (cell := place(point)) is not None:
                scores[cell[1], cell[0]] = np.fmax(scores[cell[1], cell[0]], mean)
        return cls(x_values, y_values, scores, x, y, place(points[best]), score_name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Raises
        ------
        DataError
            If ``ax`` is not a matplotlib Axes, or there is not one score for each pair of values.
        """
        from matplotlib import pyplot
        from matplotlib.axes import Axes

        shape = len(self.y_values), len(self.x_values)
        if self.scores.shape != shape or not self.scores.size:
            raise DataError(
                f"Expected scores of shape (n_y, n_x) = {shape}, for one or more values of each"
                f" parameter; got shape {self.scores.shape}."
            )

        if ax is None:
            ax = pyplot.figure(figsize=(6.0, 4.6), layout="constrained").add_subplot()
        if not isinstance(ax, Axes):
            raise DataError(f"Expected a matplotlib Axes, as from plt.subplots(); got {ax}.")
        figure: Any = ax.get_figure(root=True)
        self.ax_, self.figure_ = ax, figure
        self._draw(ax)
        return self

    def _draw(self, ax: Axes) -> None:
        # Cells of equal size for all values, since most grids are geometric.
        mesh = ax.pcolormesh(self.scores, cmap="viridis", rasterized=True)
        self.figure_.colorbar(mesh, ax=ax, label=self.score_name)
        for axis, values in ((ax.xaxis, self.x_values), (ax.yaxis, self.y_values)):
            step = -(-len(values) // MOST_LABELS)
            places = range(0, len(values), step)
            axis.set_ticks([place + 0.5 for place in places], _written(values)[::step])
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        if self.best is not None:
            center = [place + 0.5 for place in self.best]
            ring: dict[str, Any] = {"markersize": 14, "markerfacecolor": "none"}
            for color, width in RINGS:
                ax.plot(*center, "o", markeredgecolor=color, markeredgewidth=width, **ring)


def _values(points: Sequence[dict[str, Any]], name: str) -> list[Any]:
    """Return the values of a parameter, numbers by size and others in the order of the search."""
    values: list[Any] = []
    for point in points:
        if name in point and point[name] not in values:
            values.append(point[name])
    if not values:
        known = sorted({key for point in points for key in point})
        raise DataError(f"The search has not varied {name!r}, but {', '.join(known)}.")
    return sorted(values) if all(map(_is_number, values)) else values


def _written(values: Sequence[Any]) -> list[str]:
    """Return the values as text: as powers if all are powers of 2 or of 10."""
    if len(values) > 1 and all(_is_number(value) and value > 0 for value in values):
        for base in (2, 10):
            powers = np.log(np.asarray(values, dtype=float)) / np.log(base)
            if np.allclose(powers, np.rint(powers), atol=1e-9):
                return [f"${base}^{{{power:.0f}}}$" for power in powers]
    return [f"{value:.3g}" if _is_number(value) else str(value)[:LONGEST_NAME] for value in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
