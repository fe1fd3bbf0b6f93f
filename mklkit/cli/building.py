"""What the commands that learn share: the pipeline and its rows, the results, and advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.cli.model_options import ModelOptions
from mklkit.errors import named

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.datasets import Table
    from mklkit.datasets.adjusting import Adjustment
    from mklkit.datasets.files import ChunkedTable
    from mklkit.evaluation import Samples
    from mklkit.evaluation.tasks import Task
    from mklkit.protocols.splits.making import PartsColumn
    from mklkit.protocols.splits.split import Split

# A table in memory, its encoded numbers, and their scaled copy.
COPIES = 3
# The most memory that a byte of a CSV file can take: "a," becomes an object.
CSV_RATIO = 32

FACTOR_ON_C = 100
FEW_ROWS = 20
"""With fewer rows a single prediction changes the accuracy by more than 5 percentage points."""
OVERFITTED = 0.1
"""A model is overfitted if its score drops by more than this on rows outside training."""


@attrs.frozen(eq=False)
class System:
    """The user's options, their pipeline, the rows to fit, and the task and facts of these."""

    options: ModelOptions
    pipeline: Any
    table: Table
    task: Task
    metadata: dict[str, Any]
    parts_column: PartsColumn | None = None
    """The column of the table that gives the split."""

    @classmethod
    def of(
        cls,
        options: ModelOptions,
        data: str | None,
        target: str | None,
        drop: list[str] | None,
        weights: str | None = None,
        task: str = "classification",
        groups: str | None = None,
        split_column: str | None = None,
    ) -> System:
        """Check the names in a model's options, then read its training data.

        The rows are numbered from 1, so that messages after a split refer to the file's rows.
        """
        import pandas as pd

        from mklkit.cli.console import say
        from mklkit.datasets import load_table
        from mklkit.datasets.builtin import DEFAULT_NAME
        from mklkit.datasets.kernel_columns import kernels_in, named_columns
        from mklkit.evaluation.tasks import task_named
        from mklkit.protocols.splits.making import PartsColumn

        pipeline = options.pipeline(task_named("classification"))
        written = [name for _, name in named_columns(kernels_in(pipeline[-1]), "text")]
        table = load_table(data or DEFAULT_NAME, target, drop or [], written, weights, task)
        table, parts = _apart(table, groups, split_column)
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
        metadata = settle_columns(pipeline, table, options.kernels, notes)
        usual = learned.usual_score(table.target.to_numpy())
        if reason := learned.why(usual, table.target.to_numpy()):
            notes.append(reason)
            if options.tune is not None:
                pipeline.set_params(**{f"{pipeline.steps[-1][0]}__scoring": usual})
        column = None if parts is None else PartsColumn(parts.to_numpy(), str(parts.name))
        return cls(options, pipeline, table, learned, metadata, column)

    @property
    def score(self) -> str:
        """The score of the task that counts for the target, which a search chooses by too."""
        usual = self.task.usual_score(self.table.target.to_numpy())
        keys = [score.key for score in self.task.labeled]
        return usual if usual in keys else keys[0]

    def weights(self) -> dict[str, Any]:
        """Return the weights of the rows as an argument for the pipeline's last step."""
        if self.table.weights is None:
            return {}
        return {f"{self.pipeline.steps[-1][0]}__sample_weight": self.table.weights.to_numpy()}

    def parts(self, rows: Any = slice(None)) -> dict[str, Any]:
        """Return which of some rows have all sources and which lack one; empty if none does."""
        from mklkit.datasets.pipeline import missing_sources_in

        missing = missing_sources_in(self.pipeline, self.table.features).any(axis=1).to_numpy()
        return {"complete": ~missing[rows], "lacking": missing[rows]} if missing.any() else {}

    def to_be_saved(self) -> tuple[System, list[str]]:
        """Return the system to learn from all rows, with what a search chose, and its notes."""
        from sklearn.base import clone
        from sklearn.pipeline import Pipeline

        from mklkit.estimators.introspection import classifier_in

        *steps, (name, fitted) = self.pipeline.steps
        best = classifier_in(fitted)
        notes = [note for note in fitted.choices_ if note not in best.choices_]
        if notes:
            notes.append("the saved model has these settings: the search was not repeated")
        pipeline = clone(Pipeline([*steps, (name, best)]))
        return attrs.evolve(self, pipeline=pipeline), notes

    @property
    def samples(self) -> Samples:
        """What the pipeline learns from and is scored on."""
        from mklkit.evaluation import Samples

        targets = self.table.target.to_numpy()
        return Samples(self.table.features, targets, self.weights(), self.groups_of_rows)

    @property
    def groups_of_rows(self) -> Any:
        """The group of each row (N,); None if no column gives groups."""
        return None if self.table.groups is None else self.table.groups.to_numpy()

    def hold_out(self, share: float, seed: int) -> tuple[Split, str]:
        """Return the split of a column, or hold out a share of the rows or groups; in words too."""
        from mklkit.protocols.splits.making import HoldOut
        from mklkit.registry.registry import get_registry

        groups, targets = self.groups_of_rows, self.table.target.to_numpy()
        splits = self.task.splits(targets, self.parts_column or HoldOut(share), seed, groups)
        split = splits[0]
        missing = self.pipeline[-1].get_params(deep=False).get("missing")
        drops = missing is not None and get_registry().create("missing", missing).drops
        # Only then, since it encodes the table.
        if drops and (parts := self.parts()):
            train, test = (rows[parts["complete"][rows]] for rows in split)
            split = attrs.evolve(split, train=train, test=test)
            self.metadata["notes"].append(
                f"only the {len(train) + len(test)} rows that have all sources are used"
            )
        self.metadata["notes"] += self.leaks([split])
        return split, splits.description

    def adjustment(self) -> Adjustment:
        """Return what still tells the covariates that are removed, on all rows."""
        from mklkit.datasets.adjusting import Adjustment

        return Adjustment.of(self.pipeline, self.table.features, self.table.target)

    def leaks(self, splits: Sequence[Split]) -> list[str]:
        """Return notes on why scores on these splits are too optimistic."""
        from mklkit.datasets.kernel_columns import without_unread
        from mklkit.evaluation.leakage import leakage_notes

        encoder = self.pipeline[0]
        features = without_unread(self.table.features, encoder.identifiers, encoder.passthrough)
        numbers, targets = not self.task.has_classes, self.table.target.to_numpy()
        return leakage_notes(features, targets, splits, self.groups_of_rows, numbers)

    def result(self, pipeline: Any, **results: Any) -> dict[str, Any]:
        """Return a command's results: data, options, steps, choices and parts of a model."""
        from mklkit.persistence.metadata import metadata_of_model

        return {
            "data": self.metadata,
            "preset": self.options.preset,
            "seed": self.options.seed,
            "score": self.score,
            "preprocessing": steps_of(self.table, pipeline),
            "choices": self.options.choices() + list(pipeline[-1].choices_),
            "model": metadata_of_model(pipeline),
            **results,
        }

    def advice_if_useless(
        self, score: dict[str, Any], training: Callable[[], dict[str, Any]], rows: str, model: Any
    ) -> str | None:
        """Return a warning about a fitted model that guesses, or recognises no row of a class.

        ``score`` is that of ``rows``; ``training``, called only if needed, returns that of the
        training rows.
        """
        task, options = self.task, self.options
        first = self.score
        guessing = task.no_better_than_guessing(score, first if "confusion" in score else None)
        missed = _missed_classes(score)
        if not guessing and not missed:
            return None
        problem = f"is {guessing}" if guessing else f"recognised no row of {', '.join(missed)}"
        trained = training()
        # An R² below 0 is no better than a constant, however far below.
        overfitted = (trained[first] or 0) - max(score[first] or 0, 0) > OVERFITTED
        ways = []
        if missed and options.class_weight is None:
            ways.append("weights of classes (--class-weight balanced)")
        if score["rows"] < FEW_ROWS and score["rows"] <= trained["rows"]:
            ways.append(f"'mklkit evaluate', which scores every row ({score['rows']} are too few)")
        if options.scale == "none":
            ways.append("scaled features (--scale standard)")
        # A class that is too rare to count is not recognised by other kernels either.
        if guessing or options.class_weight is not None:
            ways += _other_c(model, larger=not overfitted)
            if options.kernels or options.preset:
                wider = "wider" if overfitted else "other"
                ways.append(f"{wider} kernels, such as the default kernels")
        ways.append("more rows" + " of each class" * task.has_classes)
        text = f"warning: this model {problem} on the {rows}. Try {', or '.join(ways)}."
        if overfitted:
            text += f" It is overfitted: {task.shown(first, trained[first])} on its training rows."
        return text


def _apart(
    table: Table, groups: str | None, split_column: str | None
) -> tuple[Table, pd.Series | None]:
    """Return the split, and the table with its groups but without columns that aren't features."""
    parts = None
    if split_column is not None:
        table, parts = table.without(split_column, "to take as the split")
    if groups is not None:
        from mklkit.estimators.training_data import checked_groups

        table, names = table.without(groups, "to take as the groups of rows")
        checked_groups(names, len(table.features))
        table = attrs.evolve(table, groups=names)
    return table, parts


def stream_of(data: str | None, max_memory: str | None, stream: bool) -> ChunkedTable | None:
    """Return the table in chunks if requested, or if it is several files or too large."""
    from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME
    from mklkit.datasets.files import CHUNKED, READERS, ChunkedTable, ending_of, files_of
    from mklkit.datasets.paths import status
    from mklkit.errors import DataError
    from mklkit.views.memory import memory_limit

    source = DEFAULT_NAME if data is None else data
    if source in BUILTIN_NAMES:
        if stream:
            raise DataError(f"{source} is built in, and can't be read in parts; give a file.")
        return None
    files = files_of(source)
    if stream or len(files) > 1:
        return ChunkedTable.opened(source)
    ending, state, limit = ending_of(files[0]), status(files[0]), memory_limit(max_memory)
    if ending is None or not state or not state.st_size or limit is None:
        return None
    kind = READERS[ending][0]
    small = kind == "CSV" and not ending.endswith(".gz")
    if kind not in CHUNKED or (small and COPIES * CSV_RATIO * state.st_size < limit):
        return None
    table = ChunkedTable.opened(source)
    return table if COPIES * table.bytes_in_memory > limit else None


def settle_columns(
    pipeline: Any, table: Table, kernels: list[str] | None, notes: list[str]
) -> dict[str, Any]:
    """Set identifiers, readings and weighted classes in the pipeline; return facts of the data.

    The facts are computed on all rows, so they do not depend on a split.
    """
    from mklkit.datasets.kernel_columns import check_not_left_out
    from mklkit.datasets.pipeline import match_class_weights
    from mklkit.datasets.remarks import find_identifiers

    identifiers = find_identifiers(table.features)
    check_not_left_out(kernels or [], table, identifiers)
    pipeline.set_params(encode__identifiers=identifiers, encode__readings=table.readings)
    match_class_weights(pipeline, table.class_counts().index.tolist())
    return {**table.metadata(), "notes": notes}


def steps_of(table: Table, pipeline: Any) -> list[str]:
    """Return a line for each preprocessing step of the columns."""
    from mklkit.datasets.pipeline import describe

    dropped = [f"{named(table.dropped)} left out, as asked"] if table.dropped else []
    return dropped + describe(pipeline)


def _missed_classes(score: dict[str, Any]) -> list[str]:
    """Return the classes without a recognised row, with their numbers of rows."""
    from mklkit.errors import counted, quoted

    counts = [sum(answers) for answers in score.get("confusion", [])]
    triples = zip(score.get("classes", []), counts, score.get("recall", []), strict=True)
    return [
        f"class {quoted(label)} ({counted(rows, 'row')})"
        for label, rows, recall in triples
        if rows and recall == 0
    ]


def _other_c(model: Any, larger: bool) -> list[str]:
    from mklkit.estimators.introspection import classifier_in
    from mklkit.registry.specs import to_spec

    learner = classifier_in(model).learner_
    if learner.fixed_C is None:
        return []
    size, C = "smaller", min(learner.fixed_C / FACTOR_ON_C, 1.0)
    if larger:
        size, C = "larger", max(learner.fixed_C * FACTOR_ON_C, 1.0)
    return [f"a {size} C (--learner {quote(to_spec(learner.with_params(C=C)))})"]
