"""Tables that are read in parts, because they are several files or do not fit into memory."""

from __future__ import annotations

from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME
from mklkit.datasets.files import ChunkedTable, files_of
from mklkit.datasets.formats import format_of
from mklkit.datasets.paths import status
from mklkit.datasets.study_files import StudyFiles
from mklkit.errors import DataError
from mklkit.views.memory import memory_limit

COPIES = 3
"""A table in memory, its encoded numbers, and their scaled copy."""
CSV_RATIO = 32
"""The most memory that a byte of a CSV file can take: "a," becomes an object."""


def table_in_parts(
    data: str | StudyFiles | None, max_memory: int | str | None, always: bool = False
) -> ChunkedTable | None:
    """Return a table in chunks, if it is several files or too large for the memory, or ``always``.

    None if it can be read whole.
    """
    if isinstance(data, StudyFiles):
        if always:
            raise DataError(
                "The files of --source are joined in memory and can't be read in parts: join them"
                " before, or leave out --stream and --scheduler."
            )
        return None
    source = DEFAULT_NAME if data is None else data
    if source in BUILTIN_NAMES:
        if always:
            raise DataError(f"{source} is built in, and can't be read in parts; give a file.")
        return None
    files = files_of(source)
    if always or len(files) > 1:
        return ChunkedTable.opened(source)
    known, state, limit = format_of(files[0]), status(files[0]), memory_limit(max_memory)
    if known is None or not state or not state.st_size or limit is None:
        return None
    small = known.name == "CSV" and files[0].suffix.lower() != ".gz"
    if not known.in_parts or (small and COPIES * CSV_RATIO * state.st_size < limit):
        return None
    table = ChunkedTable.opened(source)
    return table if COPIES * table.bytes_in_memory > limit else None
