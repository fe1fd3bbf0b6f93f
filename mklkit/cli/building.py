"""From the command line's options to a pipeline that can be fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from mklkit.datasets import Table
    from mklkit.presets.base import Preset
    from mklkit.registry import Kind

__all__ = ["ModelOptions", "build_model", "default_choices", "read_data", "with_preset"]

DEFAULT_COMBINER = "uniform"
DEFAULT_SCALE = "standard"


@attrs.frozen
class ModelOptions:
    """What the user asked for; None where it is left to the preset, combiner or default."""

    kernels: list[str] | None
    feature_map: str | None
    combiner: str | None
    learner: str | None
    multiclass: str
    preset: str | None
    scale: str | None
    seed: int
    jobs: int | None
    tune: bool = False


def build_model(options: ModelOptions) -> Any:
    """Return the unfitted pipeline: encode, scale, classify.

    Raises
    ------
    SpecError
        If a name is unknown or a spec string can't be read: before any data are.
    """
    from mklkit.estimators import MKLClassifier
    from mklkit.preprocessing import build_pipeline
    from mklkit.registry import get_registry
    from mklkit.specs import parse_kernel_spec

    registry = get_registry()
    preset = None if options.preset is None else registry.lookup("preset", options.preset).target
    chosen = with_preset(options, preset)
    for kernel in chosen.kernels or []:
        registry.create("kernel", parse_kernel_spec(kernel).spec)
    given: dict[Kind, str | None] = {
        "combiner": chosen.combiner,
        "feature_map": chosen.feature_map,
        "learner": chosen.learner,
    }
    for kind, spec in given.items():
        if spec is not None:
            registry.create(kind, spec)
    settings: dict[str, Any] = {
        "kernels": chosen.kernels or None,
        "feature_map": chosen.feature_map,
        "combiner": chosen.combiner or DEFAULT_COMBINER,
        "learner": chosen.learner,
        "multiclass": chosen.multiclass,
        "random_state": chosen.seed,
        "n_jobs": chosen.jobs,
    }
    classifier: Any
    if chosen.tune:
        from mklkit.selection.ifsl_cv import IFSLClassifierCV

        classifier = IFSLClassifierCV(**settings)
    else:
        classifier = MKLClassifier(**settings)
    if preset is not None and preset.members > 1:
        from mklkit.ensembles import MKLVotingClassifier

        classifier = MKLVotingClassifier(classifier, preset.members, random_state=chosen.seed)
    return build_pipeline(classifier, scale=chosen.scale or DEFAULT_SCALE)


def with_preset(options: ModelOptions, preset: Preset | None) -> ModelOptions:
    """Return the options with a preset's where none was given."""
    if preset is None:
        return options
    return attrs.evolve(
        options,
        kernels=options.kernels or (list(preset.kernels) if preset.kernels else None),
        feature_map=options.feature_map or preset.feature_map,
        combiner=options.combiner or preset.combiner,
        learner=options.learner or preset.learner,
        scale=options.scale or preset.scale,
    )


def default_choices(options: ModelOptions) -> list[str]:
    """Say what was filled in before the estimator saw the options, a line each."""
    if options.preset is not None:
        given = {
            "--kernel": options.kernels,
            "--feature-map": options.feature_map,
            "--combiner": options.combiner,
            "--learner": options.learner,
        }
        overriding = [name for name, value in given.items() if value]
        note = f" ({', '.join(overriding)} as given)" if overriding else ""
        return [f"preset {options.preset}{note}"]
    lines = []
    if not options.kernels:
        lines.append("kernels linear, rbf and polynomial: the default")
    if options.combiner is None:
        lines.append(f"combiner {DEFAULT_COMBINER}: the default")
    return lines


def read_data(data: str | None, target: str | None) -> tuple[Table, dict[str, Any]]:
    """Read the data to learn from, and the facts about them."""
    from mklkit.cli.options import DEFAULT_DATA
    from mklkit.datasets import load_table

    table = load_table(DEFAULT_DATA if data is None else data, target)
    notes = list(table.notes)
    if data is None:
        notes.insert(0, f"no DATA was given: the built-in {DEFAULT_DATA} data are used")
    counts = table.class_counts()
    facts = {
        "name": table.name,
        "origin": table.origin,
        "rows": len(table.features),
        "columns": table.features.columns.tolist(),
        "target": str(table.target.name),
        "classes": [{"label": label, "rows": rows} for label, rows in counts.items()],
        "notes": notes,
    }
    return table, facts
