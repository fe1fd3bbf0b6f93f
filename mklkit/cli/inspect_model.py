"""``mklkit inspect``: the contents of a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import show, show_json, show_result
from mklkit.cli.tables import (
    chosen_line,
    learned_line,
    model_line,
    scores_tables,
    weights_table,
)
from mklkit.display.numbers import significant, whole
from mklkit.display.table import Column, ResultTable
from mklkit.display.terminal import Fact, facts_grid, terminal_table
from mklkit.errors import counted

if TYPE_CHECKING:
    from mklkit.protocols import Task

COLUMNS_OF_KERNEL = 8
COLUMNS_OF_MODEL = 40
"""More columns are not printed; --json shows all."""


def inspect_model(
    model: opt.ModelFile,
    methods: Annotated[
        bool,
        typer.Option(
            "--methods",
            help="Print what to report instead: sentences for a Methods section, and BibTeX.",
        ),
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show the contents of a model file: data, columns, components, weights, scores, versions.

    The model itself is not loaded.
    """
    from mklkit.errors import ModelFileError
    from mklkit.persistence import read_metadata

    metadata = read_metadata(model)
    if as_json and not methods:
        show_json(metadata)
        return
    try:
        if methods:
            from mklkit.evaluation.methods_section import methods_of_model

            text, bibtex = methods_of_model(metadata)
            section = {"text": text, "bibtex": bibtex}
            show_result(section, as_json, lambda: show(text, "", bibtex), None)
        else:
            _report(metadata)
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError) as error:
        # The facts in a file may be anything; those of 'mklkit fit' are complete.
        raise ModelFileError(
            f"{model} is damaged: its facts are not those that mklkit writes ({error!r})."
            " --json shows them unchanged."
        ) from error


def _report(metadata: dict[str, Any]) -> None:
    model = metadata["model"]
    lines: list[Fact] = []
    if "data" in metadata:
        data = metadata["data"]
        shape = f"{counted(data['rows'], 'sample')}, {counted(len(data['columns']), 'feature')}"
        line = f"{data['name']}: {shape}, target {data['target']!r} ({data['origin']})"
        lines.append(("data", [line, *data["notes"]]))
        if data.get("weights") is not None:
            lines.append(("weights", f"of samples, from the column {data['weights']!r}"))
        if data.get("groups") is not None:
            number = model.get("groups")
            groups = "" if number is None else f"{counted(number, 'group')}, "
            lines.append(("groups", f"{groups}by the column {data['groups']!r}"))
    if "preprocessing" in metadata:
        lines.append(("steps", metadata["preprocessing"] + metadata.get("advice", [])))
    if "kernels" in model:
        lines.append(model_line(model, metadata.get("choices", [])))
        lines += chosen_line(model)
        names = [column["name"] for column in model.get("input", [])]
        lines.append(("kernels", [_kernel_line(kernel, names) for kernel in model["kernels"]]))
    if "rows" in model and "seconds" in metadata:
        lines.append(("samples", learned_line(metadata)))
    if "learns" in model and "classes" not in model:
        lines.append(("learns", model["learns"]))
    if "classes" in model:
        lines.append(("classes", _classes(model)))
    for plugin in metadata["plugins"]:
        lines.append(("plugin", f"{plugin['distribution']} {plugin['version']}"))
    versions = ", ".join(f"{name} {version}" for name, version in metadata["versions"].items())
    tables = []
    if "scores" in metadata:
        tables = scores_tables(_task(metadata), metadata["scores"], metadata.get("score"))
    show(*tables[:1])
    if "weights" in model and "kernels" in model:
        show(weights_table(model))
    show(facts_grid([*lines, ("written by", versions)]), *tables[1:])
    if "input" in model:
        show(terminal_table(columns_table(model["input"])))


def _task(metadata: dict[str, Any]) -> Task:
    """Return the task of a model with scores."""
    from mklkit.registry.tasks import task_named

    return task_named(metadata["model"]["task"])


def _classes(model: dict[str, Any]) -> str:
    """Return the class labels, with their weights if they have any."""
    labels = [str(label) for label in model["classes"]]
    if model.get("class_weight") is not None:
        pairs = zip(labels, model["class_weight"], strict=True)
        labels = [f"{label} (weight {significant(weight, 3)})" for label, weight in pairs]
    return ", ".join(labels)


def _kernel_line(kernel: dict[str, Any], every: list[str]) -> str:
    """Return a kernel's name, its spec string and which of the columns ``every`` it reads."""
    from mklkit.datasets.columns import by_source

    name, spec, columns = kernel["name"], kernel["spec"], kernel["columns"]
    named = name if name == spec else f"{name}: {spec}"
    if columns is None:
        return f"{named} on all columns"
    shown = by_source([str(column) for column in columns], every)
    more = len(shown) - COLUMNS_OF_KERNEL
    several = f" and {more} more (--json shows them)" if more > 0 else ""
    return f"{named} on {', '.join(shown[:COLUMNS_OF_KERNEL])}{several}"


def columns_table(columns: list[dict[str, Any]]) -> ResultTable:
    """Return a table of the input columns: what each was taken for, and its gaps in training.

    Many columns are shown as one sample per source, by the beginning of their names.
    """
    from mklkit.datasets.columns import source_of

    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for column in columns:
        source = source_of(column["name"]) if len(columns) > COLUMNS_OF_MODEL else column["name"]
        alike.setdefault((source, _taken_for(column)), []).append(column)
    rows = []
    for (source, taken_for), members in alike.items():
        gaps = sum(column["gaps"] for column in members)
        name = members[0]["name"] if len(members) == 1 else f"{source} ({len(members)} columns)"
        rows.append({"name": name, "taken_for": taken_for, "gaps": gaps or None})
    shown = [
        Column("name", "column"),
        Column("taken_for", "taken for"),
        Column("gaps", "gaps", whole, absent=""),
    ]
    return ResultTable(shown, rows).first(COLUMNS_OF_MODEL, "(--json shows them)")


def _taken_for(column: dict[str, Any]) -> str:
    if column["kind"] == "identifier":
        return "identifier, dropped"
    if column.get("kept"):
        return "kept for kernels"
    if column["kind"] == "category":
        return f"category, {counted(column['values'], 'value')}"
    return f"{column['kind']} ({column['reading']})" if "reading" in column else column["kind"]
