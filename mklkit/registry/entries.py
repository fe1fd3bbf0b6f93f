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
    Preset,
    Subproblem,
    facts_of,
)
from mklkit.registry.specs import MAX_NAME, is_name, parse_kernel_spec, parse_spec

__all__ = ["FACTS", "HOOKS", "Entry", "Kind", "lacking", "make_entry", "spoken"]

Kind = Literal["kernel", "feature_map", "combiner", "learner", "preset"]

HOOKS: dict[Kind, str] = {
    "kernel": "mklkit_kernels",
    "feature_map": "mklkit_feature_maps",
    "combiner": "mklkit_combiners",
    "learner": "mklkit_learners",
    "preset": "mklkit_presets",
}
# The arguments of 'fit' besides self.
ARGUMENTS: dict[Kind, tuple[str, ...]] = {
    "kernel": ("rows",),
    "feature_map": ("kernel", "rows", "random_state"),
    "combiner": ("views", "y", "learner", "random_state"),
    "learner": ("side", "y"),
}
FACTS: dict[Kind, type[Facts]] = {
    "kernel": KernelFacts,
    "feature_map": FeatureMapFacts,
    "combiner": CombinerFacts,
    "learner": LearnerFacts,
}


BASES: dict[Kind, tuple[type, dict[str, type]]] = {
    "kernel": (Kernel, dict.fromkeys(("fit", "fit_weighted"), FittedKernel)),
    "feature_map": (FeatureMap, dict.fromkeys(("fit", "fit_all"), FittedMap)),
    "combiner": (Combiner, {}),
    "learner": (Learner, {"fit": FittedLearner, "subproblem": Subproblem}),
}
"""What a component of each kind derives from, and the bases of what its methods return."""


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
    return kind.replace("_", " ")


def kind_of(cls: type) -> Kind | None:
    """Return the kind of component that a decorated class is, by its base; None for fitted ones.

    Raises
    ------
    TypeError
        If it has a ``name`` and ``fit``, as components have, and derives from no kind of them.
    """
    for kind, (base, _) in BASES.items():
        if issubclass(cls, base):
            return kind
    if isinstance(getattr(cls, "name", None), str) and hasattr(cls, "fit"):
        names = ", ".join(base.__name__ for base, _ in BASES.values())
        raise TypeError(
            f"the class {cls.__name__} has a name and 'fit', and derives from none of {names}"
        )
    return None


def completed(kind: Kind, cls: type) -> type:
    """Return a class that need not derive from its kind's base, with what it then lacks.

    The class, and what its methods return, get the defaults of the bases' optional methods.
    """
    base, results = BASES[kind]
    if issubclass(cls, base) or "__completed__" in vars(cls):
        return cls
    for name, result in results.items():
        if hasattr(cls, name):
            setattr(cls, name, _completing(getattr(cls, name), result))
    cls.__completed__ = True  # type: ignore[attr-defined]
    _add_defaults(cls, base, cls)
    return cls


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
    """Give a class whose objects are fitted kernels or maps what it lacks.

    A model file is read without a fit, which would complete it.
    """
    defined = {name for parent in cls.__mro__ for name in vars(parent)}
    for base in (FittedKernel, FittedMap):
        if base.__abstractmethods__ <= defined:
            _add_defaults(cls, base, cls)


def _with_defaults(fitted: Any, base: type) -> Any:
    _add_defaults(type(fitted), base, fitted)
    return fitted


def _add_defaults(cls: type, base: type, known: Any) -> None:
    """Set the defaults of a base in a class, where ``known``, it or an object of it, has none."""
    if not issubclass(cls, base):
        for name, default in vars(base).items():
            if not (name.startswith("_") or hasattr(known, name)):
                with suppress(TypeError):  # types of Python itself can't be changed
                    setattr(cls, name, default)


def make_entry(kind: Kind, target: Any, distribution: str, version: str) -> Entry:
    """Return the entry of a component class or preset.

    Raises
    ------
    TypeError
        If it has no valid name, or lacks what its kind requires.
    """
    name = getattr(target, "name", None)
    word = spoken(kind)
    if not isinstance(name, str) or not name:
        raise TypeError(f"the {word} {quoted(target)} has no 'name'")
    if not is_name(name):
        raise TypeError(
            f"the {word} name {quoted(name)} is not valid: names have letters, digits, '_', '.'"
            f" and '-', {MAX_NAME} at most, and start with a letter or '_'"
        )
    if kind == "preset":
        missing = list(_missing_in_preset(target))
    elif isinstance(target, type):
        missing = list(lacking(kind, target))
    else:
        missing = ["must be a class with a 'fit' method"]
    if missing:
        raise TypeError(f"the {word} {name!r} {'; it '.join(missing)}")
    if kind != "preset":
        completed(kind, target)
    text = target.help if kind == "preset" else inspect.getdoc(target)
    return Entry(kind, name, target, distribution, version, cut((text or "").partition("\n")[0]))


def lacking(kind: Kind, component: object) -> Iterator[str]:
    """Yield what a component or its class lacks, each as the predicate of a sentence."""
    cls = component if isinstance(component, type) else type(component)
    if not callable(getattr(cls, "fit", None)):
        yield "must be a class with a 'fit' method"
        return
    unwritten = sorted(getattr(cls, "__abstractmethods__", ()))
    if unwritten:
        yield f"does not implement {', '.join(unwritten)}"
    if issubclass(cls, Component) and not attrs.has(cls):
        yield "derives from Component and needs the decorator '@attrs.frozen'"
    for name, arguments in _to_be_written(kind, cls).items():
        if not _takes(getattr(cls, name), arguments):
            yield f"must have {name}(self, {', '.join(arguments)})"
            return  # It may be of another kind, so that its facts are too.
    if isinstance(getattr(component, "facts", None), property):
        return  # They depend on parameters and are checked when they are read.
    try:
        facts = facts_of(component, FACTS[kind])
    except SpecError as error:
        yield f"must state valid facts: {error}"
        return
    if isinstance(facts, CombinerFacts):
        yield from _unreadable("feature_map", facts.feature_map)
        yield from _unreadable("learner", facts.learner)


def _missing_in_preset(target: Any) -> Iterator[str]:
    """Yield what a preset lacks, each as the predicate of a sentence."""
    if not isinstance(target, Preset):
        yield "must be a mklkit.plugin.Preset"
        return
    # A Preset does not check its attributes, so they may be anything.
    values: dict[str, Any] = attrs.asdict(target, recurse=False)
    if not isinstance(values["help"], str):
        yield f"must have a text as its help; got {quoted(values['help'])}"
    for attribute, optional in (("combiner", False), ("feature_map", True), ("learner", True)):
        value = values[attribute]
        if isinstance(value, str):
            yield from _unreadable(attribute, value)
        elif not (optional and value is None):
            yield f"must have a spec string as its {attribute}; got {quoted(value)}"
    kernels = values["kernels"]
    if kernels is not None and not (
        isinstance(kernels, tuple)
        and kernels
        and all(isinstance(kernel_spec, str) for kernel_spec in kernels)
    ):
        yield f"must have a tuple of spec strings as its kernels; got {quoted(kernels)}"
        return
    for kernel in kernels or ():
        try:
            parse_kernel_spec(kernel)
        except SpecError as error:
            yield f"has a kernel that can't be read: {error}"


def _unreadable(attribute: str, spec: str) -> Iterator[str]:
    try:
        parse_spec(spec)
    except SpecError as error:
        yield f"has a {attribute} that can't be read: {error}"


def _to_be_written(kind: Kind, cls: type) -> dict[str, tuple[str, ...]]:
    """Return what 'fit' and each method that a template leaves to be written are given."""
    methods = {"fit": ARGUMENTS[kind]}
    for template in cls.__mro__[1:]:
        for name in sorted(getattr(template, "__abstractmethods__", ())):
            if inspect.isfunction(model := getattr(template, name)):
                methods.setdefault(name, tuple(inspect.signature(model).parameters)[1:])
    return methods


def _takes(method: Any, arguments: tuple[str, ...]) -> bool:
    """Return whether a method can be called with that many arguments."""
    try:
        signature = inspect.signature(method)
    except ValueError:  # Compiled code need not say what it takes.
        return True
    except TypeError:  # It is no method at all.
        return False
    try:
        signature.bind(None, *arguments)
    except TypeError:
        return False
    return True
