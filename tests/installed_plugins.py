"""Plugins that happen to be installed are hidden: only this repository's and tests' own count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from mklkit.registry import discovery

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ("mklkit", "mklkit_commands")


def hide_others() -> None:
    """Leave out, in this process, other plugins that are installed when the tests begin."""
    hidden = set(_of_others())

    def shown() -> Iterator[Distribution]:
        return (each for each in distributions() if _folder(each) not in hidden)

    discovery.distributions = shown  # type: ignore[assignment]


def _of_others() -> Iterator[Any]:
    """Yield the metadata folders of installed plugins that are not in this repository."""
    ours = {folder.name for folder in (ROOT / "plugins").iterdir()} | {"mklkit"}
    for distribution in distributions():
        plugs = True
        with suppress(Exception):  # Damaged packages are hidden, too.
            of_mklkit = any(point.group in GROUPS for point in distribution.entry_points)
            plugs = of_mklkit and discovery.canonical(distribution.metadata["Name"]) not in ours
        if plugs:
            yield _folder(distribution)


def _folder(distribution: Distribution) -> Any:
    return getattr(distribution, "_path", distribution)
