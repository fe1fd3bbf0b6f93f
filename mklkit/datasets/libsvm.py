"""libsvm's (svmlight's) format: one line per row, with the label and the non-zero entries."""

from __future__ import annotations

import gzip
import re
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from mklkit.datasets.table import RawTable
from mklkit.errors import DataError, plain_message, quoted

__all__ = ["read_libsvm"]

# Up to this width all columns are kept, so that their positions are those in the file.
WIDE = 10_000
# Kernels take dense rows, of which several copies are in memory at a time.
LARGEST_DENSE = 2e9
LARGEST_INDEX = 2**31 - 1
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?(?:inf|nan)"
LINE = re.compile(rf"(?:(?:{NUMBER})((?:\s+(?:qid|\d+):(?:{NUMBER}))*))?", re.ASCII | re.IGNORECASE)


def read_libsvm(path: Path) -> RawTable:
    """Read a file in libsvm's format as dense columns ``x0``, ``x1``, … and ``target``.

    If there are more than 10,000 columns, those that are zero in all rows are left out.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        rows, labels = load_svmlight_file(str(path))
    except (ValueError, OSError, EOFError, OverflowError, zlib.error) as error:
        reason = _first_fault(path) or plain_message(error)
        raise DataError(f"{path.name} can't be read as libsvm: {reason}") from error
    notes: list[str] = []
    columns = np.arange(min(rows.shape[1], WIDE))
    if rows.shape[1] > WIDE:
        # SciPy's selection of columns takes memory proportional to the width.
        columns, places = np.unique(rows.indices, return_inverse=True)
        if len(columns) < rows.shape[1]:
            notes = [f"{rows.shape[1] - len(columns)} columns without entries left out"]
        shape = (rows.shape[0], len(columns))
        rows = csr_array((rows.data, places, rows.indptr), shape=shape)
    size = 8.0 * rows.shape[0] * rows.shape[1]
    if size > LARGEST_DENSE:
        raise DataError(
            f"{path.name} has {rows.shape[0]} rows with {rows.shape[1]} columns: mklkit needs them"
            f" dense, which would take {1e-9 * size:.0f} GB of memory. Choose fewer rows or"
            " columns."
        )
    frame = pd.DataFrame(rows.toarray(), columns=[f"x{column}" for column in columns])
    return RawTable(frame.assign(target=labels), notes)


def _first_fault(path: Path) -> str | None:
    """Return the first line that can't be read, which scikit-learn's reader does not report."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with suppress(OSError, EOFError, zlib.error), opener(path, "rb") as file:
        for number, line in enumerate(file, 1):
            text = line.decode("utf-8", "replace").partition("#")[0].strip()
            match = LINE.fullmatch(text)
            indices = [] if match is None else _indices(match[1] or "")
            increasing = indices == sorted({*indices}) and max(indices, default=0) <= LARGEST_INDEX
            if match is None or not increasing:
                return (
                    f"line {number}, {quoted(text)}, is no label followed by index:value, all"
                    f" numbers, with increasing indices up to {LARGEST_INDEX}."
                )
    return None


def _indices(entries: str) -> list[int]:
    # A longer one is too large, and Python refuses to convert thousands of digits.
    return [int(index[:20]) for index in re.findall(r"(\d+):", entries)]
