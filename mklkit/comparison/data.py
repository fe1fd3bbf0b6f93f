"""The data sets of a comparison, from the user's input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from os import PathLike
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets import Table, load_table
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.identifiers import LIKE_IDENTIFIERS
from mklkit.datasets.study_files import StudyFiles
from mklkit.datasets.table_schema import without_unread
from mklkit.datasets.target import (
    choose_column,
    drop_without_target,
    numbers_of_weights,
    read_targets,
    targets_and_dropped,
    task_claiming,
)
from mklkit.errors import DataError, counted, named, quoted, type_name
from mklkit.estimators.binding import placed_kernels
from mklkit.estimators.declaring import sources_of
from mklkit.estimators.joining import one_table_and_places
from mklkit.estimators.sources import (
    kernels_by_source,
)
from mklkit.estimators.training_data import checked_groups
from mklkit.evaluation.study import Roles, read_as_text
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Array, Role, Schema, Task
from mklkit.protocols.component import AUTO_TASK, TASK
from mklkit.registry.columns import (
    AUTO_KERNELS,
    are_proposed,
    bind_kernels,
    resolve_columns,
)
from mklkit.registry.tasks import task_named


def in_unicode(name: str) -> str:
    """Return a name with anything but Unicode escaped, for files whose names are not UTF-8.

    Examples
    --------
    >>> in_unicode("caf\\udce9"), in_unicode("café")
    ('caf\\\\udce9', 'café')
    """
    return name.encode(errors="backslashreplace").decode()


@attrs.frozen(eq=False)
class DataSet:
    """A table to compare on, with a name, a summary in one line, and notes.

    Notes tell how the data were read and columns encoded.
    """

    name: str = attrs.field(converter=in_unicode)
    table: Table
    summary: str
    notes: list[str] = attrs.field(factory=list)
    incomplete: NDArray[np.bool_] | None = None
    """Which samples lack some source of the compared kernels; None if none does."""

    @property
    def features(self) -> pd.DataFrame:
        """The columns that methods may learn from."""
        return self.table.features

    @property
    def target(self) -> NDArray[Any]:
        """The targets as the table has them, (N,) or (N, T)."""
        return self.table.target.to_numpy()

    @property
    def task(self) -> Task:
        """The task, with the names of the targets."""
        return self.table.learned

    @property
    def schema(self) -> Schema:
        """The schema of the table, settled on all rows so that it does not depend on a split."""
        return self.table.schema

    @property
    def weights(self) -> Array | None:
        """The weight of each sample in the fits (N,)."""
        return None if self.table.weights is None else self.table.weights.to_numpy()

    @property
    def groups(self) -> NDArray[np.intp] | None:
        """The number of each sample's group (N,)."""
        return checked_groups(self.table.groups, len(self.table.target))

    def fingerprint(self) -> str:
        """Return a digest of names, values and labels, equal only for equal data."""
        digest = sha256(repr([str(name) for name in self.features.columns]).encode())
        digest.update(pd.util.hash_pandas_object(self.features, index=False).to_numpy().tobytes())
        digest.update(repr(self.target.tolist()).encode())
        for per_row in (self.weights, self.groups):
            if per_row is not None:
                digest.update(per_row.tobytes())
        return digest.hexdigest()[:16]

    def without(self, column: str, use: str, role: Role) -> tuple[DataSet, pd.Series]:
        """Return the data without a column that is not a feature, with a note, and the column."""
        table, values = self.table.without(column, f"that {use}", role)
        table = attrs.evolve(table, notes=[*table.notes, f"column {quoted(values.name)} {use}"])
        return _of_table(table, self.name), values

    def grouped(self, groups: Any) -> DataSet:
        """Return the data with the groups that a column names, or an array (n_rows,) of them."""
        data, name = self, "groups"
        if isinstance(groups, str):
            data, groups = self.without(groups, "says which samples belong together", "group")
            name = groups.name
        numbers = pd.Series(checked_groups(groups, len(data.target)), name=name)
        return attrs.evolve(data, table=attrs.evolve(data.table, groups=numbers))

    def kernels_by_source(self) -> list[Any]:
        """Return the kernels to be chosen by default, one a source; none for a lone source."""
        sources = self.table.sources
        if sources is not None:
            return self.table.with_columns(AUTO_KERNELS) if len(sources) > 1 else []
        encoder = TableEncoder(schema=self.schema)
        encoded = encoder.fit_transform(self.features)
        # A fold may lack a category, but not the column that has it.
        origin = dict(zip(encoder.feature_names_out_, encoder.sources_, strict=True))
        coded = {*encoder.category_}
        return [
            (label, kernel, columns, scale)
            if isinstance(columns, str)
            else (
                label,
                kernel,
                list(dict.fromkeys(origin[c] if origin[c] in coded else c for c in columns)),
                scale,
            )
            for label, kernel, columns, scale in kernels_by_source(encoded)
        ]

    def read_by(self, kernels: Any) -> pd.DataFrame:
        """Return the columns that methods learn from, identifiers only if kernels name them."""
        return without_unread(self.features, self._schema_for(kernels))

    def _schema_for(self, kernels: Any) -> Schema:
        """Return the schema with what these kernels read."""
        proposed = kernels is not None and are_proposed(kernels)
        schema = Schema(sources=sources_of(kernels, None), infer=proposed)
        return schema.of_table(self.schema)

    def check_columns(self, columns: Any) -> None:
        """Raise an error for columns that do not exist after encoding."""
        encoded = TableEncoder(schema=self.schema).fit(self.features).feature_names_out_
        resolve_columns(columns, len(encoded), encoded)

    def for_kernels(self, kernels: Any) -> DataSet:
        """Return the data with a note on columns that kernels need unencoded.

        Columns that are omitted or do not exist raise an error, with the reason.
        """
        if kernels is None:
            return self
        encoder = TableEncoder(schema=self._schema_for(kernels))
        encoded = encoder.fit(self.features).feature_names_out_
        placed_kernels(bind_kernels(kernels), len(encoded), encoded)
        notes = [*self.table.notes, *encoder.describe(), *encoder.advice()]
        unread = self.schema.named(role="identifier")
        if alone := [name for name in encoder.passthrough_ if name in unread]:
            notes.append(f"other methods leave out {named(alone)}: {LIKE_IDENTIFIERS}")
        return attrs.evolve(self, notes=notes)

    def metadata(self) -> dict[str, Any]:
        """Return plain values that identify and describe the data."""
        return {
            "name": self.name,
            "fingerprint": self.fingerprint(),
            "rows": len(self.target),
            "rows_incomplete": 0 if self.incomplete is None else int(self.incomplete.sum()),
            "columns": [str(name) for name in self.features.columns],
            **self.task.metadata(self.target),
        }

    def check(self) -> None:
        """Raise an error for targets that no method could learn, by a DataError."""
        self.task.check_learnable(self.name, self.target)

    @property
    def truth(self) -> NDArray[Any]:
        """The targets that score models."""
        return self.task.truth(self.target)


def data_sets(
    source: Any, y: Any, roles: Roles, task: str = TASK, kernels: Any = None
) -> list[DataSet]:
    """Return the data sets in the arguments of :func:`mklkit.compare`.

    Files are read as the ``kernels`` need them.
    """
    if y is not None:
        return [_of_rows("data", source, y, roles, task)]
    if not isinstance(source, Mapping):
        sources = source if isinstance(source, list) else [source]
        data = [_data_set(part, None, roles, task, kernels) for part in sources]
    else:
        data = [_data_set(part, name, roles, task, kernels) for name, part in source.items()]
    names = [part.name for part in data]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"Two data sets are named {quoted(twice)}: in Python name them with a dict,"
            " elsewhere by their files."
        )
    if not data:
        raise DataError("Expected at least one data set, got an empty list.")
    if len({part.task.name for part in data}) > 1:
        kinds = ", ".join(f"{part.name} {part.task.plural}" for part in data)
        raise DataError(
            f"Data sets must have the same task; there are {kinds}. Compare them separately."
        )
    return data


def _data_set(source: Any, name: str | None, roles: Roles, task: str, kernels: Any) -> DataSet:
    if isinstance(source, (str, PathLike, StudyFiles)):
        _check_column(roles.weights)
        columns = roles.target, roles.drop, read_as_text(sources_of(kernels, None), source)
        source = load_table(source, *columns, weights=roles.weights, task=task).numbered()
        source, _ = source.with_identifiers(kernels)
    if isinstance(source, Table):
        return _of_table(source, name or source.name)
    if isinstance(source, tuple) and len(source) == 2:
        return _of_rows(name or "data", *source, roles, task)
    if isinstance(source, pd.DataFrame) and roles.target is not None:
        return _of_frame(name or "data", source, roles, task)
    raise DataError(
        "Expected the name of a data set, a file, or rows that need labels, as in compare(X, y),"
        " compare({'name': (X, y)}) or compare(frame, target='column'); got"
        f" {type_name(source)}."
    )


def _check_column(weights: Any) -> None:
    if weights is not None and not isinstance(weights, (str, int)):
        raise DataError(
            "Sample weights are a column's name or position, or with compare(X, y) an array;"
            f" got {type_name(weights)}."
        )


def _of_frame(name: str, frame: pd.DataFrame, roles: Roles, kind: str) -> DataSet:
    """Return the data of a frame that holds the targets as a column."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    names, dropped = targets_and_dropped(frame.columns.tolist(), name, roles.target, roles.drop)
    notes: list[str] = []
    frame = drop_without_target(frame.drop(columns=dropped), names, notes)
    targets, task = read_targets(frame[names], kind)
    return _of_rows(name, frame.drop(columns=names), targets, roles, task.name, notes)


def _of_rows(
    name: str, X: Any, y: Any, roles: Roles, kind: str, notes: Sequence[str] = ()
) -> DataSet:
    X, places = one_table_and_places(X, y)
    refuse_sparse(y, "y")
    if kind == AUTO_TASK:
        kind = task_claiming(pd.DataFrame(np.asarray(y), dtype=object).dropna())
    targets = task_named(kind).as_array(y)
    names: Any = () if targets.ndim == 1 else range(targets.shape[1])
    if isinstance(y, pd.DataFrame) and targets.ndim == 2:
        names = list(y)
    elif task_named(kind).columns:
        names = task_named(kind).targets
    task = task_named(kind, [str(each) for each in names])
    if targets.shape not in ((len(X),), (len(X), task.n_targets)) or (
        targets.ndim == 2 and task.has_classes
    ):
        raise DataError(f"Expected {len(X)} labels, one a sample; got y of shape {targets.shape}.")
    weights: pd.Series | None = None
    if isinstance(roles.weights, (str, int)) and isinstance(X, pd.DataFrame):
        column = choose_column(list(X.columns), roles.weights, "to take as the sample weights")
        weights, X = numbers_of_weights(X[column]), X.drop(columns=column)
    elif roles.weights is not None:
        weights = numbers_of_weights(pd.Series(roles.weights, name="weights"))
    if weights is not None and len(weights) != len(X):
        raise DataError(f"Expected {len(X)} weights, one per sample; got {len(weights)}.")
    encoder = TableEncoder().fit(X)
    columns = [str(column) for column in encoder.feature_names_in_]
    features = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    features = features.set_axis(columns, axis=1).reset_index(drop=True)
    # Text stays as it is, rather than in pandas' own type.
    dtype = object if targets.dtype.kind == "U" else targets.dtype
    columns_of_target = pd.DataFrame(targets, columns=list(task.targets), dtype=dtype)
    learned = columns_of_target if targets.ndim == 2 else columns_of_target.iloc[:, 0]
    table = Table(
        features,
        learned,
        name,
        "",
        list(notes),
        schema=Schema(encoder.schema_.columns),
        weights=weights,
        task=kind,
        sources=None
        if places is None
        else {source: [columns[n] for n in places[source].tolist()] for source in places},
    )
    data = _encoded(table, name, encoder)
    data.check()
    return data


def _of_table(table: Table, name: str) -> DataSet:
    return _encoded(table, name, TableEncoder(schema=table.schema).fit(table.features))


def _encoded(table: Table, name: str, encoder: TableEncoder) -> DataSet:
    n_rows, n_columns = table.features.shape
    size = f"{counted(n_rows, 'sample')}, {counted(n_columns, 'feature')}"
    holds = table.learned.plural
    if table.learned.has_classes:
        holds = f"{table.target.nunique()} {holds}"
    summary = f"{table.summary()} ({table.origin})" if table.origin else f"{name}: {size}, {holds}"
    return DataSet(name, table, summary, [*table.notes, *encoder.describe(), *encoder.advice()])
