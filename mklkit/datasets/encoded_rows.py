"""Encoding of a table that does not fit into memory, chunk by chunk, into files of numbers."""

from __future__ import annotations

import errno
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.chunked import ChunkedTable, Progress
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.scanning import Scan
from mklkit.datasets.text_columns import TYPING_ERRORS, ColumnReading
from mklkit.errors import DataError, counted, quoted
from mklkit.views.stored_rows import StoredRows

__all__ = ["EncodedRows", "encoded_rows"]

BLOCK_CELLS = 1 << 21
ROOM = Path("/var/tmp")


@attrs.frozen(eq=False)
class EncodedRows:
    """The rows of a table as numbers, in temporary files.

    Attributes
    ----------
    train, held_out : StoredRows
    notes : list of str
        What a sample of the rows could not tell: values that it lacks, typing errors.
    """

    train: StoredRows
    held_out: StoredRows
    notes: list[str]


@contextmanager
def encoded_rows(
    table: ChunkedTable,
    scan: Scan,
    held: NDArray[np.bool_],
    encoder: TableEncoder,
    scaler: Any,
    progress: Progress | None = None,
) -> Iterator[EncodedRows]:
    """Encode and scale a table's rows into files that are removed when the block ends.

    The encoder is fitted on the training rows of the scan's sample; gaps, ranges and the moments of
    the scaler, which needs ``partial_fit``, are those of all training rows. The numbers are
    ``float32`` where all inputs are. A few million of them are held in memory.

    Parameters
    ----------
    table : ChunkedTable
        As the scan has left it.
    scan : Scan
    held : ndarray of shape (n_rows,)
        Whether a row is held out; rows without a target belong to neither part.
    encoder : TableEncoder
    scaler : transformer or "passthrough"
    progress : callable, optional
        Called with the bytes read and their total.

    Raises
    ------
    DataError
        If the disk is too small, a file has changed, or a column holds other values than in the
        sample.
    """
    features = scan.table.features
    encoder.fit(features[~held[scan.members]])
    known = scan.codes >= 0
    sizes = [int((known & ~held).sum()), int((known & held).sum())]
    names, dtype = encoder.feature_names_out_, _dtype(encoder, features)
    with TemporaryDirectory(prefix="mklkit-", dir=_room(), ignore_cleanup_errors=True) as folder:
        _check_space(Path(folder), sum(sizes), len(names), dtype)
        paths = [Path(folder, "train"), Path(folder, "held-out")]
        counts = _Counts(encoder)
        with _full_disk_told(folder):
            with paths[0].open("wb") as train, paths[1].open("wb") as rest:
                for frame, out in _blocks(table, scan, held, encoder, counts, progress):
                    numbers = frame.to_numpy()
                    numbers[~out].astype(dtype, order="C").tofile(train)
                    numbers[out].astype(dtype, order="C").tofile(rest)
                    if scaler != "passthrough" and not out.all():
                        scaler.partial_fit(frame[~out])
            counts.put_into(encoder)
            if not scan.whole:
                counts.check_misfits()
            if scaler != "passthrough":
                for path in paths:
                    _scale(path, scaler, names, dtype)
        parts = [
            StoredRows(path, (size, len(names)), dtype, column_names=names)
            for path, size in zip(paths, sizes, strict=True)
        ]
        try:
            yield EncodedRows(parts[0], parts[1], [] if scan.whole else counts.notes())
        finally:
            for part in parts:
                part.close()


@attrs.define(eq=False)
class _Counts:
    """What is counted on all rows, of those that a sample may lack."""

    encoder: TableEncoder
    gaps: Counter[str] = attrs.field(factory=Counter)
    values: Counter[str] = attrs.field(factory=Counter)
    misfits: Counter[str] = attrs.field(factory=Counter)
    unseen: Counter[str] = attrs.field(factory=Counter)
    late: Counter[str] = attrs.field(factory=Counter)
    low: Any = np.inf
    high: Any = -np.inf

    def read(self, frame: pd.DataFrame, readings: Mapping[str, ColumnReading]) -> pd.DataFrame:
        """Read columns of text, and count the values that do not fit, which are gaps."""
        new = {}
        for name, reading in readings.items():
            if reading.holds != "text":
                self.values[name] += int(frame[name].notna().sum())
                new[name], misfits = reading.read(frame[name])
                self.misfits[name] += len(misfits)
        return frame.assign(**new)

    def add(self, frame: pd.DataFrame, encoded: pd.DataFrame) -> None:
        """Count in training rows, as read and as encoded."""
        gaps = frame.isna().sum()
        self.gaps.update({str(name): int(count) for name, count in gaps.items()})
        numbers = encoded[self.encoder.numeric_].to_numpy()
        # Medians, which stand for gaps, lie within the range.
        self.low = np.minimum(self.low, numbers.min(axis=0))
        self.high = np.maximum(self.high, numbers.max(axis=0))
        for name in self.encoder.empty_:
            self.late[name] += int(frame[name].notna().sum())
        for name, values in self.encoder.unseen_values(frame):
            self.unseen[name] += len(values)

    def put_into(self, encoder: TableEncoder) -> None:
        """Set the encoder's gaps and ranges to those of all training rows."""
        encoder.gaps_ = {str(name): self.gaps[str(name)] for name in encoder.feature_names_in_}
        encoder.ranges_ = np.array([self.low, self.high])

    def check_misfits(self) -> None:
        """Refuse columns that are not what the sample says in more than a few rows."""
        for name, count in self.misfits.items():
            if count > TYPING_ERRORS * self.values[name]:
                raise DataError(
                    f"Column {quoted(name)} holds numbers or dates in a sample of the rows, but"
                    f" other text in {counted(count, 'row')} of all: correct these values, leave"
                    " them empty, or leave the column out with --drop."
                )

    def notes(self) -> list[str]:
        """Return a line for each column with values that the sample lacks."""
        fates = [
            (self.misfits, "that are no numbers or dates taken as gaps, in all rows"),
            (self.unseen, "that the sample lacks taken as none of its categories"),
            (self.late, "left out, as the sample has none in this column"),
        ]
        return [
            f"column {quoted(name)}: {counted(count, 'value')} {fate}"
            for counter, fate in fates
            for name, count in counter.items()
            if count
        ]


def _blocks(
    table: ChunkedTable,
    scan: Scan,
    held: NDArray[np.bool_],
    encoder: TableEncoder,
    counts: _Counts,
    progress: Progress | None,
) -> Iterator[tuple[pd.DataFrame, NDArray[np.bool_]]]:
    """Yield some encoded rows, not yet scaled, and which of them are held out."""
    size = max(1, BLOCK_CELLS // len(encoder.feature_names_out_))
    target, done = scan.table.target.name, 1
    for whole in table.chunks(progress):
        for start in range(0, len(whole), size):
            chunk = whole.iloc[start : start + size]
            known = scan.codes[chunk.index] >= 0
            out = held[chunk.index][known]
            frame = chunk[known].drop(columns=str(target)).reset_index(drop=True)
            frame = counts.read(frame, scan.table.readings)
            # As the rows of a table in memory are numbered.
            frame.index = pd.RangeIndex(done, done + len(frame), name="row")
            done += len(frame)
            if len(frame):
                encoded = encoder.transform(frame)
                if not out.all():
                    counts.add(frame[~out], encoded[~out])
                yield encoded, out


def _dtype(encoder: TableEncoder, features: pd.DataFrame) -> np.dtype[Any]:
    """Return ``float32`` where all numbers of the table are, of which none is lost then."""
    single = all(features[name].dtype == np.float32 for name in encoder.numeric_)
    return np.dtype(
        np.float32 if single and encoder.numeric_ and not encoder.dates_ else np.float64
    )


def _scale(path: Path, scaler: Any, names: list[str], dtype: np.dtype[Any]) -> None:
    """Scale the numbers of a file in their place."""
    size = max(1, BLOCK_CELLS // len(names)) * len(names) * dtype.itemsize
    with path.open("r+b") as file:
        while block := file.read(size):
            # Computed in double precision, whatever is stored.
            numbers = np.frombuffer(block, dtype).reshape(-1, len(names)).astype(np.float64)
            scaled = scaler.transform(pd.DataFrame(numbers, columns=names, copy=False))
            file.seek(-len(block), os.SEEK_CUR)
            file.write(np.asarray(scaled).astype(dtype, order="C").tobytes())


def _room() -> str:
    """Return the folder for large temporary files: that of TMPDIR, by default /var/tmp."""
    if "TMPDIR" in os.environ or not os.access(ROOM, os.W_OK | os.X_OK):
        return gettempdir()
    return str(ROOM)


def _check_space(folder: Path, n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> None:
    needed = n_rows * n_columns * dtype.itemsize
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{n_rows} encoded rows of {n_columns} columns take {needed / 2**20:,.0f} MiB of disk"
            f" space, and {free / 2**20:,.0f} MiB are free in {folder.parent}: set the environment"
            " variable TMPDIR to a folder with more."
        )


@contextmanager
def _full_disk_told(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DataError(
            f"The encoded rows can't be written to {Path(folder).parent}: {error.strerror}. Set the"
            " environment variable TMPDIR to a folder with more space."
        ) from error
