"""Registration of a plugin's components: the decorator, and the hooks that it may implement.

A plugin is an importable module named by an entry point of the group ``mklkit``. Its classes that
are decorated by :func:`register` are registered; functions marked with :data:`hookimpl` return
further ones, each a list. Built-in components are registered in the same way.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module, util
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

if TYPE_CHECKING:
    from mklkit.protocols import Combiner, FeatureMap, Kernel, Learner, Missing, Preset, Task

hookspec = pluggy.HookspecMarker("mklkit")
hookimpl = pluggy.HookimplMarker("mklkit")

Registered = TypeVar("Registered", bound=type)
_registered: dict[str, type] = {}


def register(decorated: Registered) -> Registered:
    """Register a component class, or a fitted class that model files may contain.

    A component derives from :class:`~mklkit.plugin.Kernel`, :class:`~mklkit.plugin.FeatureMap`,
    :class:`~mklkit.plugin.Combiner`, :class:`~mklkit.plugin.Learner`,
    :class:`~mklkit.plugin.Missing` or :class:`~mklkit.plugin.Task`; any other class is that of a
    fitted object. The decorator goes above ``@attrs.frozen``.

    Parameters
    ----------
    decorated : type
        The class.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    TypeError
        If it is not a class. A component that lacks something that its kind requires makes its
        plugin fail to load, with a warning that names it.

    See Also
    --------
    hookimpl : The decorator of functions that return further components and presets.

    Examples
    --------
    >>> @register
    ... class Fitted:
    ...     pass
    >>> Fitted.__name__
    'Fitted'
    """
    if not isinstance(decorated, type):
        raise TypeError(f"@register decorates classes, got {decorated!r}")
    _registered[f"{decorated.__module__}.{decorated.__qualname__}"] = decorated
    return decorated


def registered_by(module: object) -> list[type]:
    """Return the decorated classes of a module: its own, its submodules', and imported ones."""
    if not isinstance(module, ModuleType):
        return []
    name = module.__name__
    names = {id(value) for value in vars(module).values()}
    package = name.partition(".")[0]
    return [
        cls
        for cls in _registered.values()
        if f"{cls.__module__}.".startswith(f"{name}.")
        or (cls.__module__.partition(".")[0] == package and id(cls) in names)
    ]


def modules_of(room: str) -> Iterator[ModuleType]:
    """Import and yield the modules of a package."""
    for info in pkgutil.walk_packages(import_module(room).__path__, f"{room}."):
        yield import_module(info.name)


def exports(
    room: str, base: type, templates: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``, which export component classes.

    These are the registered ones of its modules that derive from a base, and ``templates`` by name.
    The modules are imported when a class is first used.

    Examples
    --------
    >>> import mklkit.kernels
    >>> mklkit.kernels.Linear()
    Linear()
    """

    @cache
    def exported() -> dict[str, type]:
        modules = list(modules_of(room))
        classes = (cls for module in modules for cls in registered_by(module))
        named = {cls.__name__: cls for cls in classes if issubclass(cls, base)}
        return named | {key: vars(m)[key] for m in modules for key in templates if key in vars(m)}

    def find(name: str) -> Any:
        # Python looks up special names, and modules before it imports them.
        if name.startswith("_") or util.find_spec(f"{room}.{name}") or name not in exported():
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return exported()[name]

    return find, lambda: sorted(exported())


@hookspec
def mklkit_kernels() -> Iterable[type[Kernel]]:  # type: ignore[empty-body]
    """Return kernel classes; each has a ``name``."""


@hookspec
def mklkit_feature_maps() -> Iterable[type[FeatureMap]]:  # type: ignore[empty-body]
    """Return feature map classes; each has a ``name``."""


@hookspec
def mklkit_combiners() -> Iterable[type[Combiner]]:  # type: ignore[empty-body]
    """Return combiner classes; each has a ``name``."""


@hookspec
def mklkit_learners() -> Iterable[type[Learner]]:  # type: ignore[empty-body]
    """Return learner classes; each has a ``name``."""


@hookspec
def mklkit_missing() -> Iterable[type[Missing]]:  # type: ignore[empty-body]
    """Return strategies for samples with a missing source; each has a ``name``."""


@hookspec
def mklkit_tasks() -> Iterable[type[Task]]:  # type: ignore[empty-body]
    """Return classes of tasks; each has a ``name``."""


@hookspec
def mklkit_presets() -> Iterable[Preset]:  # type: ignore[empty-body]
    """Return presets: kernels, map, combiner and learner under one name."""


@hookspec
def mklkit_model_types() -> Iterable[type]:  # type: ignore[empty-body]
    """Return further classes that occur in model files with the plugin's fitted objects.

    Component classes need not be listed. A model file with a class that no installed plugin
    lists raises an error.
    """
