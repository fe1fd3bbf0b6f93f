"""The choice of a model's parameters, which fits on folds make again on their training samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from mklkit.errors import counted, listed
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.introspection import FittedSearch
from mklkit.estimators.rpemekl import RPEMEKLClassifier
from mklkit.estimators.search import MKLSearchCV

GRIDS = ("param_grid", "param_distributions")
OPTIMISTIC = "scores are optimistic, because the samples that are scored took part in that choice"


@attrs.frozen(eq=False)
class Choice:
    """What a fitted model has chosen by a search, and whether that can be chosen again.

    ``estimator`` is the unfitted model inside its searches, without the steps before it: these are
    fitted on the training samples of a fold before the search begins. ``why_not`` says why it can't
    be repeated, ``steps`` are the parameters of those steps that it chose, and ``settings`` are how
    many it tried, None if that is unknown.
    """

    estimator: Any
    searches: bool
    why_not: str = ""
    steps: tuple[str, ...] = ()
    settings: int | None = None

    @classmethod
    def of(cls, model: Any, grouped: bool) -> Choice:
        """Return the choice of a model; ``grouped`` says whether groups are kept together."""
        estimator, steps = _last_of(model)
        searches, outermost = list(_searches(estimator)), _outermost(model)
        chooses_alone = isinstance(estimator, RPEMEKLClassifier) and estimator.chooses
        # Searches of other libraries need not say what they tried.
        says = isinstance(outermost, BaseSearchCV | MKLSearchCV)
        return cls(
            estimator,
            bool(searches) or chooses_alone or outermost is not None,
            _why_not_repeated(outermost, searches, grouped),
            tuple(steps),
            len(outermost.cv_results_["params"]) if says else None,
        )

    @property
    def repeats(self) -> bool:
        """Whether fits on folds repeat a search, unless the choice is to be kept."""
        return self.searches and not self.why_not

    @property
    def words(self) -> str:
        """The search with the number of its settings."""
        over = "" if self.settings is None else f" over {counted(self.settings, 'setting')}"
        return f"the search{over}"

    def note(self, keeps: bool) -> str:
        """Return what fits on folds do with what the model chose."""
        if keeps:
            why = f", because {self.why_not}" if self.why_not else ""
            return f"what the model chose on all its samples is kept{why}: {OPTIMISTIC}"
        note = f"{self.words} was repeated in each fit, on its training samples"
        if self.steps:
            note += (
                f"; it had chosen {listed(self.steps)} on all samples, which is kept: {OPTIMISTIC}"
            )
        return note


def inside(estimator: Any) -> Any:
    """Return the unfitted estimator with kernels inside searches and votes."""
    inner = estimator.get_params(deep=False).get("estimator")
    return estimator if inner is None else inside(inner)


def without_parameters(estimator: Any, kernels: Iterable[str]) -> None:
    """Remove the parameters of kernels from the grids of an unfitted estimator's searches."""
    marks = [f"kernels__{kernel}__" for kernel in kernels]
    for search, grid in _searches(estimator):
        values = getattr(search, grid)
        if values is not None:
            search.set_params(**{grid: _kept(values, lambda name: _free_of(name, marks))})


def _free_of(name: str, marks: list[str]) -> bool:
    return not any(mark in name for mark in marks)


def _last_of(model: Any) -> tuple[Any, list[str]]:
    """Return the unfitted last step in its searches, and their parameters of other steps."""
    if isinstance(model, Pipeline):
        return _last_of(model[-1])
    grid = _grid_of(model)
    if grid is None:
        copy = clone(model)
        if copy.get_params(deep=False).get("estimator", model) is None:
            copy.set_params(estimator=MKLClassifier())  # A vote's default.
        return copy, []
    inner, steps = _last_of(model.estimator)
    search = clone(model)
    values = getattr(search, grid)
    if isinstance(model.estimator, Pipeline) and values is not None:
        prefix = f"{model.estimator.steps[-1][0]}__"
        steps += [name for name in _names(values) if not name.startswith(prefix)]
        values = _kept(values, lambda name: name.startswith(prefix), len(prefix))
    search.set_params(**{grid: values, "estimator": inner})
    return search, steps


def _grid_of(estimator: Any) -> str | None:
    """Return the parameter with the grid of a search; None for other estimators."""
    names = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return next((name for name in GRIDS if name in names and "estimator" in names), None)


def _searches(estimator: Any) -> Iterator[tuple[Any, str]]:
    """Yield the searches around an estimator, the outermost first, with their grids' names."""
    grid = _grid_of(estimator)
    if grid is not None:
        yield estimator, grid
    inner = estimator.get_params(deep=False).get("estimator")
    if inner is not None:
        yield from _searches(inner)


def _outermost(model: Any) -> Any:
    """Return the outermost fitted search of a model; None without one."""
    if isinstance(model, FittedSearch):
        return model
    return _outermost(model[-1]) if isinstance(model, Pipeline) else None


def _why_not_repeated(outermost: Any, searches: list[tuple[Any, str]], grouped: bool) -> str:
    """Return why the searches of a model can't be repeated on a fold, empty if they can."""
    grid = None if outermost is None else _grid_of(outermost)
    if outermost is not None and grid is None:
        return f"{type(outermost).__name__} has no grid that could be searched again"
    if grid is not None and isinstance(outermost.estimator, Pipeline):
        last = outermost.estimator.steps[-1][0]
        if last in _names(getattr(outermost, grid)):
            return f"{type(outermost).__name__} chose the estimator itself"
    for search, grid in searches:
        cv, name = search.cv, type(search).__name__
        if isinstance(cv, Iterable) and not isinstance(cv, str):
            return f"the folds of {name} are lists of samples"
        if grouped and isinstance(search, BaseSearchCV):
            return f"{name} does not keep groups of samples together"
        values = getattr(search, grid)
        names = [] if values is None else _names(values)
        if any(name.split("__")[-1] in ("kernels", "estimator") for name in names):
            return f"{name} chose the kernels themselves"
    return ""


def _names(grids: Any) -> list[str]:
    parts = [grids] if isinstance(grids, dict) else list(grids)
    return list(dict.fromkeys(name for part in parts for name in part))


def _kept(grids: Any, keeps: Any, cut: int = 0) -> Any:
    """Return one or several grids with some of their names, without their first letters."""
    if not isinstance(grids, dict):
        return [_kept(grid, keeps, cut) for grid in grids]
    return {name[cut:]: values for name, values in grids.items() if keeps(name)}
