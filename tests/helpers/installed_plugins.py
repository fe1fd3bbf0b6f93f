"""Plugins that happen to be installed are left out: only this repository's and tests' own count."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from mklkit.registry.discovery import SWITCH, canonical, folder_name

ROOT = Path(__file__).resolve().parents[2]


def leave_out_others() -> None:
    """Leave out other plugins, in this process and in those that tests start."""
    os.environ[SWITCH] = ",".join(sorted(set(_others())))


def _others() -> Iterator[str]:
    ours = {folder.name for folder in (ROOT / "plugins").iterdir()} | {"mklkit"}
    for distribution in distributions():
        points = distribution.read_text("entry_points.txt") or ""
        # Of a damaged package, no more than the name of its folder can be read.
        name = canonical(folder_name(distribution))
        if "mklkit" in points and name not in ours:
            yield name
