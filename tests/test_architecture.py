"""The layout is the picture: layers, and imports that point one way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from helpers.documents import ROOT, needs_checkout

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
    "learners",
    "combiners",
    "missing",
    "presets",
    "estimators",
    "datasets",
    "persistence",
    "evaluation",
    "plotting",
    "tasks",
    "explanation",
    "comparison",
    "cli",
)
LOOSE = ("__init__", "__main__", "_version", "errors", "plugin")
STRATEGIES = ("kernels", "feature_maps", "learners", "combiners", "missing", "presets", "tasks")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the modules of mklkit that a file imports, those for type checkers too."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"mklkit.{alias.name}" for alias in node.names]
            yield from names if node.module == "mklkit" else [node.module]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imported_in_use(node: ast.AST) -> Iterator[str]:
    """Yield what a file imports when it runs, in its functions too, as modules or their names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module is not None:
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        yield from imported_in_use(child)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_in_circles() -> list[str]:
    """Return the modules that import themselves by way of others; a folder's own file apart."""
    paths = {module_name(path): path for path in python_files(PACKAGE) if path.parent != PACKAGE}
    imports = {
        name: {module for module in imported_in_use(tree_of(path)) if module in paths}
        - {name.rpartition(".")[0], name}
        for name, path in paths.items()
    }
    reached = {name: set(direct) for name, direct in imports.items()}
    for middle, onwards in reached.items():
        for reach in reached.values():
            if middle in reach:
                reach.update(onwards)
    return [name for name, reach in reached.items() if name in reach]


@needs_checkout
def test_packages_of_strategies_use_public_names_only() -> None:
    of_commands = {"mklkit_authors", "mklkit_papers"}
    public = {"mklkit", "mklkit.plugin", "mklkit.plotting", "mklkit.evaluation"}
    public |= {f"mklkit.{room}" for room in STRATEGIES}
    for path in ROOT.glob("plugins/*/mklkit_*/*.py"):
        for node in ast.walk(tree_of(path)):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if module.partition(".")[0] == "mklkit" and path.parent.name not in of_commands:
                names = {alias.name for alias in node.names}
                assert module in public, path
                assert names <= {*dir(import_module(module))}, path


def test_imports_have_no_circles() -> None:
    assert not modules_in_circles()


def test_every_module_is_in_a_room() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert modules == set(LOOSE)
    assert rooms == set(ROOMS)


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for place, room in enumerate(ROOMS)
        for path in python_files(PACKAGE / room)
        for module in imported_modules(path)
        if module.startswith("mklkit.") and module.split(".")[1] in ROOMS[place + 1 :]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_core_knows_no_strategy() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for room in ROOMS
        if room not in STRATEGIES
        for path in python_files(PACKAGE / room)
        for module in imported_modules(path)
        if module.startswith("mklkit.")
        and module.split(".")[1] in STRATEGIES
        and "templates" not in module
    ]
    assert not wrong, "\n".join(wrong)


@needs_checkout
def test_pages_name_what_is_there() -> None:
    sources = [
        path for room in (PACKAGE, ROOT / "plugins", ROOT / "tests") for path in python_files(room)
    ]
    wrong = []
    for page in [*(ROOT / "docs" / "papers").rglob("*.md"), ROOT / "docs" / "architecture.md"]:
        text = page.read_text(encoding="utf-8")
        for file, names in re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, )?)+)", text):
            code = " ".join(
                path.read_text(encoding="utf-8") for path in sources if path.match(file)
            )
            words = set(re.findall(r"\w+", code))
            wrong += [
                f"{page.name}: {name} in {file}" for name in {*re.findall(r"\w+", names)} - words
            ]
    assert not wrong, "\n".join(wrong)
