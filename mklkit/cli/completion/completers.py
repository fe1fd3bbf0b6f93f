"""Completions of options and arguments, for ``autocompletion`` of Typer's parameters.

Each function returns all completions with a remark; Typer keeps those that begin with what is
typed. Columns and files with spaces or characters special to a shell are not offered: Typer's
scripts don't quote them, and the one for zsh would run code in a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from glob import escape, glob, has_magic
from pathlib import Path

import typer

from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME, ORIGINS
from mklkit.datasets.formats import FORMATS, format_of, imported, path_and_layer
from mklkit.errors import MKLKitError

Named = list[tuple[str, str]]

# Characters that no shell interprets.
PLAIN = re.compile(r"[\w@%+=:,./-]+")

# [label:]kernel[(parameters)]@: what comes before the columns of a kernel.
BEFORE_COLUMNS = re.compile(r"\s*(?:[A-Za-z_][\w. -]*:\s*)?[A-Za-z_][\w.-]*(?:\(.*\))?\s*@")
BEFORE_KERNEL = re.compile(r"\s*(?:[A-Za-z_][\w. -]*:)?\s*")


def _of_kind(*kinds: str) -> Callable[[str], Named]:
    """Return a function that returns the names of some kinds; Typer reads its signature."""

    def completer(incomplete: str) -> Named:
        from mklkit.cli.completion.names import known_names

        return [pair for kind in kinds for pair in known_names()[kind].items()]

    return completer


combiners = _of_kind("combiner")
feature_maps = _of_kind("feature_map")
learners = _of_kind("learner")
missing = _of_kind("missing")
presets = _of_kind("preset")
tasks_by_name = _of_kind("task")
packages = _of_kind("package")
components = _of_kind("kernel", "feature_map", "combiner", "learner", "missing", "task", "preset")


def tasks(incomplete: str) -> Named:
    """Return all tasks, and the word for the one that the target looks like."""
    return [("auto", "by the values of the target"), *tasks_by_name(incomplete)]


def kernels(ctx: typer.Context, incomplete: str) -> Named:
    """Return all kernels, also after a label; after ``@`` the columns of the table given."""
    before = BEFORE_COLUMNS.match(incomplete)
    if before is None:
        label = BEFORE_KERNEL.match(incomplete)
        start = label.group() if label else ""
        auto = "auto", "kernel and scaling of each source chosen from the training samples"
        proposed = [] if start else [auto]
        known = _of_kind("kernel")(incomplete)
        return [(f"{start}{name}", help) for name, help in (*known, *proposed)]
    *chosen, _ = incomplete[before.end() :].split(",")
    start = before.group() + "".join(f"{column}," for column in chosen)
    columns = [name for name, _ in feature_columns(ctx, incomplete) if name not in chosen]
    return [(f"{start}{name}", "") for name in columns]


def table_columns(ctx: typer.Context, incomplete: str) -> Named:
    """Return the columns of the table that is given on the same command line."""
    # While an option lacks its value, the words before it are not yet arguments.
    arguments = [each.name for each in ctx.command.params if each.param_type_name == "argument"]
    tables = ctx.args[arguments.index("data") :] or ctx.params.get("data") or DEFAULT_NAME
    table = tables if isinstance(tables, str) else tables[0]
    return [(name, "") for name in columns_of(table) if PLAIN.fullmatch(name)]


def feature_columns(ctx: typer.Context, incomplete: str) -> Named:
    """Return the columns of the table without its target, as far as that is known."""
    columns = table_columns(ctx, incomplete)
    targets = ctx.params.get("target") or "target"
    targets = [targets] if isinstance(targets, str) else targets
    return [(name, remark) for name, remark in columns if name not in targets]


def data_sets(incomplete: str) -> Named:
    """Return the built-in data sets, and files: a shell offers these only where there are none."""
    files = [(name, "") for name in glob(f"{escape(incomplete)}*") if PLAIN.fullmatch(name)]
    names = [(name, ORIGINS.get(name, "built into scikit-learn")) for name in BUILTIN_NAMES]
    return names + files if any(name.startswith(incomplete) for name, _ in names) else []


def efforts(incomplete: str) -> Named:
    """Return the words for how long a search may take."""
    return [("fast", "a few values of each parameter"), ("thorough", "all values")]


def balanced(incomplete: str) -> Named:
    """Return the one word for weights of classes."""
    return [("balanced", "rare classes count as much as frequent ones")]


def columns_of(data: str) -> list[str]:
    """Return the columns of DATA as typed; for a folder or glob, those of its first file."""
    from mklkit.cli.completion.names import known_names
    from mklkit.datasets.paths import user_path

    built_in: list[str] | None = known_names()["data"].get(data)
    if built_in is not None:
        return built_in
    with suppress(MKLKitError, OSError, ValueError, ImportError):
        path = _first_file(path_and_layer(user_path(data))[0])
        known = None if path is None else format_of(path)
        if known is not None and known.header is not None:
            columns: list[str] = imported(known.header)(path)
            return columns
    return []


def _first_file(path: Path) -> Path | None:
    """Return a regular file; reading anything else, such as a pipe, might block."""
    if has_magic(str(path)) and not path.exists():
        inside = [Path(name) for name in sorted(glob(str(path)))]
    elif path.is_dir():
        inside = sorted(path.iterdir())
    else:
        inside = [path]
    endings = tuple(ending for each in FORMATS if each.header for ending in each.endings)
    known = (file for file in inside if file.name.lower().endswith(endings) and file.is_file())
    return next(known, None)
