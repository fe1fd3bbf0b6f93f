"""Points of a search, in groups that are fitted at once, and the table of their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import attrs
import numpy as np
from scipy.stats import rankdata

from mklkit.errors import SpecError
from mklkit.estimators.problem_views import same_key
from mklkit.protocols import Array

__all__ = ["Point", "PointGroup", "best_point", "grouped", "points_of", "results_table"]

Point = dict[str, Any]


@attrs.frozen(eq=False)
class PointGroup:
    """Points that the combiner fits at once, which differ only in parameters that it can vary.

    Attributes
    ----------
    common : dict
        The other parameters, the same for all points.
    points : list of dict
        The values of those that it varies.
    places : list of int
        The positions of the points among all.
    """

    common: Point
    points: list[Point] = attrs.field(factory=list)
    places: list[int] = attrs.field(factory=list)

    def alone(self) -> Iterator[PointGroup]:
        """Yield a group for each of the points."""
        for point, place in zip(self.points, self.places, strict=True):
            yield PointGroup({**self.common, **point}, [{}], [place])


def points_of(param_grid: Any) -> list[tuple[int, Point]]:
    """Return the points of a grid (or of several), each with the number of its grid.

    Raises
    ------
    SpecError
        If it is not a grid, or a parameter has no values.

    Examples
    --------
    >>> points_of([{"learner__C": [1, 2]}, {"combiner": ["dimkl2"]}])
    [(0, {'learner__C': 1}), (0, {'learner__C': 2}), (1, {'combiner': 'dimkl2'})]
    """
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    if not isinstance(grids, Sequence) or not all(isinstance(grid, Mapping) for grid in grids):
        raise SpecError(
            "param_grid must be None, a dict of parameter names and values such as"
            f" {{'learner__alpha': [0.5, 1, 2]}}, or a list of such dicts; got {param_grid!r:.80}."
        )
    if not grids:
        raise SpecError("param_grid has no points: give at least one parameter with its values.")
    for grid in grids:
        for name, values in grid.items():
            if not isinstance(name, str):
                raise SpecError(f"param_grid has names of parameters as keys; got {name!r:.80}.")
            if not _is_list(values):
                raise SpecError(f"{name} needs a sequence of values to try; got {values!r:.80}.")
    return [
        (number, dict(zip(grid, values, strict=True)))
        for number, grid in enumerate(grids)
        for values in product(*grid.values())
    ]


def _is_list(values: Any) -> bool:
    """Return whether this is a non-empty sequence of values."""
    if isinstance(values, np.ndarray):
        return values.ndim > 0 and len(values) > 0
    return isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0


def grouped(points: Sequence[Point], varied: Callable[[Point], frozenset[str]]) -> list[PointGroup]:
    """Return the points in groups; ``varied`` names what a point's combiner varies in one fit."""
    groups: dict[Any, PointGroup] = {}
    for place, point in enumerate(points):
        inner = varied(point)
        common = {name: value for name, value in point.items() if name not in inner}
        key = tuple((name, same_key(value)) for name, value in common.items())
        group = groups.setdefault(key, PointGroup(common))
        group.points.append({name: value for name, value in point.items() if name in inner})
        group.places.append(place)
    return list(groups.values())


def best_point(
    points: Sequence[tuple[int, Point]], space: Mapping[str, Sequence[Any]], means: Array
) -> int:
    """Return the place of the best mean; among equals that of the simplest model.

    That is the one of the first grid, and within it of the parameters' simplest values: a
    component's search space begins with them, and so tells for other numbers whether small or
    large ones are simple. Parameters come in the order of the search space; those that no component
    declares count by their order in the grid.
    """
    names = dict.fromkeys(name for _, point in points for name in point)
    order = [*(name for name in names if name not in space), *(n for n in space if n in names)]
    order.sort(key=lambda name: not name.startswith("kernels__"))
    ranks = {name: _ranks([p.get(name) for _, p in points], space.get(name, ())) for name in order}

    def key(place: int) -> tuple[Any, ...]:
        own = (ranks[name][place] for name in order)
        return (-means[place].round(12), points[place][0], *own)

    return min(np.flatnonzero(~np.isnan(means)).tolist(), key=key)


def _ranks(values: list[Any], declared: Sequence[Any]) -> list[float]:
    """Return a number per value, small for simple models."""
    numbers = [value for value in declared if _is_number(value)]
    if len(numbers) > 1 and all(_is_number(value) for value in values):
        sign = 1.0 if numbers[-1] > numbers[0] else -1.0
        return [sign * float(value) for value in values]
    seen: list[Any] = []
    for value in [*declared, *values]:
        if not any(value is one or _equal(value, one) for one in seen):
            seen.append(value)
    return [
        float(next(i for i, one in enumerate(seen) if value is one or _equal(value, one)))
        for value in values
    ]


def _equal(one: Any, other: Any) -> bool:
    same = one == other
    return bool(same) if isinstance(same, (bool, np.bool_)) else False


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def results_table(params: list[Point], scores: Array, n_iter: Array) -> dict[str, Any]:
    """Return ``cv_results_`` in the format of scikit-learn's searches, with ``mean_n_iter``.

    Parameters
    ----------
    params : list of dict
        One per point.
    scores : ndarray of shape (folds, points)
        NaN for a point that failed in a fold.
    n_iter : ndarray of shape (points,)
        NaN where nothing is iterated; where that is everywhere, there is no ``mean_n_iter``.
    """
    means = scores.mean(axis=0)
    names = dict.fromkeys(name for point in params for name in point)
    table = {
        "params": params,
        **{f"param_{name}": _column([point.get(name) for point in params]) for name in names},
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": _places(means),
    }
    return table if np.isnan(n_iter).all() else {**table, "mean_n_iter": n_iter}


def _places(means: Array) -> Any:
    ordered = np.where(np.isnan(means), np.inf, -means.round(12))
    return rankdata(ordered, method="min").astype(int)


def _column(values: list[Any]) -> Any:
    if all(_is_number(value) for value in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
