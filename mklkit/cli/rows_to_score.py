"""Samples with their targets, on which a saved model is scored or explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.cli.predict import columns_of

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.datasets.study_files import StudyFiles
    from mklkit.protocols import Task


@attrs.frozen(eq=False)
class RowsToScore:
    """The samples with every target, a column for each, and what a fit needs of each sample.

    ``groups``, ``parts`` of the split, ``ids`` and ``weights`` are None if there are none.
    """

    features: pd.DataFrame
    targets: pd.DataFrame
    groups: pd.Series | None
    parts: pd.Series | None
    ids: pd.Series | None
    weights: pd.Series | None
    notes: list[str]

    def truth(self, task: Task) -> pd.DataFrame | pd.Series:
        """Return the targets as a task takes them: a single one is a series."""
        return self.targets if task.n_targets > 1 else self.targets.iloc[:, 0]


def rows_to_score(
    data: str | StudyFiles,
    pipeline: Any,
    task: Task,
    model: Path,
    targets: list[str],
    groups: str | None,
    split_column: str | None,
    trained: str | None,
    refits: bool = False,
    weights: tuple[str | None, str | None] = (None, None),
) -> RowsToScore:
    """Return the samples that have every target, what a fit needs of each, and remarks.

    ``weights`` are the column that the user names and that of the model, which may be absent.
    ``trained`` is the column of the model's own groups, if these are to be kept together. Where a
    model is fitted again (``refits``), the samples may not all miss a source or have one class.
    """

    from mklkit.datasets import load_features
    from mklkit.datasets.pipeline import encoder_in
    from mklkit.datasets.target import note_without_target
    from mklkit.errors import DataError, counted, listed, quoted
    from mklkit.numerics.sparse import without_values

    columns = columns_of(pipeline, model)
    if targets and len(targets) != task.n_targets:
        raise DataError(
            f"{model} predicts {counted(task.n_targets, 'column')}, and --target names"
            f" {len(targets)}: {listed(targets)}. Name each of them once."
        )
    names = targets or list(task.targets)
    if len(targets) != task.n_targets == 1:
        raise DataError(
            f"{model} does not say which column holds the {task.plural}: name it with --target."
        )
    if {*names} & {*columns}:
        raise DataError(
            f"{listed(names)} is a column from which the model predicts, not its target: choose"
            " another --target."
        )
    encoder = encoder_in(pipeline)
    schema = None if encoder is None else encoder.schema_
    dropped = [] if encoder is None else encoder.identifiers_
    needed = [name for name in columns if name not in dropped]
    asked, of_model = weights
    options = {groups: "--groups", split_column: "--split-column", asked: "--weights"}
    selectors = [*names, *(name for name in options if name is not None)]
    wanted = [*selectors, *([] if of_model is None else [of_model])]
    rows = load_features(data, columns, wanted, needed, schema, may_miss_sources=not refits)
    columns_read = rows.targets
    if groups is not None and rows.ids is not None and rows.ids.name == groups:
        columns_read = columns_read.assign(**{groups: rows.ids})
    for name in selectors:
        if name not in columns_read:
            why = f" of the {task.plural}, by which the model is scored: give --target."
            why = f", which {options[name]} names." if name in options else why
            if name == trained:
                why = (
                    ", whose values group the samples of the model: name the column of the groups"
                    " with --groups, or give --ignore-groups if the samples are independent."
                )
            raise DataError(f"{data} has no column {quoted(name)}{why}")
    truth = rows.targets[names]
    notes = list(rows.notes)
    known = truth.notna().all(axis=1).to_numpy()
    note_without_target(known, names, notes)
    empty = known & without_values(rows.features[needed])
    if empty.any():
        notes.append(f"{counted(int(empty.sum()), 'sample')} without a value in any source dropped")
    known = known & ~empty
    truth = task.read(truth[known]) if refits else task.read_scored(truth[known])
    features = rows.features[known]
    if groups is not None:
        are = "on one side of each split" if refits else "drawn together"
        notes.append(f"samples with the same {quoted(groups)} are {are}")
    numbers = (features.index + 1).rename("row")
    together, parts = (
        None if name is None else columns_read.loc[known, name] for name in (groups, split_column)
    )
    _check_groups(data, together, groups)
    ids = None if rows.ids is None else rows.ids[known]
    counts = _weights(data, columns_read[known], asked, of_model, notes)
    return RowsToScore(
        features.set_axis(numbers), truth.set_axis(numbers), together, parts, ids, counts, notes
    )


def _check_groups(data: Any, together: pd.Series | None, column: str | None) -> None:
    """Raise a DataError if a sample has no group."""
    from mklkit.errors import DataError, counted, quoted

    if together is not None and together.isna().any():
        raise DataError(
            f"{data} has no {quoted(column)} in {counted(int(together.isna().sum()), 'sample')} of"
            f" {len(together)}, which --groups needs for each: leave them out, or give each a"
            " group of its own."
        )


def _weights(
    data: Any, columns: pd.DataFrame, asked: str | None, of_model: str | None, notes: list[str]
) -> pd.Series | None:
    """Return the sample weights in the column that is asked for, or else in that of the model."""
    from mklkit.datasets.target import numbers_of_weights
    from mklkit.errors import quoted

    name = asked or of_model
    if name is None:
        return None
    if name not in columns:
        notes.append(
            f"the model was fitted with the sample weights in column {quoted(name)}, which {data}"
            " lacks: here all samples count equally (--weights names another column)"
        )
        return None
    notes.append(f"samples count in the fits by their {quoted(name)}, and equally in scores")
    return numbers_of_weights(columns[name])


def targets_in_order(targets: list[str] | None, known: list[str]) -> list[str]:
    """Return target columns in the order of a model's: those of its names are in their places.

    They are the model's own by default.
    """
    from mklkit.errors import DataError, quoted

    targets = targets or known
    twice = [name for name in dict.fromkeys(targets) if targets.count(name) > 1]
    if twice:
        raise DataError(f"--target names {quoted(twice[0])} twice: name each column once.")
    if len(targets) != len(known):
        return [*targets]
    others = iter([name for name in targets if name not in known])
    return [name if name in targets else next(others) for name in known]
