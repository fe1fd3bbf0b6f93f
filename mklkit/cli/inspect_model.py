"""``mklkit inspect``: what is in a model file."""

from __future__ import annotations

from typing import Any

from mklkit.cli import options as opt
from mklkit.cli.console import show, show_json

__all__ = ["inspect_model"]

PARTS = {"train": "train", "held_out": "held out"}


def inspect_model(model: opt.ModelFile, as_json: opt.AsJson = False) -> None:
    """Show what is in a model file: data, components, kernel weights, scores, versions.

    The model itself is not loaded.
    """
    from mklkit.errors import ModelFileError
    from mklkit.persistence import read_facts

    facts = read_facts(model)
    if as_json:
        show_json(facts)
        return
    try:
        _report(facts)
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError) as error:
        # The facts are whatever the file says; 'mklkit fit' writes all of these.
        raise ModelFileError(
            f"{model} is damaged: its facts are not those that mklkit writes ({error!r})."
            " --json shows them as they are."
        ) from error


def _report(facts: dict[str, Any]) -> None:
    from mklkit.cli.report import facts_grid, model_lines, scores_grid
    from mklkit.cli.weight_table import weights_grid

    model = facts["model"]
    lines: list[tuple[str, str | list[str]]] = []
    if "data" in facts:
        lines.append(("data", _data_lines(facts["data"])))
    if "preprocessing" in facts:
        lines.append(("steps", facts["preprocessing"]))
    if "kernels" in model:
        named = [_kernel_line(kernel["name"], kernel["spec"]) for kernel in model["kernels"]]
        lines += [("model", [model_lines(model), *facts.get("choices", [])]), ("kernels", named)]
    classes = ", ".join(str(label) for label in model.get("classes", []))
    lines.append(("classes", classes or "not recorded"))
    for plugin in facts["plugins"]:
        lines.append(("plugin", f"{plugin['distribution']} {plugin['version']}"))
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines.append(("written by", versions))
    show(facts_grid(lines))
    if "weights" in model and "kernels" in model:
        show(weights_grid(model))
    if "scores" in facts:
        show(scores_grid({PARTS[part]: score for part, score in facts["scores"].items()}))


def _kernel_line(name: str, spec: str) -> str:
    return name if name == spec else f"{name}: {spec}"


def _data_lines(data: dict[str, Any]) -> list[str]:
    counted = f"{data['rows']} rows, {len(data['columns'])} features, target {data['target']!r}"
    return [f"{data['name']}: {counted} ({data['origin']})", *data["notes"]]
