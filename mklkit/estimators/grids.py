"""The grids of a search that the user does not give: from the components' search spaces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler

from mklkit.estimators.base import NestedParameters
from mklkit.estimators.model_settings import Effort
from mklkit.numerics.sampling import own_stream
from mklkit.protocols import traits_of
from mklkit.protocols.component import is_whole
from mklkit.registry.entries import TRAITS

FEW = 3
"""Values of each parameter that a fast search tries."""

Space = dict[str, tuple[Any, ...]]


def declared_space(estimator: NestedParameters) -> Space:
    """Return the components' search spaces by nested name: combiner, map, learner, kernels.

    A value that the user gave is tried too, before the declared ones.
    """
    space: Space = {}
    for outer, component in estimator.named_components().items():
        kind: Any = "kernel" if outer.startswith("kernels__") else outer
        present = component.get_params()
        usual = {}
        with suppress(TypeError, ValueError):  # of one without defaults
            usual = type(component)().get_params()
        for name, values in traits_of(component, TRAITS[kind]).search_space.items():
            known = present[name] in (usual.get(name), *values)
            space[f"{outer}__{name}"] = values if known else (present[name], *values)
    return space


def default_grids(
    estimator: NestedParameters, effort: Effort, whole: frozenset[str], seed: int
) -> list[Mapping[str, Any]]:
    """Return the grids that are searched if the user gives none.

    ``"fast"``: three values of each parameter of combiner, map and learner; all values of those
    that are ``whole``, which cost little since the combiner fits their whole grid at once.
    ``"thorough"``: all values, with the kernels as given and then with one kernel changed at a
    time. A number: that many points, drawn from all combinations of all values, also of kernels.
    """
    space = declared_space(estimator)
    if is_whole(effort):
        n_points = min(int(effort), math.prod(len(values) for values in space.values()))
        draw = np.random.RandomState(own_stream(seed).integers(2**31 - 1))
        points = ParameterSampler(space, n_points, random_state=draw) if space else [{}]
        return [{name: (point[name],) for name in space} for point in points]
    of_kernels = {name: values for name, values in space.items() if name.startswith("kernels__")}
    grid = {name: values for name, values in space.items() if name not in of_kernels}
    if effort == "fast":
        return [{n: values if n in whole else _middle(values) for n, values in grid.items()}]
    present = estimator.get_params()
    changed = [
        {name: others, **grid}
        for name, values in of_kernels.items()
        if (others := tuple(value for value in values if value != present[name]))
    ]
    return [grid, *changed]


def _middle(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return at most three values from the middle of the range."""
    places = np.linspace(0, len(values) - 1, FEW + 2).round().astype(int)
    inner = places if len(values) <= FEW else places[1:-1]
    return tuple(values[place] for place in dict.fromkeys(inner.tolist()))
