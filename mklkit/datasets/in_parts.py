"""Tables that are read in parts, because they are several files or do not fit into memory.

A first pass determines the classes and draws a random sample of at most 200,000 rows, which
determines types, readings of text, categories and medians (``scanning.py``). For a smaller table
the sample is the whole table, and the encoded columns equal those of a fit in memory. A second pass
encodes every row into a temporary file of numbers (``encoded_rows.py``), with missing values
counted on all rows. The model is fitted on that file as ``StoredRows`` (``views/stored_rows.py``).
"""

from __future__ import annotations

import math
from pathlib import Path

from mklkit.datasets.builtin import BUILTIN_NAMES, DEFAULT_NAME
from mklkit.datasets.files import ChunkedTable, TableInParts, files_of
from mklkit.datasets.formats import format_of
from mklkit.datasets.paths import status
from mklkit.datasets.study_files import StudyFiles
from mklkit.datasets.study_in_parts import StudyInParts
from mklkit.errors import DataError
from mklkit.views.memory import memory_limit

COPIES = 3
"""A table in memory, its encoded numbers, and their scaled copy."""
CSV_RATIO = 32
"""The most memory that a byte of a CSV file can take: "a," becomes an object."""


def table_in_parts(
    data: str | StudyFiles | None, max_memory: int | str | None, always: bool = False
) -> TableInParts | None:
    """Return a table in chunks, if it is several files or too large for the memory, or ``always``.

    None if it can be read whole.
    """
    limit = memory_limit(max_memory)
    if isinstance(data, StudyFiles):
        large = limit is not None and COPIES * _bytes_of(data, limit // COPIES) > limit
        several = any(len(files_of(file)) > 1 for file in data.files)
        return StudyInParts.opened(data) if always or several or large else None
    source = DEFAULT_NAME if data is None else data
    if source in BUILTIN_NAMES:
        if always:
            raise DataError(f"{source} is built in, and can't be read in parts; give a file.")
        return None
    files = files_of(source)
    if always or len(files) > 1:
        return ChunkedTable.opened(source)
    if limit is None or _most_in_memory(files[0]) < limit // COPIES:
        return None
    table = ChunkedTable.opened(source)
    return table if COPIES * table.bytes_in_memory > limit else None


def _bytes_of(study: StudyFiles, enough: int) -> int:
    """Return the approximate memory of the files that can be read in parts, or at most that."""
    files = [files_of(file)[0] for file in study.files if file not in BUILTIN_NAMES]
    most = sum(map(_most_in_memory, files))
    if most < enough:
        return int(most)
    return sum(ChunkedTable.opened(file).bytes_in_memory for file in files if _most_in_memory(file))


def _most_in_memory(file: Path) -> float:
    """Return the most memory that a file can take, infinite if it must be opened to know.

    It is 0 for a file that can't be read in parts.
    """
    known, state = format_of(file), status(file)
    if known is None or not state or not state.st_size or not known.in_parts:
        return 0
    plain = known.name == "CSV" and file.suffix.lower() != ".gz"
    return CSV_RATIO * state.st_size if plain else math.inf
