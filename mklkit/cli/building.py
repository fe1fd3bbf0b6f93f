"""From the command line's options to an unfitted pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.errors import UnknownNameError, cut, named, quoted

if TYPE_CHECKING:
    from mklkit.datasets import Table
    from mklkit.registry.registry import Kind

__all__ = [
    "ModelOptions",
    "build_model",
    "in_context",
    "read_data",
    "settle_columns",
    "steps_of",
    "weights_for",
]

DEFAULT_COMBINER = "uniform"
OPTION_OF: dict[str, str] = {
    "kernel": "--kernel",
    "feature_map": "--feature-map",
    "combiner": "--combiner",
    "learner": "--learner",
    "preset": "--preset",
}


@attrs.frozen
class ModelOptions:
    """The user's options; None leaves a choice to the preset, combiner or default."""

    kernels: list[str] | None
    feature_map: str | None
    combiner: str | None
    learner: str | None
    multiclass: str
    bandwidths: str
    preset: str | None
    scale: str | None
    seed: int
    jobs: int | None
    tune: str | None = None
    max_memory: str | None = None
    probability: bool = False
    class_weight: str | None = None


def build_model(options: ModelOptions) -> Any:
    """Return the unfitted pipeline: encode, scale, classify.

    Raises
    ------
    SpecError
        If a name is unknown or a spec string is invalid; the data have not been read then.
    """
    from mklkit.preprocessing import preset_pipeline
    from mklkit.protocols.component import Preset
    from mklkit.registry.composing import are_proposed, kernel_list
    from mklkit.registry.registry import get_registry
    from mklkit.registry.specs import parse_kernel_spec

    registry = get_registry()
    preset = Preset("default", "The defaults.", DEFAULT_COMBINER)
    if options.preset is not None:
        with _naming_the_right_option("preset", options.preset):
            preset = registry.lookup("preset", options.preset).target
    kernels = options.kernels or preset.kernels
    for kernel in [] if are_proposed(kernels) else kernel_list(kernels):
        spec = parse_kernel_spec(kernel).spec
        with _naming_the_right_option("kernel", spec):
            registry.create("kernel", spec)
    parts: dict[Kind, str | None] = {
        "combiner": options.combiner or preset.combiner,
        "feature_map": options.feature_map or preset.feature_map,
        "learner": options.learner or preset.learner,
    }
    for kind, part in parts.items():
        if part is not None:
            with _naming_the_right_option(kind, part):
                registry.create(kind, part)
    return preset_pipeline(
        preset,
        scale=options.scale,
        tune=options.tune,
        random_state=options.seed,
        kernels=options.kernels or None,
        multiclass=options.multiclass,
        bandwidths=options.bandwidths,
        n_jobs=options.jobs,
        max_memory=options.max_memory,
        probability=options.probability,
        class_weight=_class_weight(options),
        **parts,
    )


def _class_weight(options: ModelOptions) -> str | dict[str, float] | None:
    from mklkit.cli.options import weights_by_class

    return None if options.class_weight is None else weights_by_class(options.class_weight)


@contextmanager
def _naming_the_right_option(wanted: Kind, spec: str) -> Iterator[None]:
    """Name the right option in the error if a name was given to the wrong one."""
    try:
        yield
    except UnknownNameError as error:
        # The unknown name may be one inside the parentheses, which no option takes.
        if not error.other_kinds or spec.partition("(")[0].strip() != error.name:
            raise
        ways = [
            f"a {kind.replace('_', ' ')}: {OPTION_OF[kind]} {cut(quote(spec))}"
            for kind in error.other_kinds
        ]
        raise UnknownNameError(
            f"No {wanted.replace('_', ' ')} is named {quoted(error.name)};"
            f" {error.name} is {', or '.join(ways)}"
        ) from error


def in_context(
    options: ModelOptions, data_facts: dict[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    """Return a command's result with the data, the options and what was chosen by default."""
    choices = _default_choices(options) + result["choices"]
    context = {"data": data_facts, "preset": options.preset, "seed": options.seed}
    return {**context, **result, "choices": choices}


def _default_choices(options: ModelOptions) -> list[str]:
    """Return a line for each choice that was made before the estimator got the options."""
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
        lines.append("kernels cosine(linear), rbf and cosine(polynomial): the default")
    if options.combiner is None:
        lines.append(f"combiner {DEFAULT_COMBINER}: the default")
    return lines


def steps_of(table: Table, pipeline: Any) -> list[str]:
    """Return a line for each preprocessing step of the columns."""
    from mklkit.preprocessing import describe

    dropped = [f"{named(table.dropped)} left out, as asked"] if table.dropped else []
    return dropped + describe(pipeline)


def read_data(
    pipeline: Any,
    data: str | None,
    target: str | None,
    drop: list[str] | None,
    kernels: list[str] | None,
    weights: str | None = None,
    task: str = "classification",
) -> tuple[Table, dict[str, Any]]:
    """Read the training data, and facts about them.

    Identifier columns and the readings of text are found here and set in the pipeline, so that
    they do not depend on a split. The rows are numbered from 1, so that messages after a split
    refer to the file's rows.

    Raises
    ------
    DataError
        If a kernel names a column that was dropped, is the target or holds identifiers.
    """
    import pandas as pd

    from mklkit.datasets import load_table
    from mklkit.datasets.builtin import DEFAULT_NAME
    from mklkit.preprocessing.kernel_columns import kernels_in, text_columns

    written = text_columns(kernels_in(pipeline[-1]))
    source = DEFAULT_NAME if data is None else data
    table = load_table(source, target, drop or [], written, weights, task)
    notes = list(table.notes)
    if data is None:
        notes.insert(0, f"no DATA was given: the built-in {DEFAULT_NAME} data are used")
    numbers = pd.RangeIndex(1, len(table.features) + 1, name="row")
    table = attrs.evolve(
        table, features=table.features.set_axis(numbers), target=table.target.set_axis(numbers)
    )
    return table, settle_columns(pipeline, table, kernels, notes)


def settle_columns(
    pipeline: Any, table: Table, kernels: list[str] | None, notes: list[str]
) -> dict[str, Any]:
    """Set identifiers, readings and weighted classes in the pipeline; return facts of the data.

    Raises
    ------
    DataError
        If a kernel names a column that was dropped, is the target or holds identifiers.
    """
    from mklkit.preprocessing import find_identifiers
    from mklkit.preprocessing.asked_columns import check_not_left_out

    identifiers = find_identifiers(table.features)
    check_not_left_out(kernels or [], table, identifiers)
    pipeline.set_params(encode__identifiers=identifiers, encode__readings=table.readings)
    if table.task == "classification":
        _name_classes(pipeline[-1], table.class_counts().index.tolist())
    return {**table.facts(), "notes": notes}


def _name_classes(classifier: Any, labels: list[Any]) -> None:
    """Let weights of classes name labels that are no text, such as numbers, by their text."""
    from mklkit.estimators.classifier import MKLClassifier

    while hasattr(classifier, "estimator"):
        classifier = classifier.estimator
    if isinstance(classifier, MKLClassifier) and isinstance(classifier.class_weight, dict):
        meant = {str(label): label for label in labels}
        given = classifier.class_weight.items()
        classifier.set_params(class_weight={meant.get(name, name): w for name, w in given})


def weights_for(table: Table, rows: Any = slice(None), step: str = "classify") -> dict[str, Any]:
    """Return the weights of some rows as an argument for a pipeline's last step."""
    if table.weights is None:
        return {}
    return {f"{step}__sample_weight": table.weights.to_numpy()[rows]}
