"""The hooks that a plugin may implement, each returning a list.

A plugin is an importable module named by an entry point of the group ``mklkit``. It marks any of
these functions with :data:`hookimpl`. Built-in components use the same hooks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from mklkit.protocols import Combiner, FeatureMap, Kernel, Learner
    from mklkit.protocols.preset import Preset

__all__ = ["ENTRY_POINT_GROUP", "hookimpl", "hookspec"]

ENTRY_POINT_GROUP = "mklkit"

hookspec = pluggy.HookspecMarker("mklkit")
hookimpl = pluggy.HookimplMarker("mklkit")


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
def mklkit_presets() -> Iterable[Preset]:  # type: ignore[empty-body]
    """Return presets: kernels, map, combiner and learner under one name."""


@hookspec
def mklkit_model_types() -> Iterable[type]:  # type: ignore[empty-body]
    """Return further classes that occur in model files with the plugin's fitted objects.

    Component classes need not be listed. A model file with a class that no installed plugin
    lists is refused.
    """
