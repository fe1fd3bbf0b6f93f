"""Which types a model file may hold.

Safety rests on skops: a file names types, and a type is looked up only after every name in the
file has been found among skops' own defaults (scikit-learn's estimators, NumPy's arrays) or the
classes that mklkit and the installed plugins registered. Nothing is imported before that, and
nothing in a file is ever run.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = [
    "MODEL_MEMBER",
    "installed_version",
    "listed",
    "plugin_records",
    "plugins_in",
    "refusal",
    "registered_types",
    "unknown_types",
]

MODEL_MEMBER = "schema.json"


def registered_types() -> dict[str, type]:
    """Return the classes that a model file may hold besides skops' own defaults."""
    from mklkit.ensembles import MKLVotingClassifier, RPEMEKLClassifier
    from mklkit.estimators import MKLClassifier
    from mklkit.multiclass import BinaryProblem
    from mklkit.preprocessing import TableEncoder
    from mklkit.registry import get_registry
    from mklkit.selection.ifsl_cv import IFSLClassifierCV

    # The registry knows components; these hold them.
    own: tuple[type, ...] = (
        TableEncoder,
        MKLClassifier,
        IFSLClassifierCV,
        MKLVotingClassifier,
        RPEMEKLClassifier,
        BinaryProblem,
    )
    return get_registry().model_types() | {
        f"{cls.__module__}.{cls.__qualname__}": cls for cls in own
    }


def unknown_types(archive: bytes) -> list[str]:
    """Return the types in an archive that are neither skops' defaults nor registered."""
    from skops.io import get_untrusted_types

    registered = registered_types()
    return [name for name in get_untrusted_types(data=archive) if name not in registered]


def plugins_in(archive: bytes) -> list[dict[str, Any]]:
    """Return the plugins whose types an archive holds: distribution, version and types."""
    from mklkit.registry import get_registry

    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        schema = json.loads(zip_file.read(MODEL_MEMBER))
    found: dict[str, set[str]] = {}
    for name in _type_names(schema):
        distribution = get_registry().distribution_of(name)
        if distribution not in (None, "mklkit"):
            found.setdefault(str(distribution), set()).add(name)
    return [
        {
            "distribution": distribution,
            "version": installed_version(distribution) or "",
            "types": sorted(types),
        }
        for distribution, types in sorted(found.items())
    ]


def _type_names(schema: Any) -> Iterator[str]:
    """Yield the full name of every type in a skops schema."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "__class__" in node and "__module__" in node:
                yield f"{node['__module__']}.{node['__class__']}"
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def refusal(path: Path, unknown: list[str], plugins: list[Any]) -> str:
    """Say why a file is not loaded, and which plugin would help by its own account."""
    homes = {name: plugin for plugin in plugin_records(plugins) for name in plugin["types"]}
    needed = [homes[name]["distribution"] for name in unknown if name in homes]
    message = f"{path} is not loaded: {listed(unknown)} registered by nothing that is installed."
    if needed:
        names = ", ".join(dict.fromkeys(needed))
        message += (
            f" The file says it was written with the plugin {names}: install it if you trust it"
            " (and leave MKLKIT_DISABLE_PLUGINS unset)."
        )
    return message


def plugin_records(plugins: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the well-formed records: what a file says of itself may be anything."""
    for plugin in plugins:
        if (
            isinstance(plugin, dict)
            and re.fullmatch(r"[\w.-]{1,80}", str(plugin.get("distribution", "")), re.ASCII)
            and isinstance(plugin.get("types"), list)
        ):
            yield {"version": "", **plugin, "types": [str(name) for name in plugin["types"]]}


def listed(names: list[str]) -> str:
    """Return ``the type 'a' is``, ``the types 'a', 'b' are``."""
    shown = ", ".join(repr(name) for name in names)
    return f"the type {shown} is" if len(names) == 1 else f"the types {shown} are"


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None where it has none to be read."""
    with suppress(Exception):  # Its metadata may be damaged, and say anything.
        return version(distribution)
    return None
