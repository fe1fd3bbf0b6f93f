"""From the command line's options to a pipeline and the rows that it is fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from mklkit.errors import named

if TYPE_CHECKING:
    from mklkit.datasets import Table
    from mklkit.evaluation.tasks import Task
    from mklkit.protocols.component import Preset
    from mklkit.registry.registry import Kind

__all__ = [
    "ModelOptions",
    "System",
    "data_line",
    "in_context",
    "result_of",
    "settle_columns",
    "steps_of",
]


@attrs.frozen(kw_only=True)
class ModelOptions:
    """The user's options; None leaves a choice to the preset, combiner or default."""

    kernels: list[str] | None
    preset: str | None
    scale: str | None
    feature_map: str | None = None
    combiner: str | None = None
    learner: str | None = None
    multiclass: str = "ovo"
    bandwidths: str = "per-problem"
    seed: int = 0
    jobs: int | None = None
    tune: str | None = None
    max_memory: str | None = None
    probability: bool = False
    class_weight: str | None = None

    def pipeline(self, task: Task) -> Any:
        """Return the unfitted pipeline for a task: encode, scale, predict.

        Raises
        ------
        SpecError
            If a name is unknown or a spec string is invalid.
        IncompatibleError
            If an option is not for this task.
        """
        from mklkit.cli.options import weights_by_class

        return task.pipeline(
            self._checked_preset(),
            scale=self.scale,
            tune=self.tune,
            random_state=self.seed,
            kernels=self.kernels or None,
            feature_map=self.feature_map,
            combiner=self.combiner,
            learner=self.learner,
            multiclass=self.multiclass,
            bandwidths=self.bandwidths,
            n_jobs=self.jobs,
            max_memory=self.max_memory,
            probability=self.probability,
            class_weight=None if self.class_weight is None else weights_by_class(self.class_weight),
        )

    def _checked_preset(self) -> Preset:
        """Return the preset, or that of defaults, if it and all components are known."""
        from mklkit.estimators.from_preset import default_preset
        from mklkit.registry.composing import are_proposed, kernel_list
        from mklkit.registry.registry import get_registry
        from mklkit.registry.specs import parse_kernel_spec

        registry = get_registry()
        preset = default_preset()
        if self.preset is not None:
            preset = registry.lookup("preset", self.preset).target
        kernels = self.kernels or preset.kernels
        parts: list[tuple[Kind, Any]] = [
            ("combiner", self.combiner),
            ("feature_map", self.feature_map),
            ("learner", self.learner),
        ]
        if not are_proposed(kernels):
            parts += [("kernel", parse_kernel_spec(k).spec) for k in kernel_list(kernels)]
        for kind, spec in parts:
            if spec is not None:
                registry.create(kind, spec)
        return preset

    def choices(self) -> list[str]:
        """Return a line for each choice that was made before the estimator got the options."""
        from mklkit.estimators.from_preset import default_preset

        if self.preset is not None:
            return [f"preset {self.preset}"]
        lines = []
        if not self.kernels:
            lines.append("kernels cosine(linear), rbf and cosine(polynomial): the default")
        if self.combiner is None:
            lines.append(f"combiner {default_preset().combiner}: the default")
        return lines


@attrs.frozen(eq=False)
class System:
    """A pipeline, not fitted, with the rows to fit it on, their task, and facts about them."""

    pipeline: Any
    table: Table
    task: Task
    facts: dict[str, Any]

    @classmethod
    def of(
        cls,
        options: ModelOptions,
        data: str | None,
        target: str | None,
        drop: list[str] | None,
        weights: str | None = None,
        task: str = "classification",
    ) -> System:
        """Read the training data for a model.

        Names are checked before the data are read. The rows are numbered from 1, so that messages
        after a split refer to the file's rows.

        Raises
        ------
        DataError
            If data can't be read, or a kernel names a column that was dropped, is the target or
            holds identifiers.
        """
        import pandas as pd

        from mklkit.cli.console import say
        from mklkit.datasets import load_table
        from mklkit.datasets.builtin import DEFAULT_NAME
        from mklkit.datasets.kernel_columns import kernels_in, text_columns
        from mklkit.evaluation.tasks import task_named

        pipeline = options.pipeline(task_named("classification"))
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
        name = str(table.target.name)
        learned = task_named(table.task, name)
        if table.task != "classification":
            pipeline = options.pipeline(learned)
            if task == "auto":
                say(f"the target {name!r} holds numbers: {table.task} (--task classification for"
                    " classes)")  # fmt: skip
        facts = settle_columns(pipeline, table, options.kernels, notes)
        return cls(pipeline, table, learned, facts)

    def weights(self, rows: Any = slice(None)) -> dict[str, Any]:
        """Return the weights of some rows as an argument for the pipeline's last step."""
        if self.table.weights is None:
            return {}
        step = self.pipeline.steps[-1][0]
        return {f"{step}__sample_weight": self.table.weights.to_numpy()[rows]}


def settle_columns(
    pipeline: Any, table: Table, kernels: list[str] | None, notes: list[str]
) -> dict[str, Any]:
    """Set identifiers, readings and weighted classes in the pipeline; return facts of the data.

    They are those of all rows, so that they do not depend on a split.

    Raises
    ------
    DataError
        If a kernel names a column that was dropped, is the target or holds identifiers.
    """
    from mklkit.datasets.identifiers import find_identifiers
    from mklkit.datasets.kernel_columns import check_not_left_out

    identifiers = find_identifiers(table.features)
    check_not_left_out(kernels or [], table, identifiers)
    pipeline.set_params(encode__identifiers=identifiers, encode__readings=table.readings)
    # Weights of classes name labels that are no text, such as numbers, by their text.
    for name, weights in pipeline.get_params().items():
        if name.rpartition("__")[2] == "class_weight" and isinstance(weights, dict):
            labels = {str(label): label for label in table.class_counts().index.tolist()}
            pipeline.set_params(**{name: {labels.get(k, k): w for k, w in weights.items()}})
    return {**table.facts(), "notes": notes}


def steps_of(table: Table, pipeline: Any) -> list[str]:
    """Return a line for each preprocessing step of the columns."""
    from mklkit.datasets.pipeline import describe

    dropped = [f"{named(table.dropped)} left out, as asked"] if table.dropped else []
    return dropped + describe(pipeline)


def result_of(table: Table, pipeline: Any, **results: Any) -> dict[str, Any]:
    """Return what a command found, with the steps, choices and components of a fitted pipeline."""
    from mklkit.persistence.facts import facts_of_model

    return {
        "preprocessing": steps_of(table, pipeline),
        "choices": list(pipeline[-1].choices_),
        "model": facts_of_model(pipeline),
        **results,
    }


def in_context(
    options: ModelOptions, data_facts: dict[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    """Return a command's result with the data, the options and what was chosen by default."""
    choices = options.choices() + result["choices"]
    context = {"data": data_facts, "preset": options.preset, "seed": options.seed}
    return {**context, **result, "choices": choices}


def data_line(table: Table, notes: list[str]) -> tuple[str, list[str]]:
    """Return what a report says of the data."""
    return ("data", [f"{table.summary()} ({table.origin})", *notes])
