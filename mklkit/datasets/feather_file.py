"""Feather files (version 2), which are Arrow's files of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from mklkit.datasets.columns import check_names
from mklkit.datasets.file_contents import FileContents
from mklkit.datasets.parquet_file import frame_of, readable_by_arrow, writing_arrow
from mklkit.errors import DataError


def read_feather(path: Path) -> FileContents:
    """Read a file; needs pyarrow."""
    with readable_by_arrow(path, "Feather"):
        from pyarrow import ipc

        with path.open("rb") as file:
            table = ipc.open_file(file).read_all()
        check_names(table.schema.names, path.name)
        empty = table.schema.empty_table().to_pandas()
        labels = [name for name in empty.index.names if isinstance(name, str)]
        columns = [str(name) for name in empty.columns]
        frame = frame_of(table, [*labels, *columns])
        return FileContents(frame[columns], labels=frame[labels])


def columns_in(path: Path) -> list[str]:
    """Return the names of the columns of a file."""
    from pyarrow import ipc

    with path.open("rb") as file:
        return [str(name) for name in ipc.open_file(file).schema.names]


@contextmanager
def writing(file: BinaryIO, _name: str = "") -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give a function that writes more rows of the same columns."""
    try:
        from pyarrow import ipc
    except ImportError as error:
        raise DataError("Feather needs pyarrow: pip install pyarrow, or write CSV.") from error
    with writing_arrow(lambda schema: ipc.new_file(file, schema)) as write:
        yield write
