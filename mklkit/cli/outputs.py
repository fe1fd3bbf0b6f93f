"""Output files: checked before anything is computed, and written completely or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mklkit.cli.console import plain, working
from mklkit.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

PICTURES = (".png", ".pdf", ".svg")
Write = Callable[["pd.DataFrame"], None]


def check_outputs(
    outputs: Sequence[Path | None],
    data: Sequence[str | None],
    model: Path | None = None,
    pictures: Sequence[Path | None] = (),
) -> None:
    """Refuse files that can't be written, that a command reads, or that are one file twice.

    ``data`` is as typed; ``model`` is read; ``pictures`` need matplotlib.
    """
    paths = [path for path in (*outputs, *pictures) if path is not None]
    if not paths:
        return
    from mklkit.datasets.builtin import BUILTIN_NAMES
    from mklkit.datasets.files import files_of
    from mklkit.datasets.paths import same_file
    from mklkit.persistence.atomic import check_writable

    for picture in filter(None, pictures):
        from mklkit.plotting.parts import require_matplotlib

        if picture.suffix.lower() not in PICTURES:
            raise DataError(f"A picture's name must end in {', '.join(PICTURES)}; got {picture}.")
        require_matplotlib()
    sources = [name for name in data if name is not None and name not in BUILTIN_NAMES]
    inputs = [(file, "the data") for name in sources for file in files_of(name)]
    inputs += [] if model is None else [(model, "the model")]
    for path in paths:
        check_writable(path)
        for file, contents in inputs:
            if same_file(path, file):
                raise DataError(f"{path} holds {contents}; choose another name for the file.")
    for first, second in combinations(paths, 2):
        if same_file(first, second):
            raise DataError(f"{first} and {second} are the same file; choose another name.")


def draw(path: Path, display: Callable[[], Any]) -> None:
    """Write the figure of a display, drawn without opening a window."""
    import matplotlib

    # Figures go to files only, so no screen is needed.
    matplotlib.use("Agg")
    from mklkit.persistence.atomic import replacing

    with working("drawing"), replacing(path) as file:
        figure = display().figure_
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)


@contextmanager
def results_file(output: Path | None) -> Iterator[Write]:
    """Yield a function that writes more rows to a CSV or Parquet file, or to stdout (None).

    The file appears, or replaces an older one, only when all rows have been written.
    """
    from mklkit.datasets.files import READERS, ending_of
    from mklkit.persistence.atomic import replacing

    if output is None:
        # UTF-8 like the file, whatever the terminal's encoding.
        yield _csv_to(sys.stdout.buffer, plain if sys.stdout.isatty() else str)
        sys.stdout.buffer.flush()
        return
    with replacing(output) as file:
        ending = ending_of(output)
        if ending is None or READERS[ending][0] != "Parquet":
            yield _csv_to(file)
            return
        with _parquet_to(file) as write:
            yield write


def _csv_to(file: BinaryIO, shown: Callable[[str], str] = str) -> Write:
    from mklkit.datasets.csv_file import csv_text

    begun = False

    def write(table: pd.DataFrame) -> None:
        nonlocal begun
        file.write(shown(csv_text(table, header=not begun)).encode())
        begun = True

    return write


@contextmanager
def _parquet_to(file: BinaryIO) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise DataError("Parquet needs pyarrow: pip install pyarrow, or write CSV.") from error
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
