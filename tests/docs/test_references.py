"""Every cross-reference leads somewhere: links, anchors, paths, modules and names, without a build.

Sphinx checks links between pages of the site once it is built. This reads the sources, also the
README, the pages of packages, and docstrings, whose unknown names Sphinx leaves as they are.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs
import pytest
from helpers.documents import MADE, PAGES, ROOT

PACKAGES = sorted(path.parent for path in ROOT.glob("plugins/*/mklkit_*/__init__.py"))
READ_ELSEWHERE = [
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
    *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("plugins/*/README.md"))),
]
DOCUMENTS = [*PAGES, *READ_ELSEWHERE]
TUTORIALS = "docs/guides/plugins/"
"""Pages whose readers write the files that they name."""
PEERS = "docs/guides/moving/"
"""Pages that name the files of other libraries."""

LISTING = re.compile(r"^```(?!\{).*?^```$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(
    r"^```\{include\} (tables/\S+)\n```$|(?<=\n\n)\[[^\]]+\]\((tables/\S+\.md)\)$", re.MULTILINE
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
TERM = re.compile(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?:[\w-]+/)*[\w-]+\.py|(?:[\w-]+/)+")
NAME_BESIDE_PATH = re.compile(r"`(\w+)`s? \(`((?:\w+/)*\w+\.py)`\)")
DOTTED = re.compile(r"mklkit(?:_\w+)?(?:\.[A-Za-z_]\w*)+")
ROLE = re.compile(r":(?:py:)?(class|func|meth|mod|attr|data|exc):`[~!]?([\w.]+)`")


@cache
def text_of(page: str) -> str:
    """Return a page with the tables that it includes, as its readers see it."""
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    return INCLUDED.sub(
        lambda match: (path.parent / (match[1] or match[2])).read_text("utf-8"), text
    )


@cache
def prose_of(page: str) -> str:
    """Return a page without its listings."""
    return LISTING.sub("", text_of(page))


@cache
def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, by the rule of MyST and of code forges."""
    titles = (LINK.sub("]", title) for title in HEADING.findall(prose_of(page)))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@cache
def module_docstrings() -> dict[Path, str]:
    """Return the docstrings of mklkit's modules, with literals written as on pages."""
    paths = sorted(ROOT.glob("mklkit/**/*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    return {
        path: (ast.get_docstring(tree) or "").replace("``", "`") for path, tree in trees.items()
    }


@cache
def sources() -> frozenset[str]:
    """Return the paths of all Python files, and of their folders with a slash at the end."""
    rooms = ("mklkit", "tests", "plugins", "docs", "examples")
    files = [path.relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("*.py")]
    folders = {folder for file in files for folder in file.parents}
    return frozenset(f"/{path.as_posix()}" for path in files) | {
        f"/{path.as_posix()}/" for path in folders
    }


def sources_named(name: str) -> list[str]:
    """Return the sources whose paths end so."""
    return [path for path in sources() if path.endswith(f"/{name}")]


def is_made(path: Path) -> bool:
    """Return whether the build of the site makes a page, of the gallery from its program."""
    if path.parent == ROOT / "docs" / "gallery":
        return (ROOT / "examples" / f"{path.stem}.py").exists()
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix() in MADE


@pytest.mark.parametrize("page", DOCUMENTS)
def test_links_lead_to_files_and_headings(page: str) -> None:
    lost = []
    for link in LINK.findall(prose_of(page)):
        address, _, anchor = link.partition("#")
        target = (ROOT / page).parent.joinpath(address).resolve() if address else ROOT / page
        if ":" in address or is_made(target):
            continue
        if not target.exists():
            lost.append(link)
        elif anchor and target.suffix == ".md":
            lost += [link] * (anchor not in anchors(target.relative_to(ROOT).as_posix()))
    assert not lost, f"{page} links to {', '.join(lost)}"


def test_terms_are_in_the_glossary() -> None:
    glossary = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    terms = {term for page in PAGES for term in TERM.findall(prose_of(page))}
    assert len(terms) > 5
    assert terms <= {*glossary.splitlines()}


def test_modules_and_folders_exist() -> None:
    lost = [
        f"{page}: {path}"
        for page in DOCUMENTS
        if not page.startswith((TUTORIALS, PEERS))
        for path in CODE.findall(prose_of(page))
        if PATH.fullmatch(path) and "NAME" not in path and not sources_named(path)
    ]
    assert not lost, "; ".join(lost)


def test_files_of_docstrings_exist() -> None:
    lost = [
        f"{place}: {path}"
        for place, text in module_docstrings().items()
        for path in CODE.findall(text)
        if PATH.fullmatch(path)
        and not any((folder / path).exists() for folder in (place.parent, ROOT / "mklkit", ROOT))
    ]
    assert not lost, "; ".join(lost)


def test_names_are_in_the_module_beside_which_they_stand() -> None:
    """As in "`make_splits` (`protocols/splits/making.py`)"."""
    texts: dict[Any, str] = {page: prose_of(page) for page in DOCUMENTS} | module_docstrings()
    pairs = [
        (place, name, module)
        for place, text in texts.items()
        for name, module in NAME_BESIDE_PATH.findall(text)
    ]
    assert len(pairs) > 10
    lost = [
        f"{place}: {name} is not in {module}"
        for place, name, module in pairs
        if not any(name in names_defined(path) for path in sources_named(module))
    ]
    assert not lost, "; ".join(lost)


@cache
def names_defined(path: str) -> frozenset[str]:
    """Return the names of functions, classes, their members and constants in a module."""
    tree = ast.parse(ROOT.joinpath(path[1:]).read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(defined | stored)


def resolve(dotted: str) -> Any:
    """Return the object of a dotted name; raise a LookupError if there is none."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            owner: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            owner = member(owner, part)
        return owner
    raise LookupError(dotted)


def member(owner: Any, name: str) -> Any:
    """Return an attribute of a module or class, or its type where it is only annotated."""
    if hasattr(owner, name):
        return getattr(owner, name)
    for base in owner.__mro__ if inspect.isclass(owner) else ():
        if name in inspect.get_annotations(base):
            return inspect.get_annotations(base)[name]
    raise LookupError(f"{owner!r} has no {name}")


def is_installed(dotted: str) -> bool:
    """Return whether the package of a dotted name can be imported here."""
    return find_spec(dotted.partition(".")[0]) is not None


def is_object(dotted: str) -> bool:
    """Return whether a dotted name leads to an object."""
    try:
        resolve(dotted)
    except LookupError:
        return False
    return True


def test_dotted_names_of_pages_are_objects() -> None:
    names = [
        (page, name)
        for page in DOCUMENTS
        for name in CODE.findall(prose_of(page))
        if DOTTED.fullmatch(name) and not name.endswith(".py") and is_installed(name)
    ]
    assert len(names) > 20
    lost = [f"{page}: {name}" for page, name in names if not is_object(name)]
    assert not lost, "; ".join(lost)


@attrs.frozen
class Documented:
    """A docstring, its module, and the class if it is one of a class or of its members."""

    module: str
    owner: str | None
    text: str


def docstrings(package: Path) -> Iterator[Documented]:
    """Yield the docstrings of a package, also of what is private, and of constants."""
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package.parent).with_suffix("")
        module = ".".join(place.parts).removesuffix(".__init__")
        pending: list[tuple[Any, str | None]] = [(ast.parse(path.read_text("utf-8")), None)]
        while pending:
            node, owner = pending.pop()
            inside = node.name if isinstance(node, ast.ClassDef) and owner is None else owner
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield Documented(module, inside, str(node.value.value))
            pending += [(child, inside) for child in ast.iter_child_nodes(node)]


def meanings(role: str, name: str, place: Documented) -> list[str]:
    """Return the full names that a name in a docstring may stand for, as for Sphinx."""
    package = place.module.rpartition(".")[0] or place.module
    if name.startswith("."):
        return [f"{package}{name}"]
    owners = [f"{place.module}.{place.owner}"] if role in ("meth", "attr") and place.owner else []
    # The pages of the reference are those of these two modules.
    return [
        name,
        *(f"{owner}.{name}" for owner in (*owners, place.module, "mklkit", "mklkit.plugin")),
    ]


@pytest.mark.parametrize("package", [ROOT / "mklkit", *PACKAGES], ids=lambda path: path.name)
def test_names_in_docstrings_are_objects(package: Path) -> None:
    if not is_installed(package.name):
        pytest.skip(f"{package.name} is not installed")
    lost = [
        f"{place.module}: {name}"
        for place in docstrings(package)
        for role, name in ROLE.findall(place.text)
        if not any(map(is_object, meanings(role, name, place)))
    ]
    assert not lost, "; ".join(lost)
