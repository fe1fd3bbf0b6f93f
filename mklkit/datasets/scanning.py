"""The first pass over a table that is read in chunks: its classes, and a sample of its rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.files import LateText, Progress, TableInParts, joined
from mklkit.datasets.table import (
    Table,
    check_rows,
    named_in_outcomes,
    note_without_source,
    read_target,
    resolved_table,
    targets_again,
    with_sources,
)
from mklkit.datasets.target import (
    Wanted,
    class_labels,
    note_without_target,
    targets_and_dropped,
    warn_of_numbers,
)
from mklkit.errors import DataError
from mklkit.numerics.sampling import own_stream

SAMPLE_ROWS = 200_000
SAMPLE_CELLS = 20_000_000
# More distinct values are not classes, and would fill the memory that reading in chunks saves.
MOST_LABELS = 1 << 16


@attrs.frozen(eq=False)
class Scan:
    """The results of the first pass over a table.

    ``table`` is a sample of the rows that have a target, numbered from 1 among all of these;
    ``members`` are its rows' numbers among all rows, from 0. ``codes`` are the places of all rows'
    labels among the sorted ``classes``, -1 for a row without a target.
    """

    table: Table
    classes: NDArray[Any]
    codes: NDArray[Any]
    members: NDArray[np.intp]

    @property
    def whole(self) -> bool:
        """Whether the sample has all rows that have a target."""
        return len(self.members) == int((self.codes >= 0).sum())


def scan_table(
    table: TableInParts,
    target: Wanted,
    drop: Sequence[str],
    seed: int,
    progress: Progress | None = None,
    most: int = SAMPLE_ROWS,
) -> Scan:
    """Read a table once for its classes, and decide on a sample what its columns hold.

    The sample has at most that many rows, fewer for many columns. A table without more rows is
    treated as in :func:`mklkit.datasets.load_table`. The table is set to read only its target and
    features.
    """
    target, drop, _ = named_in_outcomes(table, target, drop, None)
    (name,), dropped = targets_and_dropped(table.columns, table.name, target, drop)
    again = list[str]()
    dropped = [*dropped, *targets_again(table, [name], again)]
    table.read_only([column for column in table.columns if column not in dropped])
    n_columns = len(table.columns) - len(dropped)
    most = min(most, SAMPLE_ROWS, max(1000, SAMPLE_CELLS // n_columns))
    labels, sample = _first_pass(table, name, most, seed, progress)
    notes = [*table.notes, *again]
    check_rows(table.name, len(labels.codes), least=1)
    classes, codes = labels.resolved(table.decimal, notes)
    known = codes >= 0
    n_known = int(known.sum())
    check_rows(table.name, n_known)
    rows = sample.rows()
    # Only of the rows with a target.
    in_table = known[rows.index]
    members = rows.index.to_numpy()[in_table]
    numbers = pd.Index(np.cumsum(known)[members], name="row")
    if len(members) < n_known:
        notes.append(
            f"decided on a random sample of {len(members):,} of the {n_known:,} rows:"
            " types, categories, medians, remarks"
        )
    targets = pd.Series(classes[codes[members]], numbers, name=name)
    counts = pd.Series(np.bincount(codes[known], minlength=len(classes)), classes)
    features = rows.drop(columns=name)
    resolved = resolved_table(table, features, in_table, targets, dropped, notes)
    resolved = with_sources(attrs.evolve(resolved, all_counts=counts), table, members)
    return Scan(resolved, classes, codes, members)


def _first_pass(
    table: TableInParts, target: str, most: int, seed: int, progress: Progress | None
) -> tuple[_Labels, _RowSample]:
    while True:
        labels, sample = _Labels(target), _RowSample(most, own_stream(seed))
        try:
            for chunk in table.chunks(progress):
                empty = np.zeros(len(chunk), bool)
                if table.sources is not None:
                    empty = chunk.drop(columns=target).isna().all(axis=1).to_numpy()
                labels.add(chunk[target], empty)
                sample.add(chunk)
        except LateText:
            continue
        return labels, sample


class _Labels:
    """The target of the rows so far: its distinct values, the value of each row, and empty rows.

    The latter have no value in any source.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[Hashable, int] = {}
        self.parts: list[NDArray[np.int32]] = []
        self.empty: list[NDArray[np.bool_]] = []

    @property
    def codes(self) -> NDArray[np.int32]:
        return np.concatenate([np.empty(0, dtype=np.int32), *self.parts])

    def add(self, column: pd.Series, empty: NDArray[np.bool_]) -> None:
        self.empty.append(empty)
        codes, distinct = pd.factorize(column)
        places = [self.places.setdefault(value, len(self.places)) for value in distinct]
        if len(self.places) > MOST_LABELS:
            raise DataError(
                f"The target {self.name!r} has more than {MOST_LABELS} different values: a"
                " measurement or an identifier, not a class. Choose a column of classes as the"
                " target."
            )
        # A gap has the code -1, and so the last place.
        self.parts.append(np.asarray([*places, -1], dtype=np.int32)[codes])

    def resolved(
        self, decimal: str | None, notes: list[str]
    ) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Return the classes and the rows' places among them."""
        values = read_target(pd.Series(list(self.places), name=self.name), decimal, notes)
        codes = self.codes
        known = values.dropna()
        has_target = np.isin(codes, known.index)
        empty = has_target & np.concatenate([np.empty(0, bool), *self.empty])
        n_known = note_without_target(has_target, [self.name], notes) - int(empty.sum())
        note_without_source(int(empty.sum()), notes)
        codes[empty] = -1
        known = known[known.index.isin(codes)]
        labels = class_labels(known, n_known)
        warn_of_numbers(labels)
        places = np.full(len(values) + 1, -1, dtype=np.int32)
        classes, places[known.index] = np.unique(labels.to_numpy(), return_inverse=True)
        return classes, places[codes]


class _RowSample:
    """A random sample of the rows so far: those with the smallest random numbers."""

    def __init__(self, most: int, random: np.random.Generator) -> None:
        self.most = most
        self.random = random
        self.bound = 1.0
        self.frames: list[pd.DataFrame] = []
        self.keys: list[NDArray[np.float64]] = []

    def add(self, chunk: pd.DataFrame) -> None:
        """Draw from more rows."""
        keys = self.random.random(len(chunk))
        kept = keys <= self.bound
        # Empty chunks stay, for their types.
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
