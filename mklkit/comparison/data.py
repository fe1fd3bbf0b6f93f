"""The data sets of a comparison, from what a user may give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from os import PathLike
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype

from mklkit.datasets import Table, load_table
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.kernel_columns import check_not_left_out, needed_unchanged
from mklkit.datasets.remarks import LIKE_IDENTIFIERS
from mklkit.datasets.target import (
    class_labels,
    drop_without_target,
    target_and_dropped,
    warn_of_numbers,
)
from mklkit.errors import DataError, counted, named, quoted, type_name
from mklkit.estimators.table_reading import placed_kernels
from mklkit.registry.columns import are_proposed, bind_kernels, kernel_list

LEARNED = ("string", "integer", "floating", "mixed-integer-float", "boolean", "empty")
"""The kinds of labels that methods learn, as pandas calls them."""


def in_unicode(name: str) -> str:
    """Return a name with what is not Unicode escaped, as of files whose names are not UTF-8.

    Examples
    --------
    >>> in_unicode("caf\\udce9"), in_unicode("café")
    ('caf\\\\udce9', 'café')
    """
    return name.encode(errors="backslashreplace").decode()


@attrs.frozen(eq=False)
class DataSet:
    """Rows and labels to compare on, with a summary in one line.

    ``encoding`` has ``identifiers`` and ``readings`` of :class:`mklkit.TableEncoder`, settled on
    all rows so that they do not depend on a split; ``table`` is the data as they were read. Notes
    are on that, and on how columns are encoded.
    """

    name: str = attrs.field(converter=in_unicode)
    features: pd.DataFrame
    target: NDArray[Any]
    summary: str
    encoding: dict[str, Any]
    table: Table
    notes: list[str] = attrs.field(factory=list)

    def fingerprint(self) -> str:
        """Return a digest of names, values and labels, equal only for equal data."""
        digest = sha256(repr([str(name) for name in self.features.columns]).encode())
        digest.update(pd.util.hash_pandas_object(self.features, index=False).to_numpy().tobytes())
        digest.update(repr(self.target.tolist()).encode())
        return digest.hexdigest()[:16]

    def without(self, column: str, note: str) -> DataSet:
        """Return the data without a column that is no feature, as a note says."""
        readings = {name: way for name, way in self.table.readings.items() if name != column}
        features, notes = self.table.features.drop(columns=column), [*self.table.notes, note]
        table = attrs.evolve(self.table, features=features, readings=readings, notes=notes)
        return attrs.evolve(_of_table(table, self.name), target=self.target)

    def for_kernels(self, kernels: Any) -> DataSet:
        """Return the data with a note on columns that kernels need as they are.

        Columns that are left out or that there are not are refused, with the reason.
        """
        if kernels is None or are_proposed(kernels):
            return self
        specs = [kernel for kernel in kernel_list(kernels) if isinstance(kernel, str)]
        check_not_left_out(specs, self.table, self.encoding["identifiers"])
        bank = bind_kernels(kernels)
        as_they_are, imputed = needed_unchanged(bank)
        encoder = TableEncoder(**self.encoding, as_they_are=as_they_are, imputed=imputed)
        encoded = encoder.fit(self.features).feature_names_out_
        placed_kernels(bank, len(encoded), encoded)
        notes = [*self.table.notes, *encoder.describe()]
        unread = set(self.encoding["identifiers"])
        if alone := [name for name in encoder.as_they_are_ if name in unread]:
            notes.append(f"other methods leave out {named(alone)}: {LIKE_IDENTIFIERS}")
        return attrs.evolve(self, notes=notes)

    def facts(self) -> dict[str, Any]:
        """Return plain values that identify and describe the data."""
        labels, counts = np.unique(self.target, return_counts=True)
        return {
            "name": self.name,
            "fingerprint": self.fingerprint(),
            "rows": len(self.target),
            "columns": [str(name) for name in self.features.columns],
            "classes": labels.tolist(),
            "class_counts": counts.tolist(),
        }


def check_labels(name: str, labels: NDArray[Any]) -> None:
    """Refuse labels of some data that no method could learn, by a DataError."""
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise DataError(
            f"{name} has no label in row {missing[0]} (counted from 0), as in {len(missing)} of"
            f" {len(labels)} rows; leave these rows out."
        )
    kind = infer_dtype(labels)
    if kind not in LEARNED or (kind != "string" and not np.isfinite(labels.astype(float)).all()):
        raise DataError(
            f"Labels must be all text, or all finite numbers or booleans; those of {name} are"
            f" {kind}, such as {quoted(labels.tolist()[0])}."
        )
    classes = np.unique(labels).tolist()
    if len(classes) < 2:
        alone = f"the class {quoted(classes[0])} alone" if classes else "no rows"
        raise DataError(f"{name} has {alone}; two or more are needed.")


def data_sets(source: Any, y: Any, target: str | int | None, drop: Any) -> list[DataSet]:
    """Return the data sets of what :func:`mklkit.compare` was given."""
    if y is not None:
        return [_of_rows("data", source, y)]
    if not isinstance(source, Mapping):
        sources = source if isinstance(source, list) else [source]
        data = [_data_set(part, None, target, drop) for part in sources]
    else:
        data = [_data_set(part, name, target, drop) for name, part in source.items()]
    names = [part.name for part in data]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"Two data sets are named {quoted(twice)}; in Python they can be named by a dict,"
            " elsewhere by their files."
        )
    if not data:
        raise DataError("Expected at least one data set, got an empty list.")
    return data


def _data_set(source: Any, name: str | None, target: str | int | None, drop: Any) -> DataSet:
    if isinstance(source, (str, PathLike)):
        source = load_table(source, target, drop)
    if isinstance(source, Table):
        return _of_table(source, name or source.name)
    if isinstance(source, tuple) and len(source) == 2:
        return _of_rows(name or "data", *source)
    if isinstance(source, pd.DataFrame) and target is not None:
        return _of_frame(name or "data", source, target, drop)
    raise DataError(
        "Expected the name of a data set, a file, or rows that need labels, as in compare(X, y),"
        " compare({'name': (X, y)}) or compare(frame, target='column'); got"
        f" {type_name(source)}."
    )


def _of_frame(name: str, frame: pd.DataFrame, target: str | int, drop: Any) -> DataSet:
    """Return the data of a frame that holds the labels as a column."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    label, dropped = target_and_dropped(frame.columns.tolist(), name, target, drop)
    notes: list[str] = []
    frame = drop_without_target(frame.drop(columns=dropped), label, notes)
    labels = class_labels(frame[label])
    warn_of_numbers(labels)
    return _of_rows(name, frame.drop(columns=label), labels, notes)


def _of_rows(name: str, X: Any, y: Any, notes: Sequence[str] = ()) -> DataSet:
    labels = np.asarray(y)
    if labels.shape != (len(X),):
        raise DataError(f"Expected {len(X)} labels, one per row; got y of shape {labels.shape}.")
    check_labels(name, labels)
    encoder = TableEncoder().fit(X)
    names = [str(column) for column in encoder.feature_names_in_]
    features = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    features = features.set_axis(names, axis=1).reset_index(drop=True)
    readings = encoder.readings_
    target = pd.Series(labels, dtype=object)
    table = Table(features, target, name, "", list(notes), readings=readings)
    return attrs.evolve(_encoded(table, name, encoder), target=labels)


def _of_table(table: Table, name: str) -> DataSet:
    return _encoded(table, name, TableEncoder(readings=table.readings).fit(table.features))


def _encoded(table: Table, name: str, encoder: TableEncoder) -> DataSet:
    n_rows, n_columns = table.features.shape
    size = f"{counted(n_rows, 'row')}, {counted(n_columns, 'feature')}"
    in_python = f"{name}: {size}, {table.target.nunique()} classes"
    return DataSet(
        name,
        table.features,
        table.target.to_numpy(),
        f"{table.summary()} ({table.origin})" if table.origin else in_python,
        {"identifiers": encoder.identifiers_, "readings": table.readings},
        table,
        [*table.notes, *encoder.describe()],
    )
