"""Write the reference's lists of public names from those in the code: none can be missed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Literal

from sphinx.application import Sphinx
from sphinx.config import Config
from writing import write_if_changed

# What has no docstring of its own: names of types, and of lists.
ALIASES = (GenericAlias, UnionType, type(Literal[0]), tuple)
# The layers of the architecture, as the titles of a reference.
TITLES = {
    "estimators": "Estimators",
    "comparison": "Comparing methods",
    "evaluation": "Evaluation",
    "explanation": "What a model uses",
    "datasets": "Tables to numbers",
    "persistence": "Model files",
    "combiners": "Combiners",
    "learners": "Learners",
    "protocols": "Protocols and what they exchange",
    "registry": "Registry",
    "views": "Views: kernels on rows",
    "numerics": "Numerical helpers",
    "display": "Sections of a report",
    "errors": "Errors and warnings",
}
MODULES = {
    "evaluation": ("mklkit.evaluation", "Splits, scores, cross-validation and statistical tests."),
    "datasets": ("mklkit.datasets", "Reading tables, and the built-in data sets."),
    "plotting": ("mklkit.plotting", "Figures, as scikit-learn's display objects."),
    "testing": ("mklkit_authors.testing", "The checks that every component must pass."),
}


def listed(title: str, text: str, groups: dict[str, list[str]], module: str) -> str:
    """Return a page of names by group, each with a page of its own."""
    home = import_module(module)
    parts = [title, "=" * len(title), "", text, "", f".. currentmodule:: {module}", ""]
    for name, members in groups.items():
        if name:
            parts += [name, "-" * len(name), ""]
        ordered = sorted(members, key=str.lower)
        aliases = [item for item in ordered if isinstance(getattr(home, item), ALIASES)]
        elsewhere = {item: page for item in ordered if (page := _page_of(item, module)) != module}
        documented = [item for item in ordered if item not in (*aliases, *elsewhere)]
        if documented:
            parts += [".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
            parts += [*(f"   {item}" for item in documented), ""]
        if elsewhere:
            parts += [".. autosummary::", "   :nosignatures:", ""]
            parts += [*(f"   ~{page}.{item}" for item, page in elsewhere.items()), ""]
        for item in aliases:
            parts += [f"``{item}``", f"   ``{getattr(home, item)}``", ""]
    return "\n".join(parts)


def _page_of(item: str, module: str) -> str:
    """Return the module on whose page a name is documented: the first that exports it."""
    homes = ("mklkit", "mklkit.plugin")
    before = homes[: homes.index(module)] if module in homes else homes
    value = getattr(import_module(module), item)
    for home in map(import_module, before):
        if item in home.__all__ and getattr(home, item) is value:
            return home.__name__
    return module


def by_layer(module: str) -> dict[str, list[str]]:
    """Return a module's public names by the title of the layer that defines them."""
    home = import_module(module)
    groups: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for name in home.__all__:
        origin = getattr(getattr(home, name), "__module__", "")
        layer = origin.split(".")[1] if origin.startswith("mklkit.") else "protocols"
        if name != "__version__":
            groups[TITLES[layer]].append(name)
    return {title: names for title, names in groups.items() if names}


def write(app: Sphinx, _: Config) -> None:
    """Write a page for users, one for authors of components, and one per public module."""
    folder = Path(app.srcdir) / "reference"
    users = (
        "Estimators, model files and errors: ``from mklkit import NAME``. Classes of components "
        "are in ``mklkit.kernels``, ``mklkit.feature_maps``, ``mklkit.combiners`` and "
        "``mklkit.learners``."
    )
    authors = (
        "Bases, facts, templates and numerical helpers: ``from mklkit.plugin import NAME``. "
        "Plugins need no other names; the packages of this project use no others."
    )
    pages = {
        "users": listed("For users", users, by_layer("mklkit"), "mklkit"),
        "authors": listed(
            "For authors of components", authors, by_layer("mklkit.plugin"), "mklkit.plugin"
        ),
    }
    for page, (module, text) in MODULES.items():
        names = list(import_module(module).__all__)
        pages[page] = listed(module, text, {"": names}, module)
    for page, text in pages.items():
        write_if_changed(folder / f"{page}.rst", text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx reads what there is."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
