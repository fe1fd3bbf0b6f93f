"""libsvm's (svmlight's) format: one line per row, with the label and the non-zero entries."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from mklkit.errors import DataError, plain_message

__all__ = ["read_libsvm"]

# Up to this width all columns are kept, so that their positions are those in the file.
WIDE = 10_000
# Kernels take dense rows, of which several copies are in memory at a time.
LARGEST_DENSE = 2e9
LARGEST_INDEX = 2**31 - 1
SHOWN_LETTERS = 40


def read_libsvm(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read a file in libsvm's format as dense columns ``x0``, ``x1``, … and ``target``.

    If there are more than 10,000 columns, those that are zero in all rows are left out.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    frame : pandas.DataFrame
    notes : list of str
        Whether columns were left out.

    Raises
    ------
    DataError
        If a line can't be read, or the rows would be too large when dense.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        rows, labels = load_svmlight_file(str(path))
    except (ValueError, OSError, EOFError, OverflowError, zlib.error) as error:
        reason = _first_fault(path) or plain_message(error)
        raise DataError(f"{path.name} can't be read as libsvm: {reason}") from error
    notes: list[str] = []
    if rows.shape[1] <= WIDE:
        columns = np.arange(rows.shape[1])
    else:
        # SciPy's selection of columns takes memory proportional to the width.
        columns, places = np.unique(rows.indices, return_inverse=True)
        if len(columns) < rows.shape[1]:
            notes = [f"{rows.shape[1] - len(columns)} columns without entries left out"]
        shape = (rows.shape[0], len(columns))
        rows = csr_array((rows.data, places, rows.indptr), shape=shape)
    return _dense(rows, columns, path).assign(target=labels), notes


def _dense(rows: Any, columns: np.ndarray, path: Path) -> pd.DataFrame:
    size = 8.0 * rows.shape[0] * rows.shape[1]
    if size > LARGEST_DENSE:
        raise DataError(
            f"{path.name} has {rows.shape[0]} rows with {rows.shape[1]} columns: mklkit needs them"
            f" dense, which would take {1e-9 * size:.0f} GB of memory. Choose fewer rows or"
            " columns."
        )
    return pd.DataFrame(rows.toarray(), columns=[f"x{column}" for column in columns])


def _first_fault(path: Path) -> str | None:
    """Return which line can't be read and why, which scikit-learn's reader does not report."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            for number, line in enumerate(file, 1):
                fault = _fault_of(line.decode("utf-8", "replace").partition("#")[0].split())
                if fault is not None:
                    return f"line {number}: {fault}"
    except (OSError, EOFError, zlib.error) as error:
        return getattr(error, "strerror", None) or str(error)
    return None


def _fault_of(words: list[str]) -> str | None:
    if not words:
        return None
    if not _is_number(words[0]):
        return f"a number is expected as the label, got {words[0]:.{SHOWN_LETTERS}}."
    last = -1
    for word in words[1:]:
        index, _, value = word.partition(":")
        if index == "qid":
            continue
        if not (index.isascii() and index.isdigit() and _is_number(value)):
            return f"index:value is expected, both numbers, got {word:.{SHOWN_LETTERS}}."
        position = int(index) if len(index) <= len(str(LARGEST_INDEX)) else LARGEST_INDEX + 1
        if position > LARGEST_INDEX:
            return f"the index {index:.{SHOWN_LETTERS}} is above the maximum, {LARGEST_INDEX}."
        if position <= last:
            return f"indices must increase from entry to entry, got {index} after {last}."
        last = position
    return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
