"""From the user's specifications to components that work together."""

from __future__ import annotations

from collections.abc import Sequence
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
    Reads,
    Task,
    facts_of,
)
from mklkit.registry.abilities import check_able, made, names_of_able
from mklkit.registry.entries import Entry, Kind
from mklkit.registry.registry import Registry, get_registry
from mklkit.registry.specs import parse_kernel_spec, to_spec
from mklkit.views.bound_kernels import BoundKernel

__all__ = [
    "AUTO_KERNELS",
    "DEFAULT_KERNELS",
    "Choice",
    "are_proposed",
    "bind_kernels",
    "choose_components",
    "is_around_another",
    "kernel_list",
    "kernels_on",
    "parts_of",
    "proposed_specs",
    "reads_of",
]

DEFAULT_KERNELS = (
    "cosine_linear:cosine(linear)",
    "rbf:rbf(sigma='mean')",
    "cosine_polynomial:cosine(polynomial(degree=2))",
)
"""The kernels of paper 000, normalised: k(x, x) = 1."""

AUTO_KERNELS = "auto"
"""Given as the kernels: a bank proposed from the training rows."""

MAP_FOR = {True: "empirical", False: "implicit"}


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
        kernel = _bind(value)
        label, count = kernel.label, 1
        while label in unique:
            count += 1
            label = f"{kernel.label} #{count}"
        unique[label] = attrs.evolve(kernel, label=label)
    return list(unique.values())


def kernel_list(kernels: Any) -> list[Any]:
    """Return the kernels of an estimator as a list, as the user gave them."""
    if kernels is None:
        kernels = DEFAULT_KERNELS
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
    for kernel in made(registry, "kernel"):
        own = facts_of(kernel, KernelFacts).proposed
        for spec in own:
            try:
                registry.create("kernel", spec)
            except SpecError as error:
                raise SpecError(
                    f"Kernel {kernel.name!r} proposes {quoted(spec)} for kernels='auto': {error}"
                ) from error
        by_kernel.append(own)
    ranks = zip_longest(*by_kernel)
    return list(dict.fromkeys(spec for rank in ranks for spec in rank if spec is not None))


def kernels_on(reads: Reads, column: str = "") -> str:
    """Return advice to use a kernel that reads columns of some kind, or one such column.

    Examples
    --------
    >>> kernels_on("row ids")
    "use a kernel on row ids, such as 'precomputed'"
    """
    entries = get_registry().entries("kernel")
    at = f"@{column}" if column else ""
    found = [quoted(f"{entry.name}{at}") for entry in entries if reads_of(entry) == reads]
    return f"use a kernel on {reads}, such as {' or '.join(found[:2])}"


def is_around_another(kernel: Entry) -> bool:
    """Return whether a registered kernel is one around another kernel."""
    every = made(get_registry(), "kernel")
    return any(type(one) is kernel.target and one.kernel is not None for one in every)


def reads_of(kernel: Entry) -> Reads:
    """Return what a registered kernel reads: by default, where it depends on its parameters."""
    target: Any = kernel.target
    if isinstance(getattr(target, "facts", None), property):
        target = next((one for one in made(get_registry(), "kernel") if type(one) is target), None)
    return facts_of(target, KernelFacts).reads


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
    label, given, columns = parts_of(value)
    kernel = get_registry().create("kernel", given)
    if label is None:
        label = given if isinstance(given, str) else to_spec(kernel, full=True)
        label += f"@{columns}" if isinstance(columns, str) else ""
    return BoundKernel(label, kernel, columns)


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
    registry = get_registry()
    chosen: Any = registry.create("combiner", combiner)
    notes = []
    learner_given, map_given = learner is not None, feature_map is not None
    check_able(registry, "combiner", chosen, task, weighted)
    learner = _default_learner(registry, chosen, task) if learner is None else learner
    learner = registry.create("learner", learner)
    check_able(registry, "learner", learner, task, weighted)
    if feature_map is None:
        feature_map = _stated_default(registry, "feature_map", chosen)
    feature_map = registry.create("feature_map", feature_map)
    only = facts_of(chosen, CombinerFacts).for_learners
    if only and learner.name not in only:
        raise IncompatibleError(
            f"The combiner {chosen.name!r} does not work with the learner {learner.name!r}."
            f" Learners that work with {chosen.name}: {', '.join(only)}."
        )
    if weighted and facts_of(chosen, CombinerFacts).row_weights == "learner":
        notes.append(
            f"kernel weights of {chosen.name}: from all rows alike; weights of rows count in the"
            " learner"
        )
    if not learner_given:
        notes.append(f"learner {to_spec(learner)}: the default with {chosen.name}")
    if not map_given and not _fits(learner, feature_map):
        usual = feature_map.name
        on_features = facts_of(learner, LearnerFacts).on_features
        feature_map = registry.create("feature_map", MAP_FOR[on_features])
        what = "features" if on_features else "Gram matrices"
        notes.append(
            f"feature map {to_spec(feature_map)}: {learner.name} learns from {what},"
            f" so not {usual}, the default with {chosen.name}"
        )
    elif not map_given:
        notes.append(f"feature map {to_spec(feature_map)}: the default with {chosen.name}")
    if not _fits(learner, feature_map):
        raise IncompatibleError(_advice(registry, learner, feature_map))
    return Choice(chosen, feature_map, learner, tuple(notes))


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
    maps = [one.name for one in made(registry, "feature_map") if _fits(learner, one)]
    learners = [one.name for one in made(registry, "learner") if _fits(one, feature_map)]
    explicit = facts_of(feature_map, FeatureMapFacts).explicit
    gives = "features" if explicit else "rows of Gram matrices (similarities)"
    needs = "features" if facts_of(learner, LearnerFacts).on_features else "a Gram matrix"
    return (
        f"The learner {learner.name!r} needs {needs}, but the feature map {feature_map.name!r}"
        f" gives {gives}. Maps that work with {learner.name}: {', '.join(maps) or 'none'}."
        f" Learners that work on {feature_map.name}: {', '.join(learners) or 'none'}."
    )
