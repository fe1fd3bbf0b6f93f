"""Write the reference's lists of public names from those in the code: none can be missed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Literal

from sphinx.application import Sphinx
from sphinx.config import Config
from writing import write_if_changed

import mklkit
from mklkit.registry.entries import Kind

__all__ = ["listed", "setup"]

# What has no docstring of its own: names of types, and of lists.
ALIASES = (GenericAlias, UnionType, type(Literal[0]), tuple)
# The layers of the architecture, as the titles of a reference.
TITLES = {
    "estimators": "Estimators",
    "comparison": "Comparing methods",
    "evaluation": "Evaluation",
    "explanation": "What a model uses",
    "plotting": "Figures",
    "datasets": "Tables to numbers",
    "persistence": "Model files",
    "kernels": "Kernels",
    "feature_maps": "Feature maps",
    "combiners": "Combiners",
    "learners": "Learners",
    "protocols": "Protocols and what they exchange",
    "registry": "Registry",
    "views": "Views: kernels on rows",
    "numerics": "Numerical helpers",
    "errors": "Errors and warnings",
}
MODULES = {
    "evaluation": ("mklkit.evaluation", "Splits, scores, cross-validation and statistical tests."),
    "datasets": ("mklkit.datasets", "Reading tables, and the built-in data sets."),
    "testing": ("mklkit.testing", "The checks that every component must pass."),
}


def listed(title: str, text: str, groups: dict[str, list[str]], module: str) -> str:
    """Return a page of names by group, each with a page of its own."""
    home = import_module(module)
    parts = [title, "=" * len(title), "", text, "", f".. currentmodule:: {module}", ""]
    for name, members in groups.items():
        if name:
            parts += [name, "-" * len(name), ""]
        ordered = sorted(members, key=str.lower)
        aliases = [one for one in ordered if isinstance(getattr(home, one), ALIASES)]
        elsewhere = [one for one in ordered if _has_its_page(one, module)]
        own = [one for one in ordered if one not in (*aliases, *elsewhere)]
        if own:
            parts += [".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
            parts += [*(f"   {one}" for one in own), ""]
        if elsewhere:
            parts += [".. autosummary::", "   :nosignatures:", ""]
            home_of = "" if module == "mklkit" else "~mklkit."
            parts += [*(f"   {home_of}{one}" for one in elsewhere), ""]
        for one in aliases:
            parts += [f"``{one}``", f"   ``{getattr(home, one)}``", ""]
    return "\n".join(parts)


def _has_its_page(name: str, module: str) -> bool:
    """Say whether a name is a component, or has its page among those of ``mklkit``."""
    if module != "mklkit":
        return name in mklkit.__all__
    registry = mklkit.get_registry()
    kinds: tuple[Kind, ...] = ("kernel", "feature_map", "combiner", "learner")
    targets = [entry.target for kind in kinds for entry in registry.entries(kind)]
    return any(getattr(mklkit, name) is target for target in targets)


def by_layer(table: dict[str, str]) -> dict[str, list[str]]:
    """Return the names of a table ``{module: names}`` by the title of their layer."""
    groups: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for module, names in table.items():
        layer = module.partition(".")[0]
        if layer != "_version":
            groups[TITLES[layer]] += names.split()
    return {title: names for title, names in groups.items() if names}


def write(app: Sphinx, _: Config) -> None:
    """Write a page for users, one for authors of components, and one per public module."""
    folder = Path(app.srcdir) / "reference"
    users = "Estimators, components, figures, model files and errors: ``from mklkit import NAME``."
    authors = (
        "Protocols, templates, views and numerical helpers. Plugins need no other names; the "
        "packages of this project use no others."
    )
    pages = {
        "users": listed("For users", users, by_layer(mklkit.FOR_USERS), "mklkit"),
        "authors": listed(
            "For authors of components", authors, by_layer(mklkit.FOR_AUTHORS), "mklkit"
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
