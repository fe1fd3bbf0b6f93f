"""``mklkit inspect``: the contents of a model file."""

from __future__ import annotations

from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli import options as opt
from mklkit.cli.console import plain, show, show_json
from mklkit.cli.tables import Fact, facts_grid, grid, model_line, scores_tables, weights_table
from mklkit.errors import counted

COLUMNS_OF_KERNEL = 8
COLUMNS_OF_MODEL = 40
"""More columns are not printed; --json shows all."""


def inspect_model(model: opt.ModelFile, as_json: opt.AsJson = False) -> None:
    """Show the contents of a model file: data, columns, components, weights, scores, versions.

    The model itself is not loaded.
    """
    from mklkit.errors import ModelFileError
    from mklkit.persistence import read_facts

    facts = read_facts(model)
    if as_json:
        # The rows on which the model was tried when it was saved are for the loader only.
        show_json({key: value for key, value in facts.items() if key != "trial"})
        return
    try:
        _report(facts)
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError) as error:
        # The facts in a file may be anything; those of 'mklkit fit' are complete.
        raise ModelFileError(
            f"{model} is damaged: its facts are not those that mklkit writes ({error!r})."
            " --json shows them unchanged."
        ) from error


def _report(facts: dict[str, Any]) -> None:
    model = facts["model"]
    lines: list[Fact] = []
    if "data" in facts:
        data = facts["data"]
        shape = f"{counted(data['rows'], 'row')}, {counted(len(data['columns']), 'feature')}"
        line = f"{data['name']}: {shape}, target {data['target']!r} ({data['origin']})"
        lines.append(("data", [line, *data["notes"]]))
        if data.get("weights") is not None:
            lines.append(("weights", f"of rows, from the column {data['weights']!r}"))
    if "preprocessing" in facts:
        lines.append(("steps", facts["preprocessing"]))
    if "kernels" in model:
        lines.append(model_line(model, facts.get("choices", [])))
        lines.append(("kernels", [_kernel_line(kernel) for kernel in model["kernels"]]))
    if model.get("task") == "regression":
        lines.append(("learns", "numbers"))
    if "classes" in model:
        lines.append(("classes", _classes(model)))
    for plugin in facts["plugins"]:
        lines.append(("plugin", f"{plugin['distribution']} {plugin['version']}"))
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    show(facts_grid([*lines, ("written by", versions)]))
    if "input" in model:
        show(_columns_grid(model["input"]))
    if "weights" in model and "kernels" in model:
        show(weights_table(model))
    if "scores" in facts:
        show(*scores_tables(facts["scores"]))


def _classes(model: dict[str, Any]) -> str:
    """Return the class labels, with their weights where they have any."""
    labels = [str(label) for label in model["classes"]]
    if model.get("class_weight") is not None:
        pairs = zip(labels, model["class_weight"], strict=True)
        labels = [f"{label} (weight {weight:.3g})" for label, weight in pairs]
    return ", ".join(labels)


def _kernel_line(kernel: dict[str, Any]) -> str:
    """Return a kernel's name, its spec string and its columns."""
    name, spec, columns = kernel["name"], kernel["spec"], kernel["columns"]
    named = name if name == spec else f"{name}: {spec}"
    if columns is None:
        return f"{named} on all columns"
    shown = ", ".join(str(column) for column in columns[:COLUMNS_OF_KERNEL])
    more = len(columns) - COLUMNS_OF_KERNEL
    return f"{named} on {shown}{f' and {more} more (--json shows them)' if more > 0 else ''}"


def _columns_grid(columns: list[dict[str, Any]]) -> Grid:
    """Return a table of the input columns: what each was taken for, and its gaps in training."""
    table = grid("column", words=["taken for"])
    table.add_column("gaps", justify="right")
    for column in columns[:COLUMNS_OF_MODEL]:
        cells = (column["name"], _taken_for(column), column["gaps"] or "")
        table.add_row(*(Text(plain(cell)) for cell in cells))
    if len(columns) > COLUMNS_OF_MODEL:
        table.add_row(f"{len(columns) - COLUMNS_OF_MODEL} more", "--json shows them", "")
    return table


def _taken_for(column: dict[str, Any]) -> str:
    if column["kind"] == "identifier":
        return "identifier, left out"
    if column.get("kept"):
        return "kept for kernels"
    if column["kind"] == "category":
        return f"category, {counted(column['values'], 'value')}"
    return f"{column['kind']} ({column['reading']})" if "reading" in column else column["kind"]
