"""``mklkit inspect``: the contents of a model file."""

from __future__ import annotations

from typing import Any

from mklkit.cli import options as opt
from mklkit.cli.console import show, show_json

__all__ = ["inspect_model"]

COLUMNS_SHOWN = 8


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
    from mklkit.cli.report import columns_grid, facts_grid, model_lines
    from mklkit.cli.tables import scores_tables, weights_table
    from mklkit.estimators.introspection import shortened

    model = facts["model"]
    lines: list[tuple[str, str | list[str]]] = []
    if "data" in facts:
        lines.append(("data", _data_lines(facts["data"])))
        if facts["data"].get("weights") is not None:
            lines.append(("weights", f"of rows, from the column {facts['data']['weights']!r}"))
    if "preprocessing" in facts:
        lines.append(("steps", facts["preprocessing"]))
    if "kernels" in model:
        named = [_kernel_line(kernel) for kernel in model["kernels"]]
        lines += [
            ("model", [model_lines(model), *shortened(facts.get("choices", []))]),
            ("kernels", named),
        ]
    if model.get("task") == "regression":
        lines.append(("learns", "numbers"))
    if "classes" in model:
        lines.append(("classes", _classes(model)))
    for plugin in facts["plugins"]:
        lines.append(("plugin", f"{plugin['distribution']} {plugin['version']}"))
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines.append(("written by", versions))
    show(facts_grid(lines))
    if "input" in model:
        show(columns_grid(model["input"]))
    if "weights" in model and "kernels" in model:
        show(weights_table(model))
    if "scores" in facts:
        show(*scores_tables(facts["scores"]))


def _classes(model: dict[str, Any]) -> str:
    """Return the class labels, with their weights where they have any."""
    labels = [str(label) for label in model.get("classes", [])]
    weights = model.get("class_weight")
    if weights is None:
        return ", ".join(labels)
    pairs = zip(labels, weights, strict=True)
    return ", ".join(f"{label} (weight {weight:.3g})" for label, weight in pairs)


def _kernel_line(kernel: dict[str, Any]) -> str:
    """Return a kernel's name, its spec string and its columns."""
    name, spec, columns = kernel["name"], kernel["spec"], kernel["columns"]
    named = name if name == spec else f"{name}: {spec}"
    if columns is None:
        return f"{named} on all columns"
    shown = ", ".join(str(column) for column in columns[:COLUMNS_SHOWN])
    more = len(columns) - COLUMNS_SHOWN
    rest = f" and {more} more (--json shows them)" if more > 0 else ""
    return f"{named} on {shown}{rest}"


def _data_lines(data: dict[str, Any]) -> list[str]:
    from mklkit.errors import counted

    shape = f"{counted(data['rows'], 'row')}, {counted(len(data['columns']), 'feature')}"
    target = f"target {data['target']!r}"
    return [f"{data['name']}: {shape}, {target} ({data['origin']})", *data["notes"]]
