"""The points of a search: those of a grid, groups of them that are fitted at once, and the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import attrs
import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.model_selection import ParameterGrid

from mklkit.errors import SpecError, plain_message
from mklkit.estimators.plan import same_key
from mklkit.protocols import Array

Point = dict[str, Any]


@attrs.frozen(eq=False)
class PointGroup:
    """Points that the combiner fits at once: they differ only in parameters that it can vary.

    ``points`` are the values of those, ``places`` their positions among all points, and ``common``
    are the other parameters.
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

    >>> points_of([{"learner__C": [1, 2]}, {"combiner": ["dimkl2"]}])
    [(0, {'learner__C': 1}), (0, {'learner__C': 2}), (1, {'combiner': 'dimkl2'})]
    """
    try:
        grids = list(ParameterGrid(param_grid).param_grid)
    except (TypeError, ValueError) as error:
        raise SpecError(f"param_grid: {plain_message(error)}") from error
    names = [name for grid in grids for name in grid]
    if not grids or not all(isinstance(name, str) for name in names):
        raise SpecError(
            "param_grid maps names of parameters to sequences of values to try, such as"
            f" {{'learner__alpha': [0.5, 1, 2]}}; got {param_grid!r:.80}."
        )
    return [
        (number, dict(zip(grid, values, strict=True)))
        for number, grid in enumerate(grids)
        for values in product(*grid.values())
    ]


def grouped(points: Sequence[Point], varied: Callable[[Point], frozenset[str]]) -> list[PointGroup]:
    """Return the points in groups; ``varied`` names the parameters that one fit can vary."""
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
    """Return the place of the best mean; among equals, that of the simplest model.

    That is the one of the first grid, and within it the one with the simplest values: a
    component's search space begins with these, and so tells whether small or large numbers are
    simple. Parameters come in the order of the search space; those that no component declares
    come in the order of the grid.
    """
    names = dict.fromkeys(name for _, point in points for name in point)
    order = [*(name for name in names if name not in space), *(n for n in space if n in names)]
    order.sort(key=lambda name: not name.startswith("kernels__"))
    ranks = {name: _ranks([p.get(name) for _, p in points], space.get(name, ())) for name in order}

    def key(place: int) -> tuple[Any, ...]:
        return -means[place].round(12), points[place][0], *(ranks[name][place] for name in order)

    return min(np.flatnonzero(~np.isnan(means)).tolist(), key=key)


def _ranks(values: list[Any], declared: Sequence[Any]) -> list[float]:
    """Return a number per value, small for simple models."""
    numbers = [value for value in declared if _is_number(value)]
    if len(numbers) > 1 and all(_is_number(value) for value in values):
        sign = 1.0 if numbers[-1] > numbers[0] else -1.0
        return [sign * float(value) for value in values]
    every = [*declared, *values]
    ranks: list[float] = []
    for value in values:
        # Arrays don't compare as one, so each equals only itself.
        same = (value is known or value == known for known in every)
        ranks.append(next(k for k, s in enumerate(same) if isinstance(s, bool | np.bool_) and s))
    return ranks


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def results_table(
    params: list[Point], scores: Array, others: Mapping[str, Array]
) -> dict[str, Any]:
    """Return ``cv_results_`` in the format of scikit-learn's searches, with means of other values.

    ``scores`` (folds, points) are NaN for a point that failed in a fold, as are the ``others``
    (folds, points), by name, where there is no value. Values that are NaN throughout are omitted.
    """
    means = scores.mean(axis=0)
    ordered = np.where(np.isnan(means), np.inf, -means.round(12))
    names = dict.fromkeys(name for point in params for name in point)
    columns = {}
    for name in names:
        values = [point.get(name) for point in params]
        kind = None if all(map(_is_number, values)) else object
        columns[f"param_{name}"] = pd.Series(values, dtype=kind).to_numpy()
    table = {
        "params": params,
        **columns,
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rankdata(ordered, method="min").astype(int),
    }
    known = {name: pd.DataFrame(values).mean() for name, values in others.items()}
    return table | {name: mean.to_numpy() for name, mean in known.items() if mean.notna().any()}
