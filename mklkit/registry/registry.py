"""The registry of components by name: built-ins and plugins, through the same hooks.

Whatever a module of the packages ``kernels``, ``feature_maps``, ``combiners``, ``learners``,
``missing``, ``tasks`` and ``presets`` registers is built in, so that a new strategy is one new
file. Plugins are found through the entry-point group ``mklkit``.
"""

from __future__ import annotations

import itertools
import sys
import threading
import warnings
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any, cast

import pluggy

from mklkit._version import __version__
from mklkit.errors import (
    PluginConflictError,
    PluginWarning,
    SpecError,
    UnknownNameError,
    cut,
    plain_message,
    quoted,
    suggest,
    type_name,
)
from mklkit.registry import hookspecs
from mklkit.registry.discovery import (
    ENTRY_POINT_GROUP,
    SWITCH,
    PluginFailure,
    canonical,
    installed_plugins,
    switched_off,
)
from mklkit.registry.entries import (
    BASES,
    HOOKS,
    Entry,
    Kind,
    faults_of,
    kind_of,
    make_entry,
    spoken,
)
from mklkit.registry.hookspecs import modules_of, registered_by
from mklkit.registry.specs import build, parse_spec

BUILT_IN = "mklkit"


class Registry:
    """The available components, by kind and name.

    Parameters
    ----------
    third_party : bool
        Whether installed plugins are loaded in addition to the built-ins.

    Examples
    --------
    >>> registry = Registry(third_party=False)
    >>> [entry.name for entry in registry.entries("feature_map")]
    ['empirical', 'fourier', 'implicit']
    >>> registry.create("kernel", "rbf(sigma='mean')")
    RBF(sigma='mean', gamma=None)
    """

    def __init__(self, third_party: bool = True) -> None:
        self.failures: list[PluginFailure] = []
        self._classes: set[type] = set()
        self._entries: dict[tuple[Kind, str], list[Entry]] = {}
        self._by_kind: dict[Kind, list[Entry]] = {}
        self._model_types: dict[str, tuple[type, str]] = {}
        self._hooks = pluggy.PluginManager("mklkit")
        self._hooks.add_hookspecs(hookspecs)
        for hook in HOOKS.values():
            for module in modules_of(hook.replace("_", ".", 1)):
                self._register(module, BUILT_IN, __version__)
        if third_party:
            self.load_plugins()

    def entries(self, kind: Kind) -> list[Entry]:
        """Return the entries of a kind, by name; a name registered twice appears twice."""
        if kind not in self._by_kind:
            claims = itertools.chain.from_iterable(self._entries.values())
            entries = [entry for entry in claims if entry.kind == kind]
            entries.sort(key=lambda entry: (entry.name, entry.distribution))
            self._by_kind[kind] = entries
        return list(self._by_kind[kind])

    def distributions(self) -> set[str]:
        """Return the distributions whose components are registered."""
        claims = itertools.chain.from_iterable(self._entries.values())
        return {entry.distribution for entry in claims}

    def lookup(self, kind: Kind, name: str) -> Entry:
        """Return the entry of a name.

        Raises
        ------
        UnknownNameError
            If the name is not registered; the most similar name is suggested.
        PluginConflictError
            If two distributions register it.
        """
        claims = self._entries.get((kind, name), [])
        if len(claims) == 1:
            return claims[0]
        word = spoken(kind)
        if claims:
            owners = sorted({claim.distribution for claim in claims})
            raise PluginConflictError(
                f"The {word} name {name!r} is registered by {' and '.join(owners)}: uninstall one"
                f" of them, or leave it out by {SWITCH}={owners[-1]}."
            )
        known = [entry.name for entry in self.entries(kind)]
        # A preset's name is looked up as typed, so it may be a spec string of another kind.
        bare = name.partition("(")[0].strip()
        others = tuple(o for o in HOOKS if o != kind and (o, bare) in self._entries)
        if (kind, bare) in self._entries:
            hint = f" Did you mean {bare!r}? A {word} has no parameters."
        elif others:
            hint = f" {bare!r} is a {spoken(others[0])}."
        else:
            hint = self._meant(kind, bare) or suggest(name, known)
        raise UnknownNameError(
            f"No {word} is named {quoted(name)}.{hint} Known: {', '.join(dict.fromkeys(known))}.",
            bare,
            others,
        )

    def _meant(self, kind: Kind, word: str) -> str:
        """Return a hint if a component's ``searched_as`` contains that word."""
        for entry in self.entries(kind):
            if kind != "preset" and word.casefold() in entry.target.searched_as:
                return f" Did you mean {entry.target.searched_as[word.casefold()]!r}?"
        return ""

    def create(self, kind: Kind, spec: object) -> Any:
        """Return the component of a spec string; a component object is returned unchanged.

        Parameters
        ----------
        kind : str
            ``"kernel"``, ``"feature_map"``, ``"combiner"``, ``"learner"``, ``"missing"``
            or ``"task"``.
        spec : str or component
            ``"rbf(sigma='mean')"``, a component, or a component class (built with its defaults).

        Raises
        ------
        SpecError
            If the string can't be read, a parameter is wrong, or an object is not a
            component.
        """
        if isinstance(spec, str):
            parsed = parse_spec(spec)
            entry = self.lookup(kind, parsed.name)
            return build(entry.target, parsed.args, parsed.kwargs, spec)
        base = BASES[kind]
        component = cast(Any, spec)
        derives = issubclass(spec if isinstance(spec, type) else type(spec), base)
        faults = list(faults_of(kind, component)) if derives else []
        if faults or not derives:
            raise SpecError(
                f"Expected a {spoken(kind)}: a name such as {self.entries(kind)[0].name!r}, a spec"
                f" string or a component derived from mklkit.plugin.{base.__name__}; got"
                f" {quoted(spec)}{', which ' if faults else ''}{'; it '.join(faults)}."
            )
        return build(spec, (), {}, spec.__name__) if isinstance(spec, type) else spec

    def model_types(self) -> dict[str, type]:
        """Return the classes that a model file may contain, by full name."""
        return {name: cls for name, (cls, _) in self._model_types.items()}

    def distribution_of(self, type_name: str) -> str | None:
        """Return the distribution that registered a class with that full name, if any."""
        _, distribution = self._model_types.get(type_name, (None, None))
        return distribution

    def load_plugins(self) -> None:
        """Load the installed plugins; those that fail are ignored, with a warning."""
        for plugin in installed_plugins(ENTRY_POINT_GROUP, self._fail):
            # Only results go to stdout. A script may end in sys.exit when it is imported.
            try:
                with redirect_stdout(sys.stderr):
                    self._register(plugin.load(), plugin.distribution, plugin.version)
            except (Exception, SystemExit) as error:
                # pluggy names the plugin first and gives the reason some lines below.
                invalid = isinstance(error, pluggy.PluginValidationError)
                text = cut(" ".join(str(error).split())) if invalid else plain_message(error)
                message = f"{type_name(error)}: {text}"
                self._fail(PluginFailure(plugin.name, plugin.distribution, message))

    def _fail(self, failure: PluginFailure) -> None:
        self.failures.append(failure)
        warnings.warn(str(failure), PluginWarning, stacklevel=2)

    def _register(self, module: ModuleType, distribution: str, version: str) -> None:
        """Register one plugin, completely or not at all."""
        classes = [cls for cls in registered_by(module) if cls not in self._classes]
        answers = self._answers(module)
        if distribution != BUILT_IN and not (classes or answers):
            raise TypeError(
                "it registers nothing: put @register above a class, or add a hook such as"
                f" @hookimpl def {HOOKS['kernel']}()"
            )
        targets = [(kind_of(cls), cls) for cls in classes]
        for kind, hook_name in HOOKS.items():
            targets += [(kind, target) for target in answers.get(hook_name, ())]
        entries = [
            make_entry(kind, target, distribution, version)
            for kind, target in targets
            if kind is not None
        ]
        self._refuse_taken_names(entries)
        types = [*classes, *answers.get("mklkit_model_types", ())]
        types += [entry.target for entry in entries if entry.kind != "preset"]
        for cls in types:
            if not isinstance(cls, type):
                raise TypeError(f"mklkit_model_types must return classes, got {quoted(cls)}")
        self._classes.update(classes)
        self._by_kind.clear()
        for entry in entries:
            self._entries.setdefault((entry.kind, entry.name), []).append(entry)
        for cls in types:
            # The first to list a class keeps it: a plugin may list a class of another package.
            full_name = f"{cls.__module__}.{cls.__qualname__}"
            self._model_types.setdefault(full_name, (cls, distribution))

    def _refuse_taken_names(self, entries: list[Entry]) -> None:
        """Raise an error for the name of a built-in, or one that a package registers twice.

        Conflicts between two packages are an error only on use, so that both can be installed.
        """
        names: set[tuple[Kind, str]] = set()
        for entry in entries:
            key = (entry.kind, entry.name)
            origins = {canonical(claim.distribution) for claim in self._entries.get(key, [])}
            name = f"{spoken(entry.kind)} {entry.name!r}"
            if key in names or canonical(entry.distribution) in origins:
                raise PluginConflictError(f"it has the {name} twice")
            if BUILT_IN in origins:
                # If this were an error on use, one package could disable every default.
                raise PluginConflictError(f"its {name} has the name of a component of {BUILT_IN}")
            names.add(key)

    def _answers(self, module: ModuleType) -> dict[str, list[Any]]:
        """Return the results of the hooks that a module implements."""
        self._hooks.register(module)
        answers: dict[str, list[Any]] = {}
        for caller in self._hooks.get_hookcallers(module) or ():
            if not caller.has_spec():
                raise TypeError(f"mklkit has no hook {caller.name}")
            for implementation in caller.get_hookimpls():
                if implementation.plugin is module:
                    components: Any = implementation.function()
                    answers[caller.name] = list(components or ())
        return answers


_lock = threading.RLock()
_of_this_process: list[Registry] = []


def get_registry() -> Registry:
    """Return the registry of this process.

    It holds the built-in components and those of installed plugins, which it loads when it is first
    used. The environment variable ``MKLKIT_DISABLE_PLUGINS=1`` disables all plugins, and
    ``MKLKIT_DISABLE_PLUGINS=NAME`` a package. A plugin that calls the function during its import
    gets the registry that is being filled.

    Returns
    -------
    Registry
        With ``entries(kind)``, ``lookup(kind, name)`` and ``create(kind, spec)``.

    Warns
    -----
    mklkit.errors.PluginWarning
        If a plugin could not be loaded; everything else keeps working.

    See Also
    --------
    mklkit.plugin.register : The decorator that registers a component.

    Examples
    --------
    >>> registry = get_registry()
    >>> registry.create("kernel", "rbf(sigma=2)")
    RBF(sigma=2, gamma=None)
    >>> registry.lookup("combiner", "uniform").distribution
    'mklkit'
    """
    with _lock:
        if not _of_this_process:
            registry = Registry(third_party=False)
            _of_this_process.append(registry)
            try:
                if not switched_off():
                    registry.load_plugins()
            except BaseException:
                _of_this_process.clear()
                raise
        return _of_this_process[0]


def forget_registry() -> None:
    """Discard the registry, so that the next call finds newly installed plugins."""
    with _lock:
        _of_this_process.clear()
