"""The first pass over a table that is read in chunks: its classes, and a sample of its rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.chunked import ChunkedTable, Progress, joined
from mklkit.datasets.delimited import DECIMAL
from mklkit.datasets.loading import (
    check_rows,
    read_features,
    target_and_dropped,
    with_target_read,
)
from mklkit.datasets.numerals import TEXT
from mklkit.datasets.remarks import remarks, remarks_on_text
from mklkit.datasets.table import Table
from mklkit.datasets.target import class_labels, warn_of_numbers
from mklkit.errors import DataError, counted
from mklkit.numerics.sampling import own_stream

__all__ = ["RowSample", "Scan", "sample_size", "scan_table"]

SAMPLE_ROWS = 200_000
SAMPLE_CELLS = 20_000_000
# More different values are no classes, and would fill the memory that a pass is to save.
MOST_LABELS = 1 << 16


@attrs.frozen(eq=False)
class Scan:
    """What the first pass has found.

    Attributes
    ----------
    table : Table
        A sample of the rows that have a target, numbered from 1 among all of these. All of them
        where they are few.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    codes : ndarray of shape (n_rows,)
        The place of each row's label among the classes; -1 for a row without a target.
    members : ndarray of shape (n_sample,)
        The numbers of the sample's rows among all rows, from 0.
    """

    table: Table
    classes: NDArray[Any]
    codes: NDArray[Any]
    members: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        """The number of rows that have a target."""
        return int((self.codes >= 0).sum())

    @property
    def whole(self) -> bool:
        """Whether the sample is the whole table."""
        return len(self.members) == self.n_rows


def scan_table(
    table: ChunkedTable,
    target: str | int | None,
    drop: Sequence[str],
    seed: int,
    progress: Progress | None = None,
    most: int = SAMPLE_ROWS,
) -> Scan:
    """Read a table once for its classes, and settle on a sample what its columns hold.

    Parameters
    ----------
    table : ChunkedTable
        Its columns ``wanted`` and ``as_text`` are set.
    target, drop
        As for :func:`mklkit.datasets.load_table`.
    seed : int
        The seed of the sample.
    progress : callable, optional
        Called with the bytes read and their total.
    most : int
        The rows of the sample; fewer where there are many columns. A table of no more rows is
        settled as ``load_table`` does.

    Returns
    -------
    Scan

    Raises
    ------
    DataError
        As ``load_table``, and if files do not agree or change.
    """
    name, dropped = target_and_dropped(table.columns, table.name, target, drop)
    table.wanted = [column for column in table.columns if column not in dropped]
    table.check_agreement(table.wanted)
    most = min(most, sample_size(len(table.wanted)))
    while True:
        labels, sample = _Labels(name), RowSample(most, own_stream(seed))
        for chunk in table.chunks(progress):
            labels.add(chunk[name])
            sample.add(chunk)
        if table.settled:
            break
    check_rows(table.name, labels.n_rows, least=1)
    notes = list(table.notes)
    classes, codes = labels.settled(table.decimal, notes)
    without = int((codes < 0).sum())
    if without:
        notes.append(f"{counted(without, 'row')} without a target left out")
    check_rows(table.name, len(codes) - without)
    rows = sample.rows()
    features = rows.drop(columns=name)
    if table.decimal is not None:
        features.attrs[DECIMAL] = table.decimal
    features, readings, read = read_features(features, lambda names: _reread(table, names, rows))
    table.as_text |= {n for n in readings if rows[n].dtype == np.float64}
    # Of the rows with a target, as if there were no others.
    members = rows.index.to_numpy()[codes[rows.index] >= 0]
    numbers = members if not without else np.cumsum(codes >= 0)[members] - 1
    features = features.loc[members].set_axis(pd.Index(numbers + 1, name="row"))
    target_column = pd.Series(classes[codes[members]], features.index, name=name)
    if len(members) < len(codes) - without:
        notes.append(
            f"columns settled on a random sample of {len(members):,} of the"
            f" {len(codes) - without:,} rows: types, categories, medians, remarks"
        )
    notes += read + remarks(features, target_column)
    notes += remarks_on_text(features[n] for n, way in readings.items() if way == TEXT)
    counts = pd.Series(np.bincount(codes[codes >= 0], minlength=len(classes)), classes)
    found = Table(
        features, target_column, table.name, table.origin, notes, dropped, readings, counts
    )
    return Scan(found, classes, codes, members)


def sample_size(n_columns: int) -> int:
    """Return the number of rows of a sample, fewer where there are many columns."""
    return min(SAMPLE_ROWS, max(1000, SAMPLE_CELLS // max(1, n_columns)))


@attrs.define(eq=False)
class _Labels:
    """The target of the rows so far: its different values, and which of them each row has."""

    name: str
    found: dict[Hashable, int] = attrs.field(factory=dict)
    parts: list[NDArray[np.int32]] = attrs.field(factory=list)

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.parts))

    def add(self, column: pd.Series) -> None:
        codes, distinct = pd.factorize(column)
        places = [self.found.setdefault(value, len(self.found)) for value in distinct]
        if len(self.found) > MOST_LABELS:
            raise DataError(
                f"The target {self.name!r} has more than {MOST_LABELS} different values: a"
                " measurement or an identifier, not a class. Choose a column of classes as the"
                " target."
            )
        # A gap has the code -1, and so the last place.
        self.parts.append(np.asarray([*places, -1], dtype=np.int32)[codes])

    def settled(
        self, decimal: str | None, notes: list[str]
    ) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Return the classes and the rows' places among them."""
        values = pd.DataFrame({self.name: list(self.found)})
        if decimal is not None:
            values.attrs[DECIMAL] = decimal
        values = with_target_read(values, self.name, notes)
        known = values[self.name].dropna()
        if known.empty:
            raise DataError(f"The target {self.name!r} has no values at all.")
        codes = np.concatenate(self.parts)
        self.parts.clear()
        places = np.full(len(values) + 1, -1, dtype=np.int32)
        given = np.isin(codes, known.index)
        labels = class_labels(known, int(given.sum()))
        warn_of_numbers(labels)
        classes, places[known.index] = np.unique(labels.to_numpy(), return_inverse=True)
        return classes, places[codes]


@attrs.define(eq=False)
class RowSample:
    """A random sample of the rows so far: those with the least of a random number each."""

    most: int
    random: np.random.Generator
    frames: list[pd.DataFrame] = attrs.field(factory=list)
    keys: list[NDArray[np.float64]] = attrs.field(factory=list)
    bound: float = 1.0

    def add(self, chunk: pd.DataFrame) -> None:
        """Draw from more rows."""
        keys = self.random.random(len(chunk))
        kept = keys <= self.bound
        # Chunks without a row stay, for their types.
        self.frames.append(chunk if kept.all() else chunk[kept])
        self.keys.append(keys[kept])
        if sum(map(len, self.keys)) > 2 * self.most:
            self._cut()

    def rows(self) -> pd.DataFrame:
        """Return the sample in the order of the table."""
        self._cut()
        return self.frames[0]

    def _cut(self) -> None:
        keys, rows = np.concatenate(self.keys), joined(self.frames)
        if len(keys) > self.most:
            self.bound = float(np.partition(keys, self.most - 1)[self.most - 1])
            rows, keys = rows[keys <= self.bound], keys[keys <= self.bound]
        self.frames, self.keys = [rows], [keys]


def _reread(table: ChunkedTable, names: Sequence[str], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a sample again, with some columns as text."""
    again = attrs.evolve(table, wanted=list(names), as_text=table.as_text | {*names}, notes=[])
    return joined([chunk[chunk.index.isin(rows.index)] for chunk in again.chunks()])
