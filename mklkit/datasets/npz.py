"""NumPy archives of rows and labels, and SciPy's of a sparse matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import load_npz

from mklkit.datasets.file_contents import FileContents, matrix_columns
from mklkit.datasets.paths import readable_as
from mklkit.errors import DataError, plain_message

# The kinds of NumPy types that hold one number, text, date or duration per element.
PLAIN_KINDS = "biufSUMm"
SPARSE = {"format", "shape", "data"}
"""Arrays that SciPy writes for a sparse matrix of any format."""


def read_npz(path: Path) -> FileContents:
    """Read arrays ``X`` and, if present, ``y`` (or ``data`` and ``target``).

    ``feature_names`` may name the columns. An archive of ``scipy.sparse.save_npz`` holds rows
    alone, whose columns are named ``x0``, ``x1``, …
    """
    arrays = _arrays_in(path)
    if arrays.keys() >= SPARSE:
        return _sparse_rows(path)
    rows_name = next((name for name in ("X", "data") if name in arrays), None)
    label_name = next((name for name in ("y", "target") if name in arrays), None)
    if rows_name is None:
        raise DataError(
            f"{path.name} must hold arrays X and y (or data and target); it holds:"
            f" {', '.join(sorted(arrays)) or 'none'}."
        )
    rows = arrays[rows_name]
    if rows.ndim != 2:
        raise DataError(f"{rows_name} in {path.name} must have 2 dimensions; it has {rows.ndim}.")
    columns = [f"x{i}" for i in range(rows.shape[1])]
    if "feature_names" in arrays:
        columns = [str(name) for name in arrays["feature_names"].ravel().tolist()]
    if not len({*columns}) == len(columns) == rows.shape[1]:
        raise DataError(f"feature_names in {path.name} must be {rows.shape[1]} different names.")
    frame = pd.DataFrame(rows, columns=columns)
    if label_name is not None:
        labels = arrays[label_name].ravel()
        if len(labels) != len(rows):
            raise DataError(
                f"{rows_name} has {len(rows)} rows but {label_name} has {len(labels)} labels"
                f" in {path.name}."
            )
        frame["target"] = labels
    return FileContents(frame)


def _sparse_rows(path: Path) -> FileContents:
    """Read a sparse matrix, in any of SciPy's formats."""
    with readable_as(path, "a sparse matrix of SciPy"), path.open("rb") as file:
        matrix = load_npz(file).tocsr()
        if matrix.dtype.kind not in "biuf" or np.isinf(matrix.data).any():
            raise ValueError("it must hold finite real numbers, or NaN for gaps")
        if matrix.indices.max(initial=0) >= matrix.shape[1] or matrix.indices.min(initial=0) < 0:
            raise ValueError("it has entries outside of its shape")
    frame = matrix_columns(matrix, [f"x{i}" for i in range(matrix.shape[1])])
    return FileContents(frame, unnamed=True)


def _arrays_in(path: Path) -> dict[str, np.ndarray]:
    # Opened here, since NumPy leaves the file open if the archive is damaged.
    with readable_as(path, "an NPZ archive of plain arrays"), path.open("rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise DataError(f"{path.name} holds a single array; expected X and y.")
        return {name: _native(loaded[name], name, path.name) for name in loaded.files}


def _native(array: np.ndarray, name: str, file: str) -> np.ndarray:
    """Return an array for pandas: with plain values in the native byte order."""
    kind = array.dtype.kind
    try:
        if kind not in PLAIN_KINDS:
            raise ValueError(f"type {array.dtype!s:.60}")
        if kind in "mM" and np.datetime_data(array.dtype)[0] == "generic":
            raise ValueError("dates or durations without a unit")
        if kind == "U":
            "".join(array.ravel().tolist()).encode()
        if kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
            array = array.astype(np.float64)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        if kind in "mM":
            pd.Series(array.ravel())
    except ValueError as error:  # pandas refuses times that are too far away with such errors too.
        raise DataError(
            f"{name} in {file} must hold numbers, text or dates: {plain_message(error)}."
        ) from error
    return array
