"""The registry's entry of a component, and the requirements on its class."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Literal

import attrs

from mklkit.errors import SpecError, cut, quoted
from mklkit.protocols import (
    Combiner,
    CombinerFacts,
    Component,
    Facts,
    FeatureMap,
    FeatureMapFacts,
    FittedKernel,
    FittedLearner,
    FittedMap,
    Kernel,
    KernelFacts,
    Learner,
    LearnerFacts,
    Missing,
    Preset,
    Subproblem,
    facts_of,
    is_name,
)
from mklkit.registry.specs import parse_kernel_spec, parse_spec

Kind = Literal["kernel", "feature_map", "combiner", "learner", "missing", "preset"]

HOOKS: dict[Kind, str] = {
    "kernel": "mklkit_kernels",
    "feature_map": "mklkit_feature_maps",
    "combiner": "mklkit_combiners",
    "learner": "mklkit_learners",
    "missing": "mklkit_missing",
    "preset": "mklkit_presets",
}
FACTS: dict[Kind, type[Facts]] = {
    "kernel": KernelFacts,
    "feature_map": FeatureMapFacts,
    "combiner": CombinerFacts,
    "learner": LearnerFacts,
    "missing": Facts,
}
BASES: dict[Kind, tuple[type, dict[str, type]]] = {
    "kernel": (Kernel, dict.fromkeys(("fit", "fit_weighted"), FittedKernel)),
    "feature_map": (FeatureMap, dict.fromkeys(("fit", "fit_all"), FittedMap)),
    "combiner": (Combiner, {}),
    "learner": (Learner, {"fit": FittedLearner, "subproblem": Subproblem}),
    "missing": (Missing, {}),
}
"""The base class of each kind of component, and the bases of what its methods return."""


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
    for kind, (base, _) in BASES.items():
        if issubclass(cls, base):
            return kind
    if {"name", "fit"} <= set(dir(cls)):
        names = ", ".join(base.__name__ for base, _ in BASES.values())
        raise TypeError(
            f"the class {cls.__name__} has a name and 'fit', and derives from none of {names}"
        )
    return None


def completed(kind: Kind, cls: type) -> None:
    """Add the missing defaults to a class that does not derive from its kind's base.

    The class, and what its methods return, get the defaults of the bases' optional methods.
    """
    base, results = BASES[kind]
    if not issubclass(cls, base) and "__completed__" not in vars(cls):
        for name in results.keys() & set(dir(cls)):
            setattr(cls, name, _completing(inspect.getattr_static(cls, name), results[name]))
        cls.__completed__ = True  # type: ignore[attr-defined]
        _add_defaults(cls, base, cls)


def _completing(method: Callable[..., Any], base: type) -> Callable[..., Any]:
    """Return a method whose result, or each of its results, has the defaults of a base."""

    @functools.wraps(method)
    def complete(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        if isinstance(result, Iterator):
            return (_with_defaults(fitted, base) for fitted in result)
        return _with_defaults(result, base)

    return complete


def completed_fitted(cls: type) -> None:
    """Add the missing defaults to a class of fitted kernels or maps.

    Reading a model file involves no fit, which would add them.
    """
    for base in (FittedKernel, FittedMap):
        if base.__abstractmethods__ <= set(dir(cls)):
            _add_defaults(cls, base, cls)


def _with_defaults(fitted: Any, base: type) -> Any:
    _add_defaults(type(fitted), base, fitted)
    return fitted


def _add_defaults(cls: type, base: type, known: Any) -> None:
    """Set the defaults of a base in a class if ``known``, the class or its object, lacks them."""
    if not issubclass(cls, base):
        for name in vars(base).keys() - set(dir(known)):
            if not name.startswith("_"):
                with suppress(TypeError):  # types of Python itself can't be changed
                    setattr(cls, name, vars(base)[name])


def make_entry(kind: Kind, target: Any, distribution: str, version: str) -> Entry:
    """Return the entry of a component class or preset; refuse anything else."""
    name = getattr(target, "name", None)
    if not isinstance(name, str) or not is_name(name):
        raise TypeError(
            f"the {spoken(kind)} {quoted(target)} has no valid 'name' of letters, digits, '_', '.'"
            f" and '-'; got {quoted(name)}"
        )
    if kind == "preset":
        missing = list(_lacking_in_preset(target))
    elif isinstance(target, type):
        missing = list(lacking(kind, target))
    else:
        missing = ["must be a class with a 'fit' method"]
    if missing:
        raise TypeError(f"the {spoken(kind)} {name!r} {'; it '.join(missing)}")
    if kind != "preset":
        completed(kind, target)
    text = target.help if kind == "preset" else inspect.getdoc(target)
    return Entry(kind, name, target, distribution, version, cut((text or "").partition("\n")[0]))


def lacking(kind: Kind, component: object) -> Iterator[str]:
    """Yield the faults of a component or its class, each as the predicate of a sentence."""
    cls: Any = component if isinstance(component, type) else type(component)
    if not {"name", "fit"} <= set(dir(cls)):
        yield "must be a class with a 'name' and a 'fit' method"
        return
    if inspect.isabstract(cls):
        yield f"does not implement {', '.join(sorted(cls.__abstractmethods__))}"
    if issubclass(cls, Component) and not attrs.has(cls):
        yield "derives from Component and needs the decorator '@attrs.frozen'"
    for name, arguments in _to_be_written(BASES[kind][0], cls):
        if not _takes(inspect.getattr_static(cls, name), arguments):
            yield f"must have {name}(self, {', '.join(arguments)})"
            return  # It may be of another kind, with other facts.
    if component is cls and isinstance(inspect.getattr_static(cls, "facts", None), property):
        return  # Facts that depend on parameters are checked when they are read.
    try:
        facts = facts_of(component, FACTS[kind])
        if isinstance(facts, CombinerFacts):
            parse_spec(facts.feature_map)
            parse_spec(facts.learner)
    except SpecError as error:
        yield f"must state valid facts: {error}"


def _lacking_in_preset(target: Any) -> Iterator[str]:
    if not isinstance(target, Preset):
        yield "must be a mklkit.plugin.Preset"
        return
    try:
        for spec in (target.combiner, target.feature_map, target.learner):
            parse_spec(spec or target.combiner)
        for spec in target.kernels or ():
            parse_kernel_spec(spec)
    except SpecError as error:
        yield f"has a part that can't be read: {error}"


def _to_be_written(base: type, cls: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each abstract method of a base or template, and its arguments."""
    for template in (base, *cls.__mro__[1:]):
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
