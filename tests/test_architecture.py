"""The layout is the picture: a room for each idea, and imports that point one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import ROOT

PACKAGE = ROOT / "mklkit"

# From the bottom to the top: a room imports rooms before it, never one after it.
ROOMS = (
    "display",
    "numerics",
    "protocols",
    "views",
    "registry",
    "kernels",
    "feature_maps",
    "combiners",
    "learners",
    "presets",
    "estimators",
    "evaluation",
    "datasets",
    "preprocessing",
    "persistence",
    "plotting",
    "explanation",
    "comparison",
    "reproduction",
    "testing",
    "scaffold",
    "cli",
)
LOOSE = ("__init__", "__main__", "_version", "errors", "plugin")
STRATEGIES = ("kernels", "feature_maps", "learners", "combiners", "presets")


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the modules of mklkit that a file imports, those for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"mklkit.{alias.name}" for alias in node.names]
            yield from names if node.module == "mklkit" else [node.module]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def files_of(room: str) -> list[Path]:
    return [path for path in sorted((PACKAGE / room).rglob("*.py")) if not is_template(path)]


def is_template(path: Path) -> bool:
    """Return whether a file is what the scaffold writes for others, and no part of the package."""
    return path.is_relative_to(PACKAGE / "scaffold" / "templates")


def test_every_module_is_in_a_room() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert modules == set(LOOSE)
    assert rooms == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_one_way(room: str) -> None:
    above = ROOMS[ROOMS.index(room) + 1 :]
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files_of(room)
        for module in imported_modules(path)
        if module.startswith("mklkit.") and module.split(".")[1] in above
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in STRATEGIES])
def test_the_core_knows_no_strategy(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files_of(room)
        for module in imported_modules(path)
        if module.startswith("mklkit.")
        and module.split(".")[1] in STRATEGIES
        and "templates" not in module
        # A paper's module is of its systems.
        and not path.stem.startswith("paper_")
    ]
    assert not wrong, "\n".join(wrong)
