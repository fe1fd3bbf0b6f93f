"""From the user's specifications to components that work together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import attrs
import numpy as np

from mklkit.errors import IncompatibleError, SpecError, quoted
from mklkit.protocols import (
    TWO_CLASSES,
    Combiner,
    CombinerTraits,
    Decision,
    FeatureMapTraits,
    KernelTraits,
    LearnerTraits,
    Reads,
    TargetKind,
    array_of,
    result_of,
    traits_of,
)
from mklkit.registry.entries import TRAITS, Entry, Kind
from mklkit.registry.registry import Registry, get_registry
from mklkit.registry.specs import build, to_spec


def default_instances(registry: Registry, kind: Kind) -> Iterator[Any]:
    """Yield the registered components of a kind that can be created without parameters."""
    for entry in registry.entries(kind):
        with suppress(SpecError):
            yield _default_instance(entry.target)


@lru_cache(maxsize=1024)
def _default_instance(cls: Any) -> Any:
    """Return a component with its defaults, which all fits share, because it has no state.

    Its class was checked as it was registered.
    """
    return build(cls, (), {}, cls.name)


def names_of_able(
    registry: Registry, kind: Kind, target: TargetKind, weighted: bool = False
) -> list[str]:
    """Return the names of the combiners or learners that can learn a kind, with sample weights."""
    return [
        component.name
        for component in default_instances(registry, kind)
        if _inability(traits_of(component, TRAITS[kind]), target, weighted) == ""
    ]


def check_able(
    registry: Registry, kind: Kind, component: Any, target: TargetKind, weighted: bool = False
) -> None:
    """Reject a combiner or learner that can't learn a kind of target, or can't weigh samples."""
    inability = _inability(traits_of(component, TRAITS[kind]), target, weighted)
    if inability:
        able = ", ".join(names_of_able(registry, kind, target, weighted)) or "none"
        raise IncompatibleError(
            f"The {kind} {component.name!r} {inability}; {kind}s that can: {able}."
        )


def check_gives_weights(combiner: Any, target: TargetKind, consequence: str) -> None:
    """Raise an error for a combiner that does not learn from a weighted sum of kernels.

    ``consequence`` ends the sentence of the error."""
    if combiner.gives_weights:
        return
    giving = [c for c in default_instances(get_registry(), "combiner") if c.gives_weights]
    able = [c.name for c in giving if target.is_in(traits_of(c, CombinerTraits).learns)]
    raise IncompatibleError(
        f"The combiner {combiner.name!r} does not learn from a weighted sum of kernels, so that"
        f" {consequence}; combiners that do: {', '.join(able)}."
    )


def _inability(traits: Any, target: TargetKind, weighted: bool) -> str:
    """Return what a component with these traits can't do, in words; empty if it can do both."""
    if not target.is_in(traits.learns):
        return f"can't learn from {target.words}"
    if isinstance(traits, LearnerTraits):
        weighs = traits.takes_row_weights
    else:
        weighs = traits.row_weights != "refused"
    return "" if weighs or not weighted else "can't take sample weights or classes"


def kernels_on(reads: Reads, column: str = "") -> str:
    """Return advice to use a kernel that reads columns of some kind, or one such column.

    Examples
    --------
    >>> kernels_on("row ids")
    "use a kernel on row ids, such as 'precomputed'"
    """
    entries = get_registry().entries("kernel")
    at = f"@{column}" if column else ""
    names = [quoted(f"{entry.name}{at}") for entry in entries if reads_of(entry) == reads]
    return f"use a kernel on {reads}, such as {' or '.join(names[:2])}"


def wraps_another(kernel: Entry) -> bool:
    """Return whether a registered kernel wraps another kernel."""
    instances = default_instances(get_registry(), "kernel")
    return any(type(k) is kernel.target and k.kernel is not None for k in instances)


def reads_of(kernel: Entry) -> Reads:
    """Return what a registered kernel reads, with default parameters if it depends on them."""
    target: Any = kernel.target
    if isinstance(getattr(target, "traits", None), property):
        instances = default_instances(get_registry(), "kernel")
        target = next((k for k in instances if type(k) is target), None)
    return traits_of(target, KernelTraits).reads


def checked_decision(combiner: Combiner, decision: object, n_kernels: int) -> Decision:
    """Return the result of a combiner's fit if it is a decision on the kernels."""
    checked = result_of(combiner, "fit", decision, Decision, "an object with 'weights', 'decide'")
    of_rows = ("C",) * (np.ndim(checked.weights) == 2)  # such as those of C clusters
    array_of(combiner, "the decision's weights", checked.weights, (*of_rows, n_kernels))
    return checked


@attrs.frozen
class Choice:
    """The components of one classifier, and a sentence on each default used."""

    combiner: Any
    feature_map: Any
    learner: Any
    notes: tuple[str, ...]


def choose_components(
    combiner: Any,
    feature_map: Any,
    learner: Any,
    *,
    target: TargetKind = TWO_CLASSES,
    weighted: bool = False,
) -> Choice:
    """Return combiner, map and learner; by default the map and learner of the combiner.

    A learner for numbers, or for samples without labels, replaces the combiner's default if that
    one can't do the task. ``weighted`` tells whether samples have weights. An IncompatibleError
    lists the components that can learn from the map, do the task or weigh samples, if the given
    ones can't.
    """
    parts = combiner, feature_map, learner
    if all(part is None or isinstance(part, str) for part in parts):
        return _chosen_specs(get_registry(), *parts, target, weighted)
    return _chosen(get_registry(), *parts, target, weighted)


def _chosen(
    registry: Registry,
    combiner: Any,
    feature_map: Any,
    learner: Any,
    target: TargetKind,
    weighted: bool,
) -> Choice:
    combiner = registry.create("combiner", combiner)
    check_able(registry, "combiner", combiner, target, weighted)
    traits = traits_of(combiner, CombinerTraits)
    notes = []
    if learner is None:
        learner = registry.create("learner", _default_learner(registry, combiner, target))
        notes.append(f"learner {to_spec(learner)}: the default with {combiner.name}")
    learner = registry.create("learner", learner)
    check_able(registry, "learner", learner, target, weighted)
    if traits.for_learners and learner.name not in traits.for_learners:
        raise IncompatibleError(
            f"The combiner {combiner.name!r} does not work with the learner {learner.name!r}."
            f" Learners that work with {combiner.name}: {', '.join(traits.for_learners)}."
        )
    if feature_map is None:
        usual = _stated_default(registry, "feature_map", combiner)
        feature_map = usual
        reason = f"the default with {combiner.name}"
        instead = traits_of(usual, FeatureMapTraits).instead
        if instead is not None and not _fits(learner, usual):
            feature_map = registry.create("feature_map", instead)
            on = "features" if traits_of(learner, LearnerTraits).on_features else "Gram matrices"
            reason = f"{learner.name} learns from {on}, so not {usual.name}, {reason}"
        notes.append(f"feature map {to_spec(feature_map)}: {reason}")
    feature_map = registry.create("feature_map", feature_map)
    if not _fits(learner, feature_map):
        raise IncompatibleError(_advice(registry, learner, feature_map))
    if weighted and traits.row_weights == "learner":
        alike = "count all samples equally; sample weights count in the learner"
        notes.insert(0, f"kernel weights of {combiner.name} {alike}")
    return Choice(combiner, feature_map, learner, tuple(notes))


_chosen_specs = lru_cache(maxsize=256)(_chosen)
"""Spec strings are parsed once: their components do not change."""


def _default_learner(registry: Registry, combiner: Any, target: TargetKind) -> Any:
    """Return the combiner's default learner, or else the first for the task."""
    usual = _stated_default(registry, "learner", combiner)
    if target.is_in(traits_of(usual, LearnerTraits).learns):
        return usual
    for_task = names_of_able(registry, "learner", target)
    if not for_task:
        raise IncompatibleError(f"No installed learner can learn {target.words}.")
    return for_task[0]


def _stated_default(registry: Registry, kind: Kind, combiner: Any) -> Any:
    """Return the learner or map that a combiner states as its default."""
    try:
        traits = traits_of(combiner, CombinerTraits)
        return registry.create(kind, traits.learner if kind == "learner" else traits.feature_map)
    except SpecError as error:
        raise IncompatibleError(
            f"The combiner {combiner.name!r} has an invalid default: {error}"
        ) from error


def _fits(learner: Any, feature_map: Any) -> bool:
    return traits_of(learner, LearnerTraits).learns_from(traits_of(feature_map, FeatureMapTraits))


def _advice(registry: Registry, learner: Any, feature_map: Any) -> str:
    maps = [m.name for m in default_instances(registry, "feature_map") if _fits(learner, m)]
    learners = [b.name for b in default_instances(registry, "learner") if _fits(b, feature_map)]
    explicit = traits_of(feature_map, FeatureMapTraits).explicit
    gives = "features" if explicit else "rows of Gram matrices (similarities)"
    needs = "features" if traits_of(learner, LearnerTraits).on_features else "a Gram matrix"
    return (
        f"The learner {learner.name!r} needs {needs}, but the feature map {feature_map.name!r}"
        f" gives {gives}. Maps that work with {learner.name}: {', '.join(maps) or 'none'}."
        f" Learners that work on {feature_map.name}: {', '.join(learners) or 'none'}."
    )
