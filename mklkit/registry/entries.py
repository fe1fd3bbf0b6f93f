"""The registry's entry of a component, and the requirements on its class."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

import attrs

from mklkit.errors import SpecError, cut, quoted
from mklkit.protocols import (
    Combiner,
    CombinerTraits,
    Component,
    Facts,
    FeatureMap,
    FeatureMapTraits,
    Kernel,
    KernelTraits,
    Learner,
    LearnerTraits,
    Missing,
    Preset,
    Task,
    is_name,
    traits_of,
)
from mklkit.registry.specs import parse_kernel_spec, parse_spec

Kind = Literal["kernel", "feature_map", "combiner", "learner", "missing", "task", "preset"]

HOOKS: dict[Kind, str] = {
    "kernel": "mklkit_kernels",
    "feature_map": "mklkit_feature_maps",
    "combiner": "mklkit_combiners",
    "learner": "mklkit_learners",
    "missing": "mklkit_missing",
    "task": "mklkit_tasks",
    "preset": "mklkit_presets",
}
TRAITS: dict[Kind, type[Facts]] = {
    "kernel": KernelTraits,
    "feature_map": FeatureMapTraits,
    "combiner": CombinerTraits,
    "learner": LearnerTraits,
    "missing": Facts,
    "task": Facts,
}
BASES: dict[Kind, type[Component]] = {
    "kernel": Kernel,
    "feature_map": FeatureMap,
    "combiner": Combiner,
    "learner": Learner,
    "missing": Missing,
    "task": Task,
}
"""The base class of each kind of component."""


@attrs.frozen
class Entry:
    """One registered name, its class or preset, and its origin."""

    kind: Kind
    name: str
    target: Any
    distribution: str
    version: str
    help: str


def spoken(kind: Kind) -> str:
    """Return a kind as written in messages."""
    return "strategy for missing sources" if kind == "missing" else kind.replace("_", " ")


def kind_of(cls: type) -> Kind | None:
    """Return the kind of a decorated class, by its base; None for fitted ones."""
    for kind, base in BASES.items():
        if issubclass(cls, base):
            return kind
    if {"name", "fit"} <= set(dir(cls)):
        names = ", ".join(base.__name__ for base in BASES.values())
        raise TypeError(
            f"the class {cls.__name__} has a name and 'fit', and derives from none of {names} of"
            " mklkit.plugin"
        )
    return None


def make_entry(kind: Kind, target: Any, distribution: str, version: str) -> Entry:
    """Return the entry of a component class or preset; raise an error for anything else."""
    if kind == "preset":
        if not isinstance(target, Preset):
            raise TypeError(f"expected a mklkit.plugin.Preset, got {quoted(target)}")
        faults = list(_faults_of_preset(target))
        text = target.help
    else:
        if not (isinstance(target, type) and issubclass(target, BASES[kind])):
            raise TypeError(
                f"expected a {spoken(kind)}, a class derived from"
                f" mklkit.plugin.{BASES[kind].__name__}; got {quoted(target)}"
            )
        faults = list(faults_of(kind, target))
        text = inspect.getdoc(target) or ""
    name = getattr(target, "name", None)
    if not isinstance(name, str) or not is_name(name):
        raise TypeError(
            f"the {spoken(kind)} {quoted(target)} has no valid 'name' of letters, digits, '_', '.'"
            f" and '-'; got {quoted(name)}"
        )
    if faults:
        raise TypeError(f"the {spoken(kind)} {name!r} {'; it '.join(faults)}")
    return Entry(kind, name, target, distribution, version, cut(text.partition("\n")[0]))


def faults_of(kind: Kind, component: Component | type[Component]) -> Iterator[str]:
    """Yield the faults of a component or its class, each as the predicate of a sentence."""
    cls: Any = component if isinstance(component, type) else type(component)
    yield from _faults_of_class(kind, cls)
    if component is cls and isinstance(inspect.getattr_static(cls, "traits", None), property):
        return  # Facts that depend on parameters are checked when they are read.
    try:
        traits = traits_of(component, TRAITS[kind])
        if isinstance(traits, CombinerTraits):
            parse_spec(traits.feature_map)
            parse_spec(traits.learner)
    except SpecError as error:
        yield f"must state valid traits: {error}"


@lru_cache(maxsize=1024)
def _faults_of_class(kind: Kind, cls: Any) -> tuple[str, ...]:
    """Return the faults that all components of a class have: every fit checks its components."""
    faults = []
    if inspect.isabstract(cls):
        faults.append(f"does not implement {', '.join(sorted(cls.__abstractmethods__))}")
    if not attrs.has(cls):
        faults.append("needs the decorator '@attrs.frozen'")
    for name, arguments in _to_be_written(BASES[kind], cls):
        if not _takes(inspect.getattr_static(cls, name), arguments):
            faults.append(f"must have {name}(self, {', '.join(arguments)})")
    return tuple(faults)


def _faults_of_preset(target: Preset) -> Iterator[str]:
    try:
        for spec in (target.combiner, target.feature_map, target.learner):
            parse_spec(spec or target.combiner)
        for spec in target.kernels or ():
            parse_kernel_spec(spec)
    except SpecError as error:
        yield f"has a part that can't be read: {error}"


def _to_be_written(base: type, cls: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each abstract method of a base or template, and its arguments."""
    for template in dict.fromkeys((base, *cls.__mro__[1:])):
        if inspect.isabstract(template):
            for name in sorted(template.__abstractmethods__):
                model = inspect.getattr_static(template, name)
                if inspect.isfunction(model):
                    yield name, tuple(inspect.signature(model).parameters)[1:]


def _takes(method: Any, arguments: tuple[str, ...]) -> bool:
    """Return whether a method can be called with that many arguments."""
    try:
        signature = inspect.signature(method)
    except ValueError:  # Compiled code may have no signature.
        return True
    except TypeError:  # It is not callable.
        return False
    try:
        signature.bind(None, *arguments)
    except TypeError:
        return False
    return True
