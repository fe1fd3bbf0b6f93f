"""From the user's specifications to components that work together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import attrs

from mklkit.errors import IncompatibleError, SpecError, quoted
from mklkit.protocols import (
    TASK_NAMES,
    CombinerFacts,
    FeatureMapFacts,
    KernelFacts,
    LearnerFacts,
    Task,
    facts_of,
)
from mklkit.protocols.defaults import KERNELS
from mklkit.registry.abilities import check_able, default_instances, names_of_able
from mklkit.registry.entries import Kind
from mklkit.registry.registry import Registry, get_registry
from mklkit.registry.specs import parse_kernel_spec, to_spec
from mklkit.views.bound_kernels import BoundKernel

__all__ = [
    "AUTO_KERNELS",
    "Choice",
    "are_proposed",
    "bind_kernels",
    "choose_components",
    "kernel_list",
    "parts_of",
    "proposed_specs",
]

AUTO_KERNELS = "auto"
"""Given as the kernels: a bank proposed from the training rows."""


@attrs.frozen
class Choice:
    """The components of one classifier, and notes on the defaults that were used.

    Attributes
    ----------
    notes : tuple of str
        One sentence per default.
    """

    combiner: Any
    feature_map: Any
    learner: Any
    notes: tuple[str, ...]


def bind_kernels(kernels: Any) -> list[BoundKernel]:
    """Return the kernels with unique labels; ``columns`` are not resolved yet.

    A label is the one given by the user; else the spec string as typed, or all parameters of an
    object, so that it does not change with a default. Repeated labels are numbered.

    Parameters
    ----------
    kernels : None, str, Kernel, or a list or tuple of kernels
        A spec string (``"label:rbf(sigma='mean')@columns"``) or a kernel; within a list or tuple
        also ``(label, kernel, columns)``. None stands for the default kernels.

    Raises
    ------
    SpecError
        If the sequence is empty or an element is none of these.

    Examples
    --------
    >>> [(k.label, k.columns) for k in bind_kernels(["linear", "fou:rbf@fou_*"])]
    [('linear', None), ('fou', 'fou_*')]
    """
    unique: dict[str, BoundKernel] = {}
    for value in kernel_list(kernels):
        spec = isinstance(value, str)
        kernel = _bound_spec(get_registry(), value) if spec else _bind(value)
        label, count = kernel.label, 1
        while label in unique:
            count += 1
            label = f"{kernel.label} #{count}"
        unique[label] = kernel if count == 1 else attrs.evolve(kernel, label=label)
    return list(unique.values())


def kernel_list(kernels: Any) -> list[Any]:
    """Return the kernels of an estimator as a list, as the user gave them."""
    if kernels is None:
        kernels = KERNELS
    if isinstance(kernels, str) or not isinstance(kernels, Sequence):
        kernels = [kernels]
    if len(kernels) == 0:
        raise SpecError("Expected at least one kernel, got an empty list.")
    if any(isinstance(kernel, str) and kernel.strip() == AUTO_KERNELS for kernel in kernels):
        raise SpecError(
            f"kernels={AUTO_KERNELS!r} stands for kernels that fit proposes from the training rows"
            " and their labels: give it alone, not beside other kernels, and only to an"
            " estimator that is to be fitted."
        )
    return list(kernels)


def are_proposed(kernels: Any) -> bool:
    """Return whether ``fit`` is to propose the kernels: ``"auto"``, or a list of only that.

    Examples
    --------
    >>> are_proposed("auto"), are_proposed(["auto"]), are_proposed(["auto", "linear"])
    (True, True, False)
    """
    if isinstance(kernels, Sequence) and not isinstance(kernels, str) and len(kernels) == 1:
        kernels = kernels[0]
    return isinstance(kernels, str) and kernels.strip() == AUTO_KERNELS


def proposed_specs() -> list[str]:
    """Return the spec strings that registered kernels propose: the first of each, the second ….

    Raises
    ------
    SpecError
        If a kernel proposes one that cannot be made; the message names the kernel.
    """
    registry = get_registry()
    by_kernel = []
    for kernel in default_instances(registry, "kernel"):
        proposed = facts_of(kernel, KernelFacts).proposed
        for spec in proposed:
            try:
                registry.create("kernel", spec)
            except SpecError as error:
                raise SpecError(
                    f"Kernel {kernel.name!r} proposes {quoted(spec)} for kernels='auto': {error}"
                ) from error
        by_kernel.append(proposed)
    ranks = zip_longest(*by_kernel)
    return list(dict.fromkeys(spec for rank in ranks for spec in rank if spec is not None))


def parts_of(value: Any) -> tuple[str | None, Any, Any]:
    """Return the label (None where none was given), kernel and columns of one kernel."""
    if isinstance(value, BoundKernel):
        return value.label, value.kernel, value.columns
    if isinstance(value, tuple):
        if len(value) not in (2, 3) or not isinstance(value[0], str | None):
            raise SpecError(f"Expected (label, kernel, columns), got {quoted(value)}.")
        return value[0], value[1], value[2] if len(value) == 3 else None
    if isinstance(value, str):
        spec = parse_kernel_spec(value)
        return spec.label, spec.spec, spec.columns
    return None, value, None


def _bind(value: Any) -> BoundKernel:
    label, spec, columns = parts_of(value)
    kernel = get_registry().create("kernel", spec)
    if label is None:
        label = spec if isinstance(spec, str) else to_spec(kernel, full=True)
        label += f"@{columns}" if isinstance(columns, str) else ""
    return BoundKernel(label, kernel, columns)


@lru_cache(maxsize=256)
def _bound_spec(registry: Registry, spec: str) -> BoundKernel:
    """Return the kernel of a spec string, which is read once."""
    return _bind(spec)


def choose_components(
    combiner: Any,
    feature_map: Any,
    learner: Any,
    *,
    task: Task = "two classes",
    weighted: bool = False,
) -> Choice:
    """Return combiner, map and learner, with defaults for those not given.

    Parameters
    ----------
    combiner : str or Combiner
    feature_map, learner : str, FeatureMap, Learner, optional
        The combiner's own where not given; a learner of numbers, or of rows without labels, where
        the combiner's own is none.
    task : Task, default="two classes"
        What is to be learned. Several classes are problems of two, unless they are one problem.
    weighted : bool, default=False
        Whether rows count differently.

    Raises
    ------
    IncompatibleError
        If the learner can't learn from the map, or one of them can't do the task or can't weigh
        rows; the message lists those that can.
    """
    parts = combiner, feature_map, learner
    if all(part is None or isinstance(part, str) for part in parts):
        return _chosen_specs(get_registry(), *parts, task, weighted)
    return _chosen(get_registry(), *parts, task, weighted)


def _chosen(
    registry: Registry, combiner: Any, feature_map: Any, learner: Any, task: Task, weighted: bool
) -> Choice:
    combiner = registry.create("combiner", combiner)
    check_able(registry, "combiner", combiner, task, weighted)
    facts, notes = facts_of(combiner, CombinerFacts), []
    if learner is None:
        learner = registry.create("learner", _default_learner(registry, combiner, task))
        notes.append(f"learner {to_spec(learner)}: the default with {combiner.name}")
    learner = registry.create("learner", learner)
    check_able(registry, "learner", learner, task, weighted)
    if facts.for_learners and learner.name not in facts.for_learners:
        raise IncompatibleError(
            f"The combiner {combiner.name!r} does not work with the learner {learner.name!r}."
            f" Learners that work with {combiner.name}: {', '.join(facts.for_learners)}."
        )
    if feature_map is None:
        usual = _stated_default(registry, "feature_map", combiner)
        feature_map = usual
        reason = f"the default with {combiner.name}"
        instead = facts_of(usual, FeatureMapFacts).instead
        if instead is not None and not _fits(learner, usual):
            feature_map = registry.create("feature_map", instead)
            on = "features" if facts_of(learner, LearnerFacts).on_features else "Gram matrices"
            reason = f"{learner.name} learns from {on}, so not {usual.name}, {reason}"
        notes.append(f"feature map {to_spec(feature_map)}: {reason}")
    feature_map = registry.create("feature_map", feature_map)
    if not _fits(learner, feature_map):
        raise IncompatibleError(_advice(registry, learner, feature_map))
    if weighted and facts.row_weights == "learner":
        notes.insert(
            0,
            f"kernel weights of {combiner.name}: from all rows alike; weights of rows count in the"
            " learner",
        )
    return Choice(combiner, feature_map, learner, tuple(notes))


_chosen_specs = lru_cache(maxsize=256)(_chosen)
"""Spec strings are read once: what they stand for does not change."""


def _default_learner(registry: Registry, combiner: Any, task: Task) -> Any:
    """Return the combiner's default learner, or else the first for the task."""
    usual = _stated_default(registry, "learner", combiner)
    if task in facts_of(usual, LearnerFacts).tasks:
        return usual
    for_task = names_of_able(registry, "learner", task)
    if not for_task:
        raise IncompatibleError(f"No installed learner can learn {TASK_NAMES[task]}.")
    return for_task[0]


def _stated_default(registry: Registry, kind: Kind, combiner: Any) -> Any:
    """Return the learner or map that a combiner states as its default."""
    try:
        facts = facts_of(combiner, CombinerFacts)
        return registry.create(kind, facts.learner if kind == "learner" else facts.feature_map)
    except SpecError as error:
        raise IncompatibleError(
            f"The combiner {combiner.name!r} has an invalid default: {error}"
        ) from error


def _fits(learner: Any, feature_map: Any) -> bool:
    facts = facts_of(learner, LearnerFacts)
    return facts.learns_from(facts_of(feature_map, FeatureMapFacts))


def _advice(registry: Registry, learner: Any, feature_map: Any) -> str:
    maps = [m.name for m in default_instances(registry, "feature_map") if _fits(learner, m)]
    learners = [b.name for b in default_instances(registry, "learner") if _fits(b, feature_map)]
    explicit = facts_of(feature_map, FeatureMapFacts).explicit
    gives = "features" if explicit else "rows of Gram matrices (similarities)"
    needs = "features" if facts_of(learner, LearnerFacts).on_features else "a Gram matrix"
    return (
        f"The learner {learner.name!r} needs {needs}, but the feature map {feature_map.name!r}"
        f" gives {gives}. Maps that work with {learner.name}: {', '.join(maps) or 'none'}."
        f" Learners that work on {feature_map.name}: {', '.join(learners) or 'none'}."
    )
