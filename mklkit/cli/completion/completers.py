"""What can be typed for an option or argument, for ``autocompletion`` of Typer's parameters.

Each function returns completions of the whole word with a remark, also those that do not begin with
what is typed: Typer leaves these out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import typer

from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME, ORIGINS

__all__ = [
    "balanced",
    "combiners",
    "components",
    "data_sets",
    "efforts",
    "feature_columns",
    "feature_maps",
    "kernels",
    "learners",
    "packages",
    "presets",
    "table_columns",
]

Named = list[tuple[str, str]]

# [label:]kernel[(parameters)]@: what comes before the columns of a kernel.
BEFORE_COLUMNS = re.compile(r"\s*(?:[A-Za-z_][\w. -]*:\s*)?[A-Za-z_][\w.-]*(?:\(.*\))?\s*@")
BEFORE_KERNEL = re.compile(r"\s*(?:[A-Za-z_][\w. -]*:)?\s*")


def _of_kind(kind: str) -> Callable[[str], Named]:
    """Return a function that returns the names of a kind; Typer reads its signature."""

    def completer(incomplete: str) -> Named:
        return _named(kind)

    return completer


combiners, feature_maps, learners, presets, packages = map(
    _of_kind, ("combiner", "feature_map", "learner", "preset", "package")
)


def components(incomplete: str) -> Named:
    """Return the names of every kind."""
    kinds = ("kernel", "feature_map", "combiner", "learner", "preset")
    return [pair for kind in kinds for pair in _named(kind)]


def kernels(ctx: typer.Context, incomplete: str) -> Named:
    """Return all kernels, also after a label; after ``@`` the columns of the table given."""
    before = BEFORE_COLUMNS.match(incomplete)
    if before is None:
        label = BEFORE_KERNEL.match(incomplete)
        start = label.group() if label else ""
        proposed = [] if start else [("auto", "kernels proposed from the training rows")]
        return [(f"{start}{name}", help) for name, help in (*_named("kernel"), *proposed)]
    *chosen, _ = incomplete[before.end() :].split(",")
    start = before.group() + "".join(f"{column}," for column in chosen)
    columns = [name for name, _ in feature_columns(ctx, incomplete) if name not in chosen]
    return [(f"{start}{name}", "") for name in columns]


def table_columns(ctx: typer.Context, incomplete: str) -> Named:
    """Return the columns of the table that is given in the same command line."""
    from mklkit.cli.completion.columns import columns_of

    tables = ctx.params.get("data") or [DEFAULT_NAME]
    return [(name, "") for name in columns_of(tables[0])]


def feature_columns(ctx: typer.Context, incomplete: str) -> Named:
    """Return the columns of the table without its target, as far as that is known."""
    columns = table_columns(ctx, incomplete)
    target = (ctx.params.get("target") or ["target"])[-1]
    return [(name, remark) for name, remark in columns if name != target]


def data_sets(incomplete: str) -> Named:
    """Return the built-in data sets; files are the shell's part."""
    return [(name, ORIGINS.get(name, "built into scikit-learn")) for name in BUILTIN_NAMES]


def efforts(incomplete: str) -> Named:
    """Return the words for how long a search may take."""
    return [("fast", "a few values of each parameter"), ("thorough", "all values")]


def balanced(incomplete: str) -> Named:
    """Return the one word for weights of classes."""
    return [("balanced", "rare classes count as much as frequent ones")]


def _named(kind: str) -> Named:
    from mklkit.cli.completion.names import known_names

    return list(known_names()[kind].items())
