"""Names to implementations: built-ins and plugins, by the same hooks.

Every module of the packages ``kernels``, ``feature_maps``, ``combiners``, ``learners`` and
``presets`` that implements a hook is a built-in, so that a new strategy is one new file. Third
parties come in through the entry-point group ``mklkit``.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import warnings
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Literal

import attrs
import pluggy

from mklkit import hookspecs
from mklkit.components import parameter_names
from mklkit.errors import (
    MKLKitError,
    PluginConflictError,
    PluginWarning,
    SpecError,
    UnknownNameError,
    plain_message,
    suggest,
)
from mklkit.hookspecs import ENTRY_POINT_GROUP
from mklkit.specs import parse_spec

__all__ = ["Entry", "Kind", "PluginFailure", "Registry", "get_registry"]

Kind = Literal["kernel", "feature_map", "combiner", "learner", "preset"]

KINDS: dict[Kind, str] = {
    "kernel": "mklkit_kernels",
    "feature_map": "mklkit_feature_maps",
    "combiner": "mklkit_combiners",
    "learner": "mklkit_learners",
    "preset": "mklkit_presets",
}
BUILT_IN = "mklkit"
BUILTIN_PACKAGES = ("kernels", "feature_maps", "combiners", "learners", "presets")
# The method that makes an object usable as a component of that kind.
REQUIRED_METHOD: dict[Kind, str] = {
    "kernel": "fit",
    "feature_map": "fit",
    "combiner": "fit",
    "learner": "fit",
}


@attrs.frozen
class Entry:
    """One registered name, what it makes, and where it comes from."""

    kind: Kind
    name: str
    target: Any
    distribution: str
    version: str
    help: str


@attrs.frozen
class PluginFailure:
    """A plugin that could not be loaded, in one line."""

    name: str
    distribution: str
    error: str

    def __str__(self) -> str:
        return f"plugin {self.name!r} of {self.distribution} is left out: {self.error}"


class Registry:
    """The strategies at hand, by kind and name.

    Parameters
    ----------
    third_party : bool
        Whether installed plugins are loaded besides the built-ins.

    Examples
    --------
    >>> registry = Registry(third_party=False)
    >>> [entry.name for entry in registry.entries("feature_map")]
    ['empirical', 'implicit']
    >>> registry.create("kernel", "rbf(sigma='mean')")
    RBF(sigma='mean', gamma=None)
    """

    def __init__(self, third_party: bool = True) -> None:
        self.failures: list[PluginFailure] = []
        self._manager = pluggy.PluginManager("mklkit")
        self._manager.add_hookspecs(hookspecs)
        self._origins: dict[str, tuple[str, str]] = {}
        self._entries: dict[tuple[Kind, str], list[Entry]] = {}
        self._model_types: dict[str, type] = {}
        self._type_origins: dict[str, str] = {}
        self._load_builtins()
        if third_party:
            self._load_third_party()

    def entries(self, kind: Kind) -> list[Entry]:
        """Return the entries of a kind, by name; a name claimed twice stands twice."""
        found = [entry for (k, _), claims in self._entries.items() if k == kind for entry in claims]
        return sorted(found, key=lambda entry: (entry.name, entry.distribution))

    def lookup(self, kind: Kind, name: str) -> Entry:
        """Return the entry of a name.

        Raises
        ------
        UnknownNameError
            If nothing provides the name; the nearest is suggested.
        PluginConflictError
            If two distributions claim it.
        """
        claims = self._entries.get((kind, name), [])
        if len(claims) == 1:
            return claims[0]
        word = kind.replace("_", " ")
        if claims:
            names = " and ".join(sorted({claim.distribution for claim in claims}))
            raise PluginConflictError(
                f"The {word} name {name!r} is claimed by {names}: uninstall one of them,"
                " or set MKLKIT_DISABLE_PLUGINS=1."
            )
        known = [entry.name for entry in self.entries(kind)]
        # A preset's name is looked up as it was typed, and may be another kind's spec string.
        bare = name.partition("(")[0].strip()
        others = tuple(other for other in KINDS if (other, bare) in self._entries)
        hint = f" {bare!r} is a {others[0].replace('_', ' ')}." if others else suggest(name, known)
        raise UnknownNameError(
            f"No {word} is named {name!r}.{hint} Known: {', '.join(dict.fromkeys(known))}.",
            bare,
            others,
        )

    def create(self, kind: Kind, spec: object) -> Any:
        """Return the component that a spec string names; an object is passed through.

        Parameters
        ----------
        kind : str
            ``"kernel"``, ``"feature_map"``, ``"combiner"`` or ``"learner"``.
        spec : str or component
            ``"rbf(sigma='mean')"``, a component, or a component class (built with its defaults).

        Raises
        ------
        SpecError
            If the string can't be read, a parameter is unknown or its value is refused.
        """
        word = kind.replace("_", " ")
        if isinstance(spec, str):
            parsed = parse_spec(spec)
            entry = self.lookup(kind, parsed.name)
            return self._build(entry.target, parsed.args, parsed.kwargs, spec)
        if isinstance(spec, type):
            return self._build(spec, (), {}, spec.__name__)
        method = REQUIRED_METHOD[kind]
        if not callable(getattr(spec, method, None)) or not hasattr(type(spec), "name"):
            raise SpecError(
                f"Expected a {word}: a name such as {self.entries(kind)[0].name!r}, a spec string"
                f" or an object with a 'name' and a '{method}' method; got {spec!r}."
            )
        return spec

    def model_types(self) -> dict[str, type]:
        """Return the classes that a model file may hold, by their full name."""
        return dict(self._model_types)

    def distribution_of(self, type_name: str) -> str | None:
        """Return the distribution that registered a class of that full name, if any."""
        return self._type_origins.get(type_name)

    def _build(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> Any:
        if attrs.has(cls):
            known = parameter_names(cls)
            if len(args) > len(known):
                raise SpecError(
                    f"{text!r} gives {len(args)} values; {getattr(cls, 'name', cls.__name__)} takes"
                    f" {', '.join(known) or 'none'}."
                )
            for key in kwargs:
                if key not in known:
                    raise SpecError(
                        f"{text!r}: {getattr(cls, 'name', cls.__name__)} has no parameter {key!r};"
                        f" it takes {', '.join(known) or 'none'}.{suggest(key, known)}"
                    )
            missing = [f.name for f in attrs.fields(cls) if f.init and f.default is attrs.NOTHING]
            for key in missing[len(args) :]:
                if key not in kwargs:
                    raise SpecError(
                        f"{text!r} needs {key!r}, which only Python can give it:"
                        f" {cls.__name__}({key}=...)."
                    )
        try:
            return cls(*args, **kwargs)
        except MKLKitError:
            raise
        except (TypeError, ValueError) as error:
            raise SpecError(f"{text!r} can't be built: {plain_message(error)}") from error

    def _load_builtins(self) -> None:
        version = importlib.import_module("mklkit._version").__version__
        for package_name in BUILTIN_PACKAGES:
            package = importlib.import_module(f"mklkit.{package_name}")
            for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                module = importlib.import_module(info.name)
                self._register(module, info.name, BUILT_IN, version)

    def _load_third_party(self) -> None:
        for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: p.name):
            distribution, version = (
                ("unknown", "")
                if point.dist is None
                else (
                    point.dist.name,
                    point.dist.version,
                )
            )
            # Anything at all may go wrong while foreign code is imported (SystemExit included);
            # whatever it is, it is reported by name and the rest must keep working.
            try:
                module = point.load()
                self._register(module, f"{distribution}:{point.name}", distribution, version)
            except (Exception, SystemExit) as error:
                self._fail(point.name, distribution, error)

    def _fail(self, name: str, distribution: str, error: BaseException) -> None:
        # pluggy names the plugin first and says what is wrong with it lines below.
        whole = isinstance(error, pluggy.PluginValidationError)
        text = " ".join(str(error).split()) if whole else plain_message(error)
        message = f"{type(error).__name__}: {text}"
        failure = PluginFailure(name, distribution, message)
        self.failures.append(failure)
        warnings.warn(str(failure), PluginWarning, stacklevel=2)

    def _register(
        self, module: ModuleType, plugin_name: str, distribution: str, version: str
    ) -> None:
        """Register one plugin whole, or not at all."""
        found: list[Entry] = []
        types: list[type] = []
        self._manager.register(module, name=plugin_name)
        try:
            self._manager.check_pending()
            for kind, hook_name in KINDS.items():
                for target in self._ask(hook_name, plugin_name):
                    found.append(_entry(kind, target, distribution, version))
            types.extend(self._ask("mklkit_model_types", plugin_name))
            types.extend(entry.target for entry in found if isinstance(entry.target, type))
            for cls in types:
                if not isinstance(cls, type):
                    raise TypeError(f"mklkit_model_types must return classes, got {cls!r}")
            for entry in found:
                self._leave_built_ins_alone(entry)
        except BaseException:
            self._manager.unregister(name=plugin_name)
            raise
        for entry in found:
            self._entries.setdefault((entry.kind, entry.name), []).append(entry)
        for cls in types:
            full_name = f"{cls.__module__}.{cls.__qualname__}"
            self._model_types[full_name] = cls
            self._type_origins[full_name] = distribution

    def _leave_built_ins_alone(self, entry: Entry) -> None:
        # Were it only an error on use, as among plugins, one package could stop every default.
        claims = self._entries.get((entry.kind, entry.name), [])
        if any(claim.distribution == BUILT_IN != entry.distribution for claim in claims):
            word = entry.kind.replace("_", " ")
            raise PluginConflictError(
                f"its {word} {entry.name!r} has the name of one of {BUILT_IN}'s own"
            )

    def _ask(self, hook_name: str, plugin_name: str) -> list[Any]:
        caller = getattr(self._manager.hook, hook_name)
        answers: Iterable[Any] = ()
        for implementation in caller.get_hookimpls():
            if implementation.plugin_name == plugin_name:
                answers = implementation.function()
        return list(answers or ())


def _entry(kind: Kind, target: Any, distribution: str, version: str) -> Entry:
    name = getattr(target, "name", None)
    if not isinstance(name, str) or not name:
        raise TypeError(f"the {kind} {target!r} has no 'name'")
    method = REQUIRED_METHOD.get(kind)
    if method is not None and not (isinstance(target, type) and hasattr(target, method)):
        raise TypeError(f"the {kind} {name!r} must be a class with a '{method}' method")
    text = getattr(target, "help", None) if kind == "preset" else inspect.getdoc(target)
    return Entry(kind, name, target, distribution, version, (text or "").partition("\n")[0])


@lru_cache(maxsize=1)
def get_registry() -> Registry:
    """Return the registry of this process; ``MKLKIT_DISABLE_PLUGINS=1`` leaves plugins out."""
    switched_off = os.environ.get("MKLKIT_DISABLE_PLUGINS", "").strip().casefold()
    return Registry(third_party=switched_off in ("", "0", "false", "no"))
