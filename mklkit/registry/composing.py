"""From what a user typed to components that fit together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import attrs

from mklkit.errors import IncompatibleError, SpecError, quoted
from mklkit.protocols import CombinerFacts, FeatureMapFacts, LearnerFacts, facts_of
from mklkit.registry.entries import Kind
from mklkit.registry.registry import Registry, get_registry
from mklkit.registry.specs import parse_kernel_spec, to_spec
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["DEFAULT_KERNELS", "Choice", "bind_kernels", "choose_components"]

DEFAULT_KERNELS = ("linear", "rbf(sigma='mean')", "polynomial(degree=2)")
"""The trio of paper 000."""

MAP_FOR = {True: "empirical", False: "implicit"}


@attrs.frozen
class Choice:
    """The components of one classifier, and what was filled in for the user.

    Attributes
    ----------
    notes : tuple of str
        One sentence a default.
    """

    combiner: Any
    feature_map: Any
    learner: Any
    notes: tuple[str, ...]


def bind_kernels(kernels: Any) -> list[BoundKernel]:
    """Return the kernels with unique labels; ``columns`` are still as the user gave them.

    Parameters
    ----------
    kernels : None, str, Kernel, tuple, or a sequence of these
        A spec string (``"label:rbf(sigma='mean')@columns"``), a kernel, or
        ``(label, kernel, columns)``; the default trio where None.

    Raises
    ------
    SpecError
        If the sequence is empty or an element is none of these.

    Examples
    --------
    >>> [(k.label, k.columns) for k in bind_kernels(["linear", "fou:rbf@fou_*"])]
    [('linear', None), ('fou', 'fou_*')]
    """
    if kernels is None:
        kernels = DEFAULT_KERNELS
    if isinstance(kernels, str) or not isinstance(kernels, Sequence) or _is_binding(kernels):
        kernels = [kernels]
    if len(kernels) == 0:
        raise SpecError("Expected at least one kernel, got an empty list.")
    bound = [_bind(kernel) for kernel in kernels]
    seen: dict[str, int] = {}
    unique = []
    for kernel in bound:
        seen[kernel.label] = seen.get(kernel.label, 0) + 1
        count = seen[kernel.label]
        label = kernel.label if count == 1 else f"{kernel.label} #{count}"
        unique.append(attrs.evolve(kernel, label=label))
    return unique


def _is_binding(value: Any) -> bool:
    """Return whether a tuple is one kernel with its label and columns, not several kernels."""
    return isinstance(value, tuple) and len(value) == 3 and not _is_kernel_like(value[2])


def _is_kernel_like(value: Any) -> bool:
    if isinstance(value, str):
        try:
            name = parse_kernel_spec(value).spec.partition("(")[0]
        except SpecError:
            return False
        return any(entry.name == name for entry in get_registry().entries("kernel"))
    return hasattr(value, "fit") or _is_binding(value)


def _bind(value: Any) -> BoundKernel:
    registry = get_registry()
    if isinstance(value, tuple):
        if len(value) not in (2, 3) or not isinstance(value[0], str):
            raise SpecError(f"Expected (label, kernel, columns), got {quoted(value)}.")
        columns = value[2] if len(value) == 3 else None
        return BoundKernel(value[0], registry.create("kernel", value[1]), columns)
    if isinstance(value, str):
        spec = parse_kernel_spec(value)
        kernel = registry.create("kernel", spec.spec)
        label = spec.label or to_spec(kernel) + (f"@{spec.columns}" if spec.columns else "")
        return BoundKernel(label, kernel, spec.columns)
    kernel = registry.create("kernel", value)
    return BoundKernel(to_spec(kernel), kernel)


def choose_components(combiner: Any, feature_map: Any, learner: Any) -> Choice:
    """Return combiner, map and learner, the combiner's own pair where one is not given.

    Raises
    ------
    IncompatibleError
        If the learner can't learn from the map; says which maps and learners would do.
    """
    registry = get_registry()
    chosen: Any = registry.create("combiner", combiner)
    notes = []
    learner_given, map_given = learner is not None, feature_map is not None
    learner = _part(registry, "learner", learner, chosen)
    feature_map = _part(registry, "feature_map", feature_map, chosen)
    only = facts_of(chosen, CombinerFacts).for_learners
    if only and learner.name not in only:
        raise IncompatibleError(
            f"The combiner {chosen.name!r} does not work with the learner {learner.name!r}."
            f" Learners that work with {chosen.name}: {', '.join(only)}."
        )
    if not learner_given:
        notes.append(f"learner {to_spec(learner)}: declared by {chosen.name}")
    if not map_given and not _fits(learner, feature_map):
        usual = feature_map.name
        on_features = facts_of(learner, LearnerFacts).on_features
        feature_map = registry.create("feature_map", MAP_FOR[on_features])
        what = "features" if on_features else "Gram matrices"
        notes.append(
            f"feature map {to_spec(feature_map)}: {learner.name} learns from {what},"
            f" so not {usual}, which {chosen.name} declares"
        )
    elif not map_given:
        notes.append(f"feature map {to_spec(feature_map)}: declared by {chosen.name}")
    if not _fits(learner, feature_map):
        raise IncompatibleError(_advice(registry, learner, feature_map))
    return Choice(chosen, feature_map, learner, tuple(notes))


def _part(registry: Registry, kind: Kind, given: Any, combiner: Any) -> Any:
    """Return the learner or map that is given, or else the combiner's own."""
    if given is not None:
        return registry.create(kind, given)
    try:
        facts = facts_of(combiner, CombinerFacts)
        return registry.create(kind, facts.learner if kind == "learner" else facts.feature_map)
    except SpecError as error:
        raise IncompatibleError(f"The combiner {combiner.name!r} is at fault: {error}") from error


def _fits(learner: Any, feature_map: Any) -> bool:
    facts = facts_of(learner, LearnerFacts)
    return facts.learns_from(facts_of(feature_map, FeatureMapFacts))


def _advice(registry: Registry, learner: Any, feature_map: Any) -> str:
    maps = [one.name for one in _made(registry, "feature_map") if _fits(learner, one)]
    learners = [one.name for one in _made(registry, "learner") if _fits(one, feature_map)]
    explicit = facts_of(feature_map, FeatureMapFacts).explicit
    gives = "features" if explicit else "Gram rows (similarities)"
    needs = "features" if facts_of(learner, LearnerFacts).on_features else "a Gram matrix"
    return (
        f"The learner {learner.name!r} needs {needs}, but the feature map {feature_map.name!r}"
        f" gives {gives}. Maps that work with {learner.name}: {', '.join(maps) or 'none'}."
        f" Learners that work on {feature_map.name}: {', '.join(learners) or 'none'}."
    )


def _made(registry: Registry, kind: Kind) -> Iterator[Any]:
    """Yield the registered components of a kind that can be made without parameters."""
    for entry in registry.entries(kind):
        with suppress(SpecError):
            yield registry.create(kind, entry.target)
