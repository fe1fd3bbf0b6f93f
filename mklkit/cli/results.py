"""Files of predictions, written chunk by chunk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mklkit.cli.console import plain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_parquet", "results_file"]

Write = Callable[["pd.DataFrame"], None]


@contextmanager
def results_file(output: Path | None) -> Iterator[Write]:
    """Yield a function that writes more rows to a CSV or Parquet file, or to stdout (None).

    The file is there when all rows have been written; until then, what was there before.
    """
    from mklkit.persistence.atomic import replacing

    if output is None:
        # UTF-8 like the file, whatever the terminal's encoding.
        yield _csv_to(sys.stdout.buffer, plain if sys.stdout.isatty() else str)
        sys.stdout.buffer.flush()
        return
    with replacing(output) as file:
        if not _is_parquet(output):
            yield _csv_to(file)
            return
        with _parquet_to(file) as write:
            yield write


def check_parquet(output: Path) -> None:
    """Raise a ``DataError`` if a Parquet file is asked for that can't be written."""
    from mklkit.errors import DataError

    if not _is_parquet(output):
        return
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise DataError(
            f"Writing {output.name} needs pyarrow: pip install pyarrow, or write CSV."
        ) from error


def _is_parquet(output: Path) -> bool:
    from mklkit.datasets.files import READERS, ending_of

    ending = ending_of(output)
    return ending is not None and READERS[ending][0] == "Parquet"


def _csv_to(file: BinaryIO, told: Callable[[str], str] = str) -> Write:
    from mklkit.datasets.csv_text import csv_text

    begun = False

    def write(table: pd.DataFrame) -> None:
        nonlocal begun
        file.write(told(csv_text(table, header=not begun)).encode())
        begun = True

    return write


@contextmanager
def _parquet_to(file: BinaryIO) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: Any = None

    def write(table: pd.DataFrame) -> None:
        nonlocal writer
        rows = pa.Table.from_pandas(table, preserve_index=False)
        if writer is None:
            writer = pq.ParquetWriter(file, rows.schema)
        writer.write_table(rows.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
