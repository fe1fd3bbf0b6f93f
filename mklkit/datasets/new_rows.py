"""New rows to predict for, in chunks where a file is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike

import attrs
import pandas as pd

from mklkit.datasets.builtin import BUILTIN_NAMES
from mklkit.datasets.chunked import CHUNKED, ChunkedTable, Progress
from mklkit.datasets.csv_file import GZIP_RATIO
from mklkit.datasets.files import READERS, ending_of, files_of
from mklkit.datasets.loading import check_needed, check_rows, load_features, new_rows
from mklkit.datasets.paths import status
from mklkit.datasets.readings import notes_on, read_as_text
from mklkit.datasets.table import NewRows
from mklkit.datasets.text_columns import ColumnReading

__all__ = ["load_in_chunks"]

SMALL_FILE = 1 << 23


def load_in_chunks(
    source: str | PathLike[str],
    columns: Sequence[str],
    target: str | None = None,
    needed: Sequence[str] | None = None,
    readings: Mapping[str, ColumnReading] | None = None,
    progress: Progress | None = None,
    chunk_rows: int | None = None,
) -> Iterator[NewRows]:
    """Read new rows as :func:`mklkit.datasets.load_features` does, large files in chunks.

    Small files are one chunk. Of large CSV and Parquet files, globs and folders of them, some
    thousand rows are in memory at a time. Columns that training has not read are read in all chunks
    as in the first that holds some text in them.
    Rows are numbered from 1 then.
    """
    if not _is_large(source):
        yield load_features(source, columns, target, needed, readings)
        return
    table = ChunkedTable.opened(source, chunk_rows)
    wanted = list(columns if needed is None else needed)
    check_needed(table.name, table.columns, wanted, columns)
    table.wanted = [name for name in table.columns if name in wanted or name == target]
    table.check_agreement(table.wanted)
    known = {} if readings is None else dict(readings)
    table.as_text |= {*read_as_text(known)}
    n_rows, told, notes = 0, dict[str, ColumnReading](), list(table.notes)
    for chunk in table.chunks(progress, uniform=False):
        # In messages rows are named by their number in the file.
        frame = chunk.set_axis(pd.RangeIndex(n_rows + 1, n_rows + len(chunk) + 1, name="row"))
        n_rows += len(frame)
        rows, now = new_rows(frame, columns, wanted, target, known, table.decimal)
        notes += notes_on({name: reading for name, reading in now.items() if name not in told})
        told, known = now | told, now | known
        yield attrs.evolve(rows, notes=notes)
        notes = []
    check_rows(table.name, n_rows, least=1)


def _is_large(source: str | PathLike[str]) -> bool:
    if str(source) in BUILTIN_NAMES:
        return False
    files = files_of(source)
    ending, state = ending_of(files[0]), status(files[0])
    if len(files) > 1:
        return True
    if ending is None or state is None or READERS[ending][0] not in CHUNKED:
        return False
    return state.st_size * (GZIP_RATIO if ending.endswith(".gz") else 1) > SMALL_FILE
