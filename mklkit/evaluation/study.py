"""A study: a table with its task, and the model whose scores on it are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.datasets import Table, load_table
from mklkit.datasets.adjusting import Adjustment
from mklkit.datasets.builtin import DEFAULT_NAME
from mklkit.datasets.pipeline import (
    advice_on,
    describe,
    match_class_weights,
    missing_sources_in,
    model_pipeline,
)
from mklkit.datasets.study_files import StudyFiles
from mklkit.datasets.table_schema import check_sources, without_unread
from mklkit.datasets.target import Wanted
from mklkit.errors import named
from mklkit.estimators.declaring import declared_sources
from mklkit.estimators.missing_sources import counts, numbered
from mklkit.estimators.model_settings import ModelSettings
from mklkit.estimators.training_data import checked_groups
from mklkit.evaluation.fit_and_score import Samples
from mklkit.evaluation.leakage import leakage_notes
from mklkit.persistence.metadata import metadata_of_model
from mklkit.protocols import Source, Task
from mklkit.protocols.component import TASK
from mklkit.protocols.splits.making import HoldOut, PartsColumn
from mklkit.protocols.splits.split import Split, Splits
from mklkit.registry.columns import AUTO_KERNELS
from mklkit.registry.registry import get_registry


@attrs.frozen(kw_only=True)
class Roles:
    """The columns of a table that are not features, by name or position; None: there is none.

    The weights may be an array, if they are not in the table.
    """

    target: Wanted = None
    drop: Sequence[str] = ()
    weights: Any = None
    groups: str | None = None
    split: str | None = None


@attrs.frozen(eq=False)
class Study:
    """A table with its task, and the model to learn from it.

    Attributes
    ----------
    settings : ModelSettings
    pipeline : sklearn.pipeline.Pipeline
        The steps that the settings describe for the task, unfitted.
    table : Table
        Its rows are numbered from 1, so that messages after a split refer to the file's rows.
    task : Task
    notes : tuple of str
        How the table was read, and by which score a model is judged, if that is not the first of
        the task.
    parts_column : PartsColumn, optional
        The column of the table that gives the split.
    """

    settings: ModelSettings
    pipeline: Any
    table: Table
    task: Task
    notes: tuple[str, ...] = ()
    parts_column: PartsColumn | None = None

    @property
    def targets(self) -> NDArray[Any]:
        """What the model learns, and by which it is scored, (N,) or (N, T)."""
        return self.task.truth(self.table.target.to_numpy())

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each sample (N,); None if no column gives groups."""
        return None if self.table.groups is None else self.table.groups.to_numpy()

    @property
    def weights(self) -> dict[str, Any]:
        """The sample weights as an argument of the pipeline's ``fit``; empty without."""
        if self.table.weights is None:
            return {}
        return {f"{self.pipeline.steps[-1][0]}__sample_weight": self.table.weights.to_numpy()}

    @property
    def samples(self) -> Samples:
        """What the pipeline learns from and is scored on."""
        return Samples(self.table.features, self.targets, self.weights, self.groups)

    @property
    def score(self) -> str:
        """The score of the task that counts for the target, by which a search chooses too."""
        usual = self.task.usual_score(self.targets)
        keys = [score.key for score in self.task.labeled]
        return usual if usual in keys else keys[0]

    def with_notes(self, notes: Sequence[str]) -> Self:
        """Return the study with more notes."""
        return attrs.evolve(self, notes=(*self.notes, *notes))

    def parts(self, rows: Any = slice(None)) -> dict[str, NDArray[np.bool_]]:
        """Return which of some samples have all sources and which miss one; empty if none does."""
        missing = missing_sources_in(self.pipeline, self.table.features).any(axis=1).to_numpy()
        return {"complete": ~missing[rows], "incomplete": missing[rows]} if missing.any() else {}

    def filled(self, rows: Any = slice(None)) -> list[str]:
        """Return which of some training samples lack sources that steps before the model fill.

        The model itself counts those that it gets with gaps.
        """
        declared = declared_sources(self.pipeline[-1])
        strategy = self.settings.missing
        if strategy is None or all(source.missing != "filled" for source in declared):
            return []
        missing = missing_sources_in(self.pipeline, self.table.features).iloc[rows]
        strata = self.task.strata(self.targets[rows])
        codes, classes = (self.targets[rows], []) if strata is None else numbered(strata)
        name = get_registry().create("missing", strategy).name
        return [
            f"{name}: {note}" for note in counts([*missing], missing.to_numpy(), codes, classes)
        ]

    def adjustment(self) -> Adjustment:
        """Return what still tells the covariates that are removed, on all samples."""
        return Adjustment.of(self.pipeline, self.table.features, self.table.target)

    def hold_out(self, share: float) -> Splits:
        """Return the split of a column, or one that holds out a share of the samples or groups."""
        request = self.parts_column or HoldOut(share)
        splits = self.task.splits(self.targets, request, self.settings.seed, self.groups)
        split = splits[0]
        notes = splits.notes
        missing = self.pipeline[-1].get_params(deep=False).get("missing")
        drops = missing is not None and get_registry().create("missing", missing).drops
        # Only then, since it encodes the table.
        if drops and (parts := self.parts()):
            train, test = (rows[parts["complete"][rows]] for rows in split)
            split = attrs.evolve(split, train=train, test=test)
            used = len(train) + len(test)
            notes = (*notes, f"only the {used} samples that have all sources are used")
        return attrs.evolve(splits, splits=(split,), notes=(*notes, *self.leaks([split])))

    def leaks(self, splits: Sequence[Split]) -> list[str]:
        """Return notes on why scores on these splits are too optimistic."""
        features = without_unread(self.table.features, self.pipeline[0].schema)
        return leakage_notes(features, self.targets, splits, self.groups, self.task.gives)

    def record(self, model: Any, **results: Any) -> dict[str, Any]:
        """Return what is told and saved of a fitted model: data, settings, choices, parts."""
        return {
            "data": {**self.table.metadata(), "notes": list(self.notes)},
            "preset": self.settings.preset,
            "seed": self.settings.seed,
            "score": self.score,
            "preprocessing": steps_of(self.table, model),
            "advice": advice_on(model),
            "choices": self.settings.choices(model[-1]) + list(model[-1].choices_),
            "model": metadata_of_model(model, self.task.targets),
            **results,
        }


def read_study(
    settings: ModelSettings,
    data: str | StudyFiles | None = None,
    roles: Roles = Roles(),
    task: str = TASK,
) -> Study:
    """Check the names in the settings of a model, then read its table.

    Parameters
    ----------
    settings : ModelSettings
    data : str or StudyFiles, optional
        A built-in data set or a file, as for :func:`mklkit.datasets.load_table`.
    roles : Roles
    task : str, default="classification"
        The name of a task, or ``"auto"``, as for :func:`mklkit.datasets.load_table`.
    """
    settings.check_names()
    pipeline = model_pipeline(settings)
    written = read_as_text(declared_sources(pipeline[-1]), data)
    columns = roles.target, list(roles.drop), written, roles.weights
    table = load_table(data or DEFAULT_NAME, *columns, task)
    table, kernels = table.with_identifiers(settings.kernels)
    settings = attrs.evolve(settings, kernels=kernels)
    parts_column = None
    if roles.split is not None:
        table, parts = table.without(roles.split, "to take as the split", "split")
        parts_column = PartsColumn(parts.to_numpy(), str(parts.name))
    if roles.groups is not None:
        table, groups = table.without(roles.groups, "to take as the groups of samples", "group")
        checked_groups(groups, len(table.features))
        table = attrs.evolve(table, groups=groups)
    notes = list(table.notes)
    if data is None:
        notes.insert(0, f"no DATA was given: the built-in {DEFAULT_NAME} data are used")
    table = table.numbered()
    learned = table.learned
    settings = with_kernels_of_sources(settings, table)
    pipeline = model_pipeline(settings, learned, schema=table.schema)
    return study_of(settings, pipeline, table, learned, notes, parts_column)


def with_kernels_of_sources(settings: ModelSettings, table: Table) -> ModelSettings:
    """Return settings whose kernels name the columns of a joined table; one for each source."""
    if table.sources is None or settings.preset is not None:
        return settings
    kernels = AUTO_KERNELS if settings.kernels is None else settings.kernels
    of_sources = table.without_in_sources(settings.covariates)
    return attrs.evolve(settings, kernels=of_sources.with_columns(kernels))


def read_as_text(sources: Sequence[Source], data: Any) -> list[str]:
    """Return the names and globs of the columns that kernels read as text, or identify samples."""
    of_files = data.names if isinstance(data, StudyFiles) else []
    written: list[str] = []
    for source in sources:
        if source.reads in ("text", "row ids"):
            is_file = source.columns is None and source.label in of_files
            written += [f"{source.label}_*"] if is_file else source.names
    return written


def study_of(
    settings: ModelSettings,
    pipeline: Any,
    table: Table,
    task: Task,
    notes: Sequence[str],
    parts_column: PartsColumn | None = None,
) -> Study:
    """Return the study of a table, for whose columns the pipeline was built.

    The score is chosen on all samples, like the schema, so they do not depend on a split.
    """
    check_sources(pipeline[0].schema)
    match_class_weights(pipeline, table.class_counts().index.tolist())
    targets = table.target.to_numpy()
    usual = task.usual_score(targets)
    reason = task.why(usual, targets)
    if reason and settings.tune is not None:
        pipeline.set_params(**{f"{pipeline.steps[-1][0]}__scoring": usual})
    told = [*notes, reason] if reason else notes
    return Study(settings, pipeline, table, task, tuple(told), parts_column)


def steps_of(table: Table, pipeline: Any) -> list[str]:
    """Return a line for each preprocessing step of the columns."""
    dropped = [f"{named(table.dropped)} dropped, as asked"] if table.dropped else []
    return dropped + describe(pipeline)
