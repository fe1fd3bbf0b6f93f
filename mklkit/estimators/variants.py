"""The estimators that can be searched, and their variants: copies with some parameters changed."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from mklkit.errors import SpecError
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.plan import is_open
from mklkit.estimators.points import Point
from mklkit.protocols import Combiner
from mklkit.protocols.component import is_whole
from mklkit.registry.columns import are_proposed
from mklkit.registry.tasks import all_tasks

Searched = KernelEstimator
SHARES = ("accuracy", "balanced_accuracy")
"""Scores that are written in percent."""


def check_searched(estimator: Any) -> Searched:
    """Return an estimator if it can be searched; raise a SpecError for others."""
    searchable = isinstance(estimator, tuple(task.estimator for task in all_tasks()))
    if not (searchable and isinstance(estimator, KernelEstimator)):
        raise SpecError(
            "MKLSearchCV searches parameters of an MKLClassifier, MKLRegressor or MKLOneClass;"
            f" got {estimator!r:.80}. Use scikit-learn's GridSearchCV for other estimators."
        )
    return estimator


def seeded(base: Searched) -> tuple[Any, int]:
    """Return a copy that makes all points see the same random draws, and the seed of the splits."""
    seed = check_random_state(base.random_state).randint(2**31 - 1)
    return base if is_whole(base.random_state) else clone(base).set_params(random_state=seed), seed


def fits_grids(combiner: Any) -> bool:
    """Return whether a combiner fits several points at once.

    It does not if it overrides ``fit`` and inherits ``fit_grid``, which would ignore the override.
    """
    if type(combiner).fit_grid is Combiner.fit_grid:
        return False
    defined = [
        next(place for place, cls in enumerate(type(combiner).__mro__) if name in vars(cls))
        for name in ("fit_grid", "fit")
    ]
    return defined[0] <= defined[1]


def parameters_at_once(estimator: Searched) -> frozenset[str]:
    """Return the parameters that the combiner of an estimator varies in one fit."""
    open_learner = estimator.learner is None
    if open_learner or not (
        isinstance(estimator, MKLClassifier) and fits_grids(estimator.combiner)
    ):
        return frozenset()
    return frozenset(estimator.combiner.grid_parameters(estimator.learner))


def plain_of(params: Point) -> Point:
    """Return the whole components among some parameters."""
    return {name: value for name, value in params.items() if "__" not in name}


def varied_at_once(base: Searched, point: Point) -> frozenset[str]:
    """Return the parameters of a point that one fit varies along with those of other points.

    None of a learner that is chosen with the kernels: it is open until a point varies its
    parameters, and each of these points takes a fit.
    """
    if are_proposed(base.kernels) and varied(base, plain_of(point)).learner is None:
        return frozenset()
    return parameters_at_once(varied(base, point))


def with_plain(base: Searched, params: Point) -> Any:
    """Return a copy with the whole components among some parameters replaced."""
    return clone(base).set_params(**plain_of(params))


def varied(base: Searched, params: Point) -> Any:
    """Return a copy with some parameters changed, and its components as objects.

    A learner that is chosen together with the kernels stays open.
    """
    changed = with_plain(base, params)
    choice = changed._planned()
    changed.set_params(combiner=choice.combiner)
    open_learner = are_proposed(changed.kernels) and is_open(changed, choice)
    if not open_learner or any(name.startswith(("learner__", "feature_map__")) for name in params):
        changed.set_params(feature_map=choice.feature_map, learner=choice.learner)
    return changed.set_params(**{name: value for name, value in params.items() if "__" in name})
