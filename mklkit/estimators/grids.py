"""The points of a parameter grid, and the table of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import attrs
import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from mklkit.errors import SpecError
from mklkit.protocols import Array

__all__ = ["PointGroup", "best_point", "grouped_points", "results_table"]

Point = dict[str, Any]


@attrs.frozen(eq=False)
class PointGroup:
    """Points that the combiner fits at once, which differ only in its search space.

    Attributes
    ----------
    common : dict
        The other parameters, the same for all points.
    points : list of dict
        The values of the search space's parameters.
    """

    common: Point
    points: list[Point]

    @property
    def params(self) -> list[Point]:
        """All parameters of each point."""
        return [{**self.common, **point} for point in self.points]


def grouped_points(
    param_grid: Any, space: Mapping[str, Sequence[Any]], estimator: Any
) -> list[PointGroup]:
    """Return the points of a grid (or of several), in groups that the combiner fits at once.

    Parameters
    ----------
    param_grid : dict of sequences, list of these, or None
        None stands for the whole search space.
    space : mapping
        The parameters that the combiner varies in one fit.
    estimator : estimator
        Each value is tried on a copy of it, so that a wrong value is refused before anything runs.

    Raises
    ------
    SpecError
        If a parameter has no values, is unknown, or refuses a value.
    """
    grids = [space] if param_grid is None else param_grid
    grids = [grids] if isinstance(grids, Mapping) else grids
    if not isinstance(grids, Sequence) or not all(isinstance(grid, Mapping) for grid in grids):
        raise SpecError(
            "param_grid must be None, a dict of parameter names and values such as"
            f" {{'learner__alpha': [0.5, 1, 2]}}, or a list of such dicts; got {param_grid!r:.80}."
        )
    groups = []
    for grid in grids:
        for name, values in grid.items():
            if not _is_list(values):
                raise SpecError(f"{name} needs a sequence of values to try; got {values!r:.80}.")
            for value in values:
                clone(estimator).set_params(**{name: value})
        outer = {name: values for name, values in grid.items() if name not in space}
        inner = {name: values for name, values in grid.items() if name in space}
        groups += [PointGroup(common, _points(inner)) for common in _points(outer)]
    if not groups:
        raise SpecError("param_grid has no points: give at least one parameter with its values.")
    return groups


def _is_list(values: Any) -> bool:
    """Return whether this is a non-empty sequence of values."""
    if isinstance(values, np.ndarray):
        return values.ndim > 0 and len(values) > 0
    return isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0


def _points(grid: Mapping[str, Sequence[Any]]) -> list[Point]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def best_point(groups: Sequence[PointGroup], space: Sequence[str], means: Array) -> int:
    """Return the best point; among equals the one of the first group, then of largest values."""
    ranked = [
        (-number, *(point[name] for name in reversed(space) if name in point))
        for number, group in enumerate(groups)
        for point in group.points
    ]
    return max(range(len(ranked)), key=lambda index: (means[index].round(12), *ranked[index]))


def results_table(params: list[Point], scores: Array, n_iter: Array) -> dict[str, Any]:
    """Return ``cv_results_`` in the format of scikit-learn's searches, with ``mean_n_iter``.

    Parameters
    ----------
    params : list of dict
        One per point.
    scores : ndarray of shape (folds, points)
    n_iter : ndarray of shape (points,)
    """
    means = scores.mean(axis=0)
    names = dict.fromkeys(name for point in params for name in point)
    return {
        "params": params,
        **{f"param_{name}": _column([point.get(name) for point in params]) for name in names},
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rankdata(-means.round(12), method="min").astype(int),
        "mean_n_iter": n_iter,
    }


def _column(values: list[Any]) -> Any:
    if all(isinstance(value, (int, float, np.number)) for value in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
