"""The second pass over a table that is read in chunks: its rows as numbers, in files."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.files import Progress, TableInParts
from mklkit.datasets.paths import MORE_SPACE, scratch_folder, written_to
from mklkit.datasets.readings import TYPING_ERRORS, holds_of, misfits_in
from mklkit.datasets.scanning import Scan
from mklkit.errors import DataError, IncompatibleError, counted, quoted
from mklkit.protocols import Column
from mklkit.views.stored_rows import StoredRows

BLOCK_CELLS = 1 << 21
MISFIT = "that are no numbers or dates taken as gaps, in all rows"
UNSEEN = "that the sample lacks taken as none of its categories"
LATE = "dropped, as the sample has none in this column"


@attrs.frozen(eq=False)
class EncodedRows:
    """The rows of a table as numbers, in temporary files, and notes beyond the sample.

    Training rows may ``miss_sources``: these are NaN.
    """

    train: StoredRows
    held_out: StoredRows
    notes: list[str]
    miss_sources: bool


@contextmanager
def encoded_rows(
    table: TableInParts,
    scan: Scan,
    held: NDArray[np.bool_],
    encoder: TableEncoder,
    progress: Progress | None = None,
) -> Iterator[EncodedRows]:
    """Encode a table's rows into files that are removed when the block ends.

    The encoder is fitted on the training rows of the scan's sample; gaps and ranges are those of
    all training rows. The numbers are ``float32`` if all inputs are. Rows that are ``held`` (N,)
    out, and those without a target, are not training rows.
    """
    features = scan.table.features
    encoder.fit(features[~held[scan.members]])
    if encoder.words_:
        raise IncompatibleError(
            f"Column {quoted(encoder.words_[0])} holds text that a kernel reads as it is, and a"
            " table that is read in parts becomes a file of numbers: leave out --stream, or allow"
            " more memory by --max-memory."
        )
    known = scan.codes >= 0
    sizes = [int((known & ~held).sum()), int((known & held).sum())]
    names = encoder.feature_names_out_
    dtype = _dtype(encoder, features)
    room = scratch_folder()
    with TemporaryDirectory(prefix="mklkit-", dir=room, ignore_cleanup_errors=True) as folder:
        paths = [Path(folder, "train"), Path(folder, "held-out")]
        counts = _Counts(encoder)
        space = _space(room, sum(sizes), len(names), dtype)
        with space, paths[0].open("wb") as train, paths[1].open("wb") as rest:
            for frame, out in _blocks(table, scan, held, counts, progress):
                numbers = frame.to_numpy().astype(dtype, order="C")
                numbers[~out].tofile(train)
                numbers[out].tofile(rest)
        encoder.schema_ = encoder.schema_.with_n_gaps(counts.gaps)
        encoder.ranges_ = np.array([counts.low, counts.high])
        encoder.gaps_left_ = counts.left
        notes = [] if scan.whole else counts.notes()
        rows = [
            StoredRows(path, (size, len(names)), dtype, column_names=names)
            for path, size in zip(paths, sizes, strict=True)
        ]
        try:
            yield EncodedRows(rows[0], rows[1], notes, counts.miss_sources)
        finally:
            for stored in rows:
                stored.close()


class _Counts:
    """Counts over all rows of values that the sample may lack."""

    def __init__(self, encoder: TableEncoder) -> None:
        self.encoder = encoder
        self.gaps, self.values = Counter[str](), Counter[str]()
        self.strays = Counter[tuple[str, str]]()
        self.low: Any = np.inf
        self.high: Any = -np.inf
        self.left = np.zeros(encoder.n_features_in_, np.intp)
        self.miss_sources = False

    def read(self, frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
        """Read columns of text, and count the values that do not fit, which become gaps."""
        new = {}
        for column in columns:
            if holds_of(column.notation) != "text":
                name = str(column.name)
                self.values[name] += int(frame[name].notna().sum())
                new[name], misfits = misfits_in(frame[name], column.notation)
                self.strays[MISFIT, name] += len(misfits)
        return frame.assign(**new)

    def add(self, frame: pd.DataFrame, encoded: pd.DataFrame) -> None:
        """Count in training rows, as read and as encoded."""
        self.gaps.update({str(name): int(count) for name, count in frame.isna().sum().items()})
        self.left += self.encoder.gaps_left_in(frame)
        numbers = encoded[self.encoder.numeric_].to_numpy()
        # Medians, which replace gaps, lie within the range.
        self.low = np.fmin(self.low, np.fmin.reduce(numbers, axis=0))
        self.high = np.fmax(self.high, np.fmax.reduce(numbers, axis=0))
        self.miss_sources |= bool(encoded.isna().any(axis=None))
        for name in self.encoder.empty_:
            self.strays[LATE, name] += int(frame[name].notna().sum())
        for name, values in self.encoder.unseen_values(frame):
            self.strays[UNSEEN, name] += len(values)

    def notes(self) -> list[str]:
        """Return a line for each column with values that the sample lacks.

        A column that contradicts the sample in more than a few rows raises an error.
        """
        for (fate, name), count in self.strays.items():
            if fate == MISFIT and count > TYPING_ERRORS * self.values[name]:
                raise DataError(
                    f"Column {quoted(name)} holds numbers or dates in a sample of the rows, but"
                    f" other text in {counted(count, 'row')} of all: correct these values, leave"
                    " them empty, or leave the column out with --drop."
                )
        return [
            f"column {quoted(name)}: {counted(count, 'value')} {fate}"
            for (fate, name), count in self.strays.items()
            if count
        ]


def _blocks(
    table: TableInParts,
    scan: Scan,
    held: NDArray[np.bool_],
    counts: _Counts,
    progress: Progress | None,
) -> Iterator[tuple[pd.DataFrame, NDArray[np.bool_]]]:
    """Yield some encoded rows, and which of them are held out."""
    size = max(1, BLOCK_CELLS // len(counts.encoder.feature_names_out_))
    for chunk in table.chunks(progress):
        for start in range(0, len(chunk), size):
            block = chunk.iloc[start : start + size].drop(columns=str(scan.table.target.name))
            known = scan.codes[block.index] >= 0
            out = held[block.index][known]
            # Numbered like the rows of a table in memory.
            numbers = (block.index[known] + 1).rename("row")
            frame = counts.read(block[known].set_axis(numbers), scan.table.schema)
            if len(frame):
                encoded = counts.encoder.transform(frame)
                if not out.all():
                    counts.add(frame[~out], encoded[~out])
                yield encoded, out


def _dtype(encoder: TableEncoder, features: pd.DataFrame) -> np.dtype[Any]:
    """Return ``float32`` if all numbers of the table have this type, so that none loses digits."""
    single = all(features[name].dtype == np.float32 for name in encoder.numeric_)
    plain = bool(encoder.numeric_) and not encoder.dates_
    return np.dtype(np.float32 if single and plain else np.float64)


@contextmanager
def _space(room: str, n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> Iterator[None]:
    """Raise an error if the disk has no space for the rows, before and during writing."""
    needed = n_rows * n_columns * dtype.itemsize
    free = shutil.disk_usage(room).free
    if needed > free:
        raise DataError(
            f"{n_rows} encoded rows of {n_columns} columns take {needed / 2**20:,.0f} MiB of disk"
            f" space, and {free / 2**20:,.0f} MiB are free in {room}: {MORE_SPACE}."
        )
    with written_to(room, "The encoded rows"):
        yield
