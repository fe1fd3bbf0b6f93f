"""What a search tries where no grid is given: the components' own search spaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import ParameterSampler

from mklkit.errors import SpecError, quoted
from mklkit.estimators.nested_parameters import NestedParameters
from mklkit.numerics.sampling import own_stream
from mklkit.protocols import facts_of
from mklkit.protocols.component import Component, is_whole
from mklkit.registry.entries import FACTS, Kind

__all__ = ["Effort", "check_effort", "declared_space", "default_grids"]

Effort = Literal["fast", "thorough"] | int

EFFORTS = ("fast", "thorough")
FEW = 3
"""Values of each parameter that a fast search tries."""
BEFORE_KERNELS: tuple[Kind, ...] = ("combiner", "feature_map", "learner")

Space = dict[str, tuple[Any, ...]]


def check_effort(effort: Any) -> Effort:
    """Return how long to look, a number also where it is given as text.

    Raises
    ------
    SpecError
        If it is neither ``"fast"``, ``"thorough"`` nor a number of points.

    Examples
    --------
    >>> check_effort("fast"), check_effort("25")
    ('fast', 25)
    """
    if isinstance(effort, str) and effort.isdecimal():
        effort = int(effort)
    if (isinstance(effort, str) and effort in EFFORTS) or (is_whole(effort) and effort >= 1):
        return effort
    raise SpecError(
        "How long a search looks is 'fast', 'thorough' or a number of points from 1 up;"
        f" got {quoted(effort)}."
    )


def declared_space(estimator: NestedParameters) -> Space:
    """Return the components' search spaces by nested name: combiner, map, learner, kernels.

    A value that the user gave is tried too, before the declared ones.
    """
    components = estimator.named_components()
    parts: list[tuple[str, Kind]] = [(one, one) for one in BEFORE_KERNELS if one in components]
    parts += [(outer, "kernel") for outer in components if outer not in BEFORE_KERNELS]
    return {
        f"{outer}__{name}": values
        for outer, kind in parts
        for name, values in _with_own(components[outer], kind).items()
    }


def _with_own(component: Component, kind: Kind) -> Space:
    """Return a component's search space, with its present value where that is no default."""
    space = {}
    present = component.get_params()
    usual = type(component)().get_params() if _has_defaults(component) else {}
    for name, declared in facts_of(component, FACTS[kind]).search_space.items():
        own = present[name]
        given = own != usual.get(name) and own not in declared
        space[name] = (own, *declared) if given else declared
    return space


def _has_defaults(component: Component) -> bool:
    try:
        type(component)()
    except (TypeError, ValueError):
        return False
    return True


def default_grids(
    estimator: NestedParameters, effort: Effort, whole: frozenset[str], seed: int
) -> list[Mapping[str, Any]]:
    """Return the grids that are searched where the user gives none.

    Parameters
    ----------
    estimator : estimator
    effort : {"fast", "thorough"} or int
        ``"fast"``: three values of each parameter of combiner, map and learner. ``"thorough"``: all
        of them, with the kernels as given and then with one kernel changed at a time. A number: so
        many points, drawn from all combinations of all values, kernels too.
    whole : frozenset of str
        Parameters that cost little, since the combiner fits their whole grid at once; a fast search
        tries all their values.
    seed : int
        The seed of points that are drawn.
    """
    space = declared_space(estimator)
    if is_whole(effort):
        return _drawn(space, int(effort), seed)
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
    """Return at most three values from the middle of the range.

    Examples
    --------
    >>> _middle((0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)), _middle((1, 2))
    ((1.0, 10.0, 100.0), (1, 2))
    """
    places = np.linspace(0, len(values) - 1, FEW + 2).round().astype(int)
    inner = places if len(values) <= FEW else places[1:-1]
    return tuple(values[place] for place in dict.fromkeys(inner.tolist()))


def _drawn(space: Space, n_points: int, seed: int) -> list[Mapping[str, Any]]:
    if not space:
        return [{}]
    n_all = int(np.prod([float(len(values)) for values in space.values()]))
    draw = np.random.RandomState(own_stream(seed).integers(2**31 - 1))
    points = ParameterSampler(space, min(n_points, n_all), random_state=draw)
    return [{name: (point[name],) for name in space} for point in points]
