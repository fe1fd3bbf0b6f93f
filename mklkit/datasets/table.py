"""Tables for training: a data set with its target, from a name or a path."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from mklkit.datasets.files import RawTable, TableInParts
from mklkit.datasets.notations import WRITTEN
from mklkit.datasets.readings import is_text, settle_notations
from mklkit.datasets.remarks import remarks
from mklkit.datasets.selecting import chosen_columns
from mklkit.datasets.study_files import Part, StudyFiles, read_data
from mklkit.datasets.table_schema import columns_of
from mklkit.datasets.target import (
    Wanted,
    choose_column,
    note_without_target,
    numbers_of_weights,
    read_targets,
    targets_and_dropped,
    wanted_targets,
)
from mklkit.errors import DataError, counted, listed, named, quoted
from mklkit.estimators.sources import columns_of_labels, kernels_of_sources
from mklkit.numerics.sparse import take_rows, without_values
from mklkit.protocols import AS_READ, Column, Columns, Role, Schema, Task
from mklkit.protocols.component import TASK
from mklkit.registry.columns import bind_kernels, kernel_list
from mklkit.registry.tasks import task_named

# Marks of a gap in a column of numbers; other marks may be classes.
TARGET_GAPS = frozenset({"none"})


@attrs.frozen(eq=False)
class Table:
    """Rows for training.

    Parameters
    ----------
    features : pandas.DataFrame of shape (n_rows, n_features)
        Columns of any type, gaps included, under unique text names.
    target : pandas.Series of shape (n_rows,), or DataFrame of shape (n_rows, n_targets)
        Class labels (text, integers or booleans), numbers, or what another task reads, without
        gaps; a frame if the task has several columns.
    name : str
        The name of the data.
    origin : str
        Their origin, such as ``"built into scikit-learn"`` or ``"CSV file heart.csv"``.
    notes : list of str
        Remarks on the data as read.
    dropped : list of str
        Columns that were dropped at the user's request.
    schema : Schema
        What the columns hold, how they are written, and what they are for; by default as their
        values tell. ``load_features`` and ``TableEncoder`` read later data in the same way.
    all_counts : pandas.Series, optional
        The number of rows of each class, if the rows here are a sample.
    weights : pandas.Series of shape (n_rows,), optional
        The weight of each row, if a column gives it; it is not a feature.
    task : str, default="classification"
        The name of the task that the target is read for.
    groups : pandas.Series of shape (n_rows,), optional
        The group of each row, such as its patient, if a column gives it.
    ids : pandas.Series of shape (n_rows,), optional
        What identifies each row in the files of a study, as text.
    sources : mapping of str to sequence of str, optional
        The columns of each source, if files or a mapping of sources became this table.

    See Also
    --------
    load_table : Reads one from a file.

    Examples
    --------
    >>> features = pd.DataFrame({"length": [1.0, 2.0]})
    >>> table = Table(features, pd.Series(["a", "b"]), "leaves", "measured by hand")
    >>> [(column.name, column.holds) for column in table.schema]
    [('length', 'numbers')]
    """

    features: pd.DataFrame
    target: pd.Series | pd.DataFrame
    name: str
    origin: str
    notes: list[str] = attrs.field(factory=list)
    dropped: list[str] = attrs.field(factory=list)
    schema: Schema = attrs.field(
        default=attrs.Factory(lambda table: columns_of(table.features, {}), takes_self=True)
    )
    all_counts: pd.Series | None = None
    weights: pd.Series | None = None
    task: str = TASK
    groups: pd.Series | None = None
    ids: pd.Series | None = None
    sources: Mapping[str, Sequence[str]] | None = None

    def numbered(self) -> Table:
        """Return the table with the numbers of its rows in the file, from 1, as their index.

        Messages name them also after a split.

        Returns
        -------
        Table
            The same rows; those without a target have been dropped.
        """
        numbers = (self.features.index + 1).rename("row")
        # A table may be very wide, and set_axis copies it.
        features, target = self.features.copy(deep=False), self.target.copy(deep=False)
        features.index = target.index = numbers
        return attrs.evolve(self, features=features, target=target)

    def without(self, name: str | int, purpose: str, role: Role) -> tuple[Table, pd.Series]:
        """Return the table without a column that has another role than a feature, and it.

        It may also be the identifier that joined the table's files, which is no feature.

        Parameters
        ----------
        name : str or int
            The column's name or position.
        purpose : str
            What the column is needed for, to be named by an error.
        role : str
            Its role in the schema, such as ``"group"``.

        Returns
        -------
        tuple of (Table, pandas.Series)
            The table and the column.
        """
        if self.ids is not None and name == self.ids.name and name not in self.features:
            return self, self.ids
        column = self.features[choose_column(self.features.columns.tolist(), name, purpose)]
        features = self.features.drop(columns=column.name)
        features_of = {*self.features.columns}
        others = [each for each in self.schema if each.name not in features_of]
        schema = columns_of(
            features,
            dict(zip(self.schema.named(), self.schema.columns.values("notation"), strict=True)),
            [*others, Column(str(column.name), role=role)],
        )
        about = f"column {quoted(str(column.name))} "  # how it would be read
        notes = [note for note in self.notes if not note.startswith(about)]
        return attrs.evolve(self, features=features, schema=schema, notes=notes), column

    def without_in_sources(self, columns: Any) -> Table:
        """Return the table whose sources lack some columns, such as covariates.

        Parameters
        ----------
        columns : str or sequence, optional
            As for a kernel.

        Returns
        -------
        Table
            The same rows and columns.
        """
        if self.sources is None or columns is None:
            return self
        left_out = chosen_columns([columns], self.features.columns.tolist())
        sources = {
            name: [column for column in names if column not in left_out]
            for name, names in self.sources.items()
        }
        return attrs.evolve(self, sources={name: names for name, names in sources.items() if names})

    def with_columns(self, kernels: Any) -> list[Any]:
        """Return kernels in which those that are labelled like a source name its columns.

        Parameters
        ----------
        kernels : str, sequence of kernels, or mapping
            As for an estimator; ``"auto"`` stands for all sources that no other kernel names.

        Returns
        -------
        list
            The kernels, each with its label, columns and scaling.
        """
        names = self.features.columns.tolist()
        _, kernels = self.with_identifiers(kernels)
        if self.sources is None:
            labels = [bound.label for bound in bind_kernels(kernels) if bound.columns is None]
            places = columns_of_labels(labels, names)
            return kernels_of_sources(kernels, places, names) if places else kernel_list(kernels)
        places = {
            name: np.flatnonzero(self.features.columns.isin(columns))
            for name, columns in self.sources.items()
        }
        places = {name: columns for name, columns in places.items() if len(columns)}
        return kernels_of_sources(kernels, places, names)

    def with_identifiers(self, kernels: Any) -> tuple[Table, Any]:
        """Return the table with its identifiers as a column, if kernels look up rows by them.

        Parameters
        ----------
        kernels : str, sequence of kernels, or mapping
            As for an estimator.

        Returns
        -------
        tuple of (Table, object)
            The table, and the kernels, of which those on row ids that name no column name this one.
        """
        bank = [] if self.ids is None or kernels is None else bind_kernels(kernels)
        if self.ids is None or not any(bound.reads == "row ids" for bound in bank):
            return self, kernels
        ids = self.ids.to_numpy(dtype=object)
        columns: dict[str, pd.Series] = {}
        of_unknown: dict[bytes, str] = {}
        named = kernel_list(kernels)
        for place, bound in enumerate(bank):
            if bound.reads == "row ids" and bound.columns is None:
                unknown = bound.kernel.unknown(ids)
                if unknown.all():
                    _refuse_other_ids(bound, self.ids)
                unknown &= len(bank) > 1
                # Kernels that look up different samples need a column each.
                label = f"{self.ids.name}_{bound.label}" if columns else str(self.ids.name)
                name = of_unknown.setdefault(unknown.tobytes(), label)
                known = ids.copy()
                known[unknown] = None
                columns[name] = pd.Series(known, self.features.index, name=name)
                named[place] = (bound.label, bound.kernel, name, bound.scale)
        new = [name for name in columns if name not in self.features]
        features = pd.concat([self.features, *(columns[name] for name in new)], axis=1)
        identifiers = Columns.named(new, holds="text", notation=WRITTEN, role="identifier")
        schema = attrs.evolve(self.schema, columns=self.schema.columns + identifiers)
        return attrs.evolve(self, features=features, schema=schema), named

    @property
    def by_source(self) -> dict[str, pd.DataFrame]:
        """The features of each source, as estimators take them; of all if there are no sources."""
        if self.sources is None:
            return {self.name: self.features}
        return {name: self.features[[*columns]] for name, columns in self.sources.items()}

    @property
    def target_names(self) -> list[str]:
        """The names of the target columns."""
        of_several = isinstance(self.target, pd.DataFrame)
        return [str(name) for name in (self.target if of_several else [self.target.name])]

    @property
    def learned(self) -> Task:
        """The task, with the names of the targets."""
        return task_named(self.task, self.target_names)

    def class_counts(self) -> pd.Series:
        """Return the number of rows of each class, the largest first (ties by label).

        Returns
        -------
        pandas.Series
            The numbers, by class.
        """
        counts = self.all_counts
        if counts is None:
            counts = self.target.value_counts().sort_index()
        return counts.sort_values(ascending=False, kind="stable")

    def metadata(self) -> dict[str, Any]:
        """Return plain values that describe the data, as stored in model files.

        Returns
        -------
        dict
            Texts, numbers and lists of these, by name.
        """
        targets = self.target_names
        metadata: dict[str, Any] = {
            "name": self.name,
            "origin": self.origin,
            "rows": len(self.target),
            "columns": self.features.columns.tolist(),
            "dropped": self.dropped,
            "readings": {
                column.name: column.notation
                for column in self.schema.columns[~self.schema.columns.are(notation=AS_READ)]
            },
            "target": ", ".join(targets),
            "targets": targets,
            "task": self.task,
            "weights": None if self.weights is None else str(self.weights.name),
            "groups": None if self.groups is None else str(self.groups.name),
            "joined_by": None if self.ids is None else str(self.ids.name),
            "sources": None
            if self.sources is None
            else {k: len(v) for k, v in self.sources.items()},
            "notes": list(self.notes),
        }
        if not self.learned.has_classes:
            return metadata
        counts = self.class_counts()
        classes = [{"label": label, "rows": rows} for label, rows in counts.items()]
        return {**metadata, "rows": int(counts.sum()), "classes": classes}

    def summary(self) -> str:
        """Return the data in one line: rows, features, classes or range, target.

        Returns
        -------
        str
            Text without markup.
        """
        columns = [self.features[name] for name in self.features]
        n_text = sum(not is_numeric_dtype(c) or is_bool_dtype(c) for c in columns)
        features = counted(len(columns), "feature") + (f" ({n_text} not numeric)" if n_text else "")
        target = f"target {listed(self.target_names)}"
        values = self.learned.summary(self.target.to_numpy(), self.all_counts)
        weights = "" if self.weights is None else f", weights {str(self.weights.name)!r}"
        if not self.learned.has_classes:
            rows = counted(len(self.target), "sample")
            return f"{self.name}: {rows}, {features}; {target}, {values}{weights}"
        rows = counted(int(self.class_counts().sum()), "sample")
        return f"{self.name}: {rows}, {features}, {values}; {target}{weights}"


def load_table(
    source: str | PathLike[str] | StudyFiles,
    target: Wanted = None,
    drop: Sequence[str] = (),
    as_written: Collection[str] = (),
    weights: str | int | None = None,
    task: str = TASK,
) -> Table:
    """Read a data set with its target.

    Parameters
    ----------
    source : str, path or StudyFiles
        A built-in name (``breast_cancer``, ``iris``, ``wine``, ``digits``, ``digits_sources``,
        ``digits_missing``, ``mixed_sources``, ``multiple_features``) or the path of a CSV (also
        ``.gz``), Parquet, Feather, ARFF, libsvm, NPZ, AnnData or MuData file. The name of a layer
        follows the path, as in ``cells.h5ad:counts``.
    target : str, int or sequence of these, optional
        Name or position of the column to predict, or of several. Default: ``target``, else the last
        column; for a task with several columns, those of its own names.
    drop : sequence of str, optional
        Columns to leave out: names, globs (``lab_*``) or positions. Globs skip the target.
    as_written : collection of str, optional
        Columns that stay text, for kernels on text: globs or names; unknown ones are ignored.
    weights : str or int, optional
        Name or position of the column with the sample weights, which is not a feature.
    task : str, default="classification"
        How to treat the target: a name that ``mklkit list tasks`` shows, or ``"auto"``:
        ``"regression"`` if it looks like numbers, else ``"classification"``.

    Returns
    -------
    Table
        The rows whose target is known, with their positions in the file as index.

    Raises
    ------
    DataError
        If there is no such data set, file or column, it can't be read, or nothing can be learned
        from it.

    Examples
    --------
    >>> load_table("wine").features.shape
    (178, 13)
    """
    target = wanted_targets(target, task)
    raw = read_data(source, as_written)
    frame = raw.frame
    target, drop, weights = named_in_outcomes(raw, target, drop, weights)
    if raw.unnamed and target is None:
        raise DataError(
            f"{raw.origin} holds numbers without outcomes: join it to a file that has them, as in"
            " 'mklkit fit outcomes.csv --source words=counts.npz --by id'."
        )
    notes = list(raw.notes)
    counts = None
    check_rows(raw.name, len(frame), least=1)
    if weights is not None:
        names = list(frame.columns)
        column = choose_column(names, weights, "to take as the sample weights")
        if target is not None:
            target, _ = targets_and_dropped(names, raw.name, target, ())
            if column in target:
                raise DataError(
                    f"Column {quoted(column)} is the target and can't hold the sample weights too."
                )
        counts = numbers_of_weights(read_target(frame.pop(column), raw.decimal, []))
    targets, dropped = targets_and_dropped(list(frame.columns), raw.name, target, drop)
    dropped = [*dropped, *targets_again(raw, targets, notes)]
    columns = pd.DataFrame({name: read_target(frame[name], raw.decimal, notes) for name in targets})
    known = columns.notna().all(axis=1).to_numpy()
    check_rows(raw.name, note_without_target(known, targets, notes))
    if raw.sources is not None:
        known = _with_a_source(frame.drop(columns=[*dropped, *targets]), known, notes)
    if not known.all():
        columns = columns[known]
        counts = None if counts is None else counts[known]
    columns, learned = read_targets(columns, task)
    labels = columns[targets[0]] if len(targets) == 1 else columns
    rows = frame.drop(columns=[*dropped, *targets])
    table = resolved_table(raw, rows, known, labels, dropped, notes, _written(rows, as_written))
    table = with_sources(table, raw, known)
    if counts is not None:
        schema = Schema([*table.schema, Column(str(counts.name), role="weight")])
        table = attrs.evolve(table, weights=counts, schema=schema)
    return attrs.evolve(table, task=learned.name)


def load_study(
    sources: Mapping[str, Part],
    *,
    by: str,
    outcomes: Part,
    target: Wanted = None,
    drop: Sequence[str] = (),
    weights: str | int | None = None,
    task: str = TASK,
) -> Table:
    """Read the sources of a study, whose samples are joined by an identifier.

    Parameters
    ----------
    sources : mapping of str to str, path or DataFrame
        The file or frame of each source, by its name.
    by : str
        The column that identifies a sample in each of them; of a frame it may be the index.
    outcomes : str, path or DataFrame
        The file or frame with the target, whose other columns are a source too.
    target : str, int or sequence of these, optional
        The columns to predict, beside the outcomes; as for :func:`load_table`.
    drop : sequence of str, optional
        Columns to leave out, by their names in the joined table.
    weights : str or int, optional
        The column with the sample weights, beside the outcomes.
    task : str, default="classification"
        How to treat the target, as for :func:`load_table`.

    Returns
    -------
    Table
        The samples whose target is known and that have some source. ``table.by_source`` has a frame
        for each source, as estimators take them, and ``table.notes`` say what was joined.

    Raises
    ------
    DataError
        If a source lacks the identifier or has it twice, identifiers hardly match, a file can't be
        read, or nothing can be learned from the samples.

    Examples
    --------
    >>> import pandas as pd
    >>> from mklkit import MKLClassifier
    >>> outcomes = pd.DataFrame({"patient": ["p1", "p2", "p3", "p4"], "ill": [0, 1, 0, 1]})
    >>> genes = pd.DataFrame({"patient": ["p4", "p3", "p2", "p1"], "x": [2.0, 0.1, 2.2, 0.3]})
    >>> blood = pd.DataFrame({"patient": ["p1", "p2", "p4"], "x": [1.0, 3.0, 3.1]})
    >>> study = load_study({"genes": genes, "blood": blood}, by="patient", outcomes=outcomes)
    >>> study.features["genes_x"].tolist(), study.notes[3]
    ([0.3, 2.2, 0.1, 2.0], "joined by 'patient': 4 samples, of which 3 are in all 3 files")
    >>> MKLClassifier(["genes:rbf", "blood:rbf"]).fit(study.by_source, study.target).weights_
    array([[0.5, 0.5]])
    """
    files = StudyFiles(outcomes, sources, by)
    return load_table(files, target, drop, weights=weights, task=task)


def named_in_outcomes(
    raw: RawTable | TableInParts, target: Wanted, drop: Sequence[str], weights: str | int | None
) -> tuple[Wanted, Sequence[str], str | int | None]:
    """Return the target, columns to leave out and weights by their names.

    Positions are those of the first file, which has the outcomes, with the identifier.
    """
    if raw.ids is None:
        return target, drop, weights
    by = str(raw.ids.name)
    of_files = raw.sources or {"": raw.columns}
    outcomes = [*next(iter(of_files.values()))]
    if not outcomes:
        raise DataError(
            f"{raw.name} has no column of outcomes, only {quoted(by)} and features:"
            " join it, by --source, to a file that has them."
        )
    in_file = [by, *outcomes]
    targets, _ = targets_and_dropped(in_file, raw.name, target, ())
    named_weights = None if weights is None else _by_name(weights, in_file)
    return targets, [str(_by_name(column, in_file)) for column in drop], named_weights


def targets_again(
    raw: RawTable | TableInParts, targets: Sequence[str], notes: list[str]
) -> list[str]:
    """Return the columns of sources that are named like a target, with a note.

    Sources are files of the same study, and often bring its outcomes along.
    """
    names = [f"{source}_{target}" for source in raw.sources or {} for target in targets]
    again = [name for name in names if name in raw.columns]
    if again:
        notes.append(f"{named(again)} dropped, because the name is that of the target")
    return again


def _by_name(column: str | int, names: Sequence[str]) -> str | int:
    """Return a column of a file by its name, if it is given by its position."""
    text = str(column)
    if (
        text in names
        or not re.fullmatch(r"-?\d+", text)
        or not -len(names) <= int(text) < len(names)
    ):
        return column
    return names[int(text)]


def _with_a_source(
    features: pd.DataFrame, known: NDArray[np.bool_], notes: list[str]
) -> NDArray[np.bool_]:
    """Return which rows have a target and a value in some file, with a note on those without."""
    empty = known & without_values(features)
    note_without_source(int(empty.sum()), notes)
    return known & ~empty


def note_without_source(count: int, notes: list[str]) -> None:
    """Note how many rows with a target have no value in any file, if there are such."""
    if count:
        notes.append(f"{counted(count, 'sample')} without a value in any source dropped")


def resolved_table(
    source: RawTable | TableInParts,
    rows: pd.DataFrame,
    known: NDArray[np.bool_],
    labels: pd.Series | pd.DataFrame,
    dropped: list[str],
    notes: list[str],
    written: Collection[str] = (),
) -> Table:
    """Return a table of the rows that have a label, and decide what its columns hold.

    All rows decide; columns that are ``written`` stay text. The labels (n_known,) have the index
    of the table.
    """
    features, notations, read = settle_notations(rows, source.decimal or ".", written=written)
    features = take_rows(features, known).set_axis(labels.index)
    notes = [*notes, *read, *remarks(features, labels, notations)]
    others = [Column(str(name), role="target") for name in pd.DataFrame(labels)]
    others += [Column(str(name), role="dropped") for name in dropped]
    schema = columns_of(features, notations, others)
    return Table(features, labels, source.name, source.origin, notes, dropped, schema)


def with_sources(table: Table, joined: RawTable | TableInParts, rows: Any) -> Table:
    """Return the table of some rows with their identifiers and sources, if files were joined."""
    if joined.ids is not None:
        table = attrs.evolve(table, ids=joined.ids[rows].set_axis(table.features.index))
    if joined.sources is None:
        return table
    features = {*table.features}
    sources = {
        name: [column for column in columns if column in features]
        for name, columns in joined.sources.items()
    }
    return attrs.evolve(
        table, sources={name: columns for name, columns in sources.items() if columns}
    )


def _refuse_other_ids(bound: Any, ids: pd.Series) -> None:
    """Raise an error for a kernel that can look up none of the identifiers of a table."""
    raise DataError(
        f"No {quoted(str(ids.name))} of the samples is among the identifiers of kernel"
        f" {quoted(bound.label)}: {listed(ids.tolist())} are not among"
        f" {listed([*bound.kernel.known_ids()])}. Write them alike in the files and in the matrix."
    )


def _written(frame: pd.DataFrame, globs: Collection[str]) -> list[str]:
    """Return the columns that stay text; numbers without leading zeros become numbers."""
    names = [str(name) for name in frame if any(fnmatchcase(str(name), glob) for glob in globs)]
    texts = {name: frame[name].dropna() for name in names if is_text(frame[name])}
    return [
        name
        for name, values in texts.items()
        if values.str.fullmatch(r"0\d+").any()
        or pd.to_numeric(values, errors="coerce").isna().any()
    ]


def check_rows(name: str, count: int, least: int = 2) -> None:
    """Raise an error for a table without rows, or with a single one to learn from."""
    if count < least:
        few = "a single row: at least two, of two classes, are needed" if count else "no rows"
        raise DataError(f"{name} has {few}.")


def read_target(column: pd.Series, decimal: str | None, notes: list[str]) -> pd.Series:
    """Read the target as numbers if all values are; most gap marks may be classes here."""
    if decimal is None:
        return column
    frame, _, read = settle_notations(column.to_frame(), decimal, marks=TARGET_GAPS)
    notes += read
    return frame[column.name]
