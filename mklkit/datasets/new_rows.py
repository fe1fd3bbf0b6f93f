"""New rows to predict for, in chunks where a file is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike

import pandas as pd

from mklkit.datasets.builtin import BUILTIN_NAMES
from mklkit.datasets.chunk_files import GZIP_RATIO, CSVFile
from mklkit.datasets.chunked import CHUNKED, ChunkedTable, Progress, files_of
from mklkit.datasets.files import READERS, ending_of
from mklkit.datasets.loading import TARGET_GAPS, check_needed, check_rows, load_features
from mklkit.datasets.paths import status
from mklkit.datasets.readings import read_as_text, read_columns
from mklkit.datasets.scanning import RowSample, sample_size
from mklkit.datasets.table import NewRows
from mklkit.numerics.sampling import own_stream

__all__ = ["load_in_chunks"]

SMALL_FILE = 1 << 23


def load_in_chunks(
    source: str | PathLike[str],
    columns: Sequence[str],
    target: str | None = None,
    needed: Sequence[str] | None = None,
    readings: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    chunk_rows: int | None = None,
) -> Iterator[NewRows]:
    """Read new rows as :func:`mklkit.datasets.load_features` does, large files in chunks.

    Small files are one chunk. Of large CSV and Parquet files, globs and folders of them, some
    thousand rows are in memory at a time; a first pass settles how text is read in all chunks.

    Parameters
    ----------
    source, columns, target, needed, readings
        As for ``load_features``.
    progress : callable, optional
        Called with the bytes read and their total.
    chunk_rows : int, optional
        The number of rows of a chunk.

    Yields
    ------
    NewRows
        The rows in their order, with their number from 1 as the index after the first chunk; the
        first has the notes on all of them.

    Raises
    ------
    DataError
        As ``load_features``, and if a file changes meanwhile.
    """
    if not _is_large(source):
        yield load_features(source, columns, target, needed, readings)
        return
    table = ChunkedTable.opened(source, chunk_rows)
    wanted = list(columns if needed is None else needed)
    check_needed(table.name, table.columns, wanted, columns)
    labels = [target] if target is not None and target in table.columns else []
    table.wanted = [*wanted, *(name for name in labels if name not in wanted)]
    table.check_agreement(table.wanted)
    known = {} if readings is None else dict(readings)
    table.as_text = set(read_as_text(known))
    features, of_target, notes = _settled(table, wanted, labels, known)
    n_rows = 0
    for chunk in table.chunks(progress):
        n_rows += len(chunk)
        decimal = table.decimal or "."
        read, _, _ = read_columns(chunk[wanted], decimal, features)
        truth = chunk[labels]
        if table.decimal is not None:
            truth, _, _ = read_columns(truth, decimal, of_target, TARGET_GAPS)
        # In messages rows are named by their number in the file.
        numbers = pd.RangeIndex(n_rows - len(chunk) + 1, n_rows + 1, name="row")
        yield NewRows(
            read.reindex(columns=list(columns)).set_axis(numbers),
            truth[labels[0]].set_axis(numbers) if labels else None,
            notes,
        )
        notes = []
    check_rows(table.name, n_rows, least=1)


def _settled(
    table: ChunkedTable, wanted: list[str], labels: list[str], known: dict[str, str]
) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Return how columns of text are read in all chunks, those of the target, and notes."""
    kinds = [kind for file in table.files for kind in file.kinds.values()]
    if not any(isinstance(file, CSVFile) for file in table.files) and {*kinds} <= {"numbers"}:
        return known, {}, []
    while True:
        sample = RowSample(sample_size(len(wanted)), own_stream(0))
        n_rows = 0
        for chunk in table.chunks():
            n_rows += len(chunk)
            sample.add(chunk)
        if table.settled:
            break
    check_rows(table.name, n_rows, least=1)
    rows, decimal = sample.rows(), table.decimal or "."
    _, ways, notes = read_columns(rows[wanted], decimal, known)
    _, of_target, _ = read_columns(rows[labels], decimal, marks=TARGET_GAPS)
    if len(rows) < n_rows:
        notes = [f"in a sample of {len(rows):,} of the {n_rows:,} rows: {one}" for one in notes]
    return {**known, **ways}, of_target, [*table.notes, *notes]


def _is_large(source: str | PathLike[str]) -> bool:
    if str(source) in BUILTIN_NAMES:
        return False
    files = files_of(source)
    if len(files) > 1:
        return True
    ending, found = ending_of(files[0]), status(files[0])
    if ending is None or found is None or READERS[ending][0] not in CHUNKED:
        return False
    return found.st_size * (GZIP_RATIO if ending.endswith(".gz") else 1) > SMALL_FILE
