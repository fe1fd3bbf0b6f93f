"""Write a page per registered component, and one list of them: what ``mklkit list`` shows."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from writing import write_if_changed

import mklkit
from mklkit.registry.entries import Entry, Kind

KINDS: dict[Kind, tuple[str, str]] = {
    "kernel": ("Kernels", "-k"),
    "feature_map": ("Feature maps", "--map"),
    "combiner": ("Combiners", "--combiner"),
    "learner": ("Learners", "--learner"),
    "missing": ("Strategies for missing sources", "--missing"),
    "preset": ("Presets", "--preset"),
}
TEXT = """Components by name
==================

What a spec string such as ``rbf(sigma='mean')`` may name, on the command line, in Python and in
model files; the same as ``mklkit list``. A name leads to its parameters, errors, source and an
example. Components of other packages are listed where these are installed.
"""


def cell(text: str) -> str:
    """Return a summary as it may stand in a table of reST."""
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|")


def table(kind: Kind, entries: list[Entry]) -> str:
    """Return the table of one kind."""
    title, _ = KINDS[kind]
    lines = [title, "-" * len(title), "", ".. list-table::", "   :header-rows: 1", ""]
    lines += ["   * - name", "     - what it does", "     - package"]
    for entry in entries:
        name = f"``{entry.name}``" if kind == "preset" else f":doc:`components/{page(entry)}`"
        lines += [f"   * - {name}", f"     - {cell(entry.help)}", f"     - {entry.distribution}"]
    return "\n".join([*lines, ""])


def page(entry: Entry) -> str:
    """Return the name of a component's page."""
    return f"{entry.kind.replace('_', '-')}-{entry.name}"


def described(entry: Entry) -> str:
    """Return the page of a component: how to name it, and its docstring."""
    _, option = KINDS[entry.kind]
    target = entry.target
    lines = [entry.name, "=" * len(entry.name), ""]
    lines += [f"``{option} {entry.name}`` on the command line; package {entry.distribution}.", ""]
    # The rooms of mklkit export the classes of their components.
    built_in = target.__module__.startswith("mklkit.")
    module = ".".join(target.__module__.split(".")[:2]) if built_in else target.__module__
    lines += [f".. currentmodule:: {module}", "", f".. autoclass:: {target.__name__}"]
    return "\n".join([*lines, ""])


def write(app: Sphinx, _: Config) -> None:
    """Write the list and the pages."""
    registry = mklkit.get_registry()
    folder = Path(app.srcdir) / "reference"
    text, pages = [TEXT], []
    for kind in KINDS:
        entries = registry.entries(kind)
        text.append(table(kind, entries))
        if kind != "preset":
            pages += [page(entry) for entry in entries]
            for entry in entries:
                write_if_changed(folder / "components" / f"{page(entry)}.rst", described(entry))
    hidden = [
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   components/{name}" for name in pages),
        "",
    ]
    write_if_changed(folder / "components.rst", "\n".join([*text, *hidden]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx reads what there is."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
