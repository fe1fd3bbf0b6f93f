"""Readers of data files, chosen by the file's ending."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mklkit.datasets.arff import read_arff
from mklkit.datasets.delimited import read_delimited
from mklkit.datasets.libsvm import read_libsvm
from mklkit.datasets.paths import status
from mklkit.errors import DataError, plain_message, quoted, suggest

__all__ = [
    "READERS",
    "checked_ending",
    "ending_of",
    "read_file",
    "refuse_nested",
    "refuse_repeated",
]

# The exceptions of NumPy's and Python's zip readers on damaged archives.
NPZ_ERRORS = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
# The kinds of NumPy types that hold one number, text, date or duration per element.
PLAIN_KINDS = "biufSUMm"
NESTED = (list, tuple, set, dict, np.ndarray)
Reader = Callable[[Path], tuple[pd.DataFrame, list[str]]]


def read_file(path: Path, as_text: Sequence[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    """Read a data file.

    Parameters
    ----------
    path : pathlib.Path
        A file with one of the endings of ``READERS``.
    as_text : sequence of str, optional
        Columns of a CSV file to leave as text.

    Returns
    -------
    frame : pandas.DataFrame
        Features and target side by side, under unique text names. Formats that keep the target
        apart (libsvm, NPZ) have it last, as ``target``.
    notes : list of str
        Remarks on the data as read.

    Raises
    ------
    DataError
        If the file is missing, empty, of another format, or has an unknown ending.
    """
    ending = checked_ending(path)
    reader = READERS[ending][1]
    frame, notes = read_delimited(path, as_text) if reader is read_delimited else reader(path)
    if frame.columns.has_duplicates:
        frame, notes = _numbered_apart(frame), [*notes, "repeated column names numbered apart"]
    return frame, notes


def checked_ending(path: Path) -> str:
    """Return the ending of a data file, a key of ``READERS``.

    Raises
    ------
    DataError
        If the file is missing, empty, no plain file, or has an unknown ending.
    """
    found = status(path)
    if found is None:
        raise DataError(f"There is no file {path}.{_near(path)}")
    if stat.S_ISDIR(found.st_mode):
        raise DataError(f"{path} is a folder; a data file is expected.")
    if not stat.S_ISREG(found.st_mode):
        raise DataError(
            f"{path} is a pipe or a device, which can be read only once, but mklkit reads data"
            " twice: write them to a file first."
        )
    ending = ending_of(path)
    if ending is None:
        raise DataError(
            f"The ending of {path.name} is not that of a known format. Known: {', '.join(READERS)}."
        )
    if found.st_size == 0:
        raise DataError(f"{path.name} is empty.")
    return ending


def ending_of(path: Path) -> str | None:
    """Return the known ending of a file's name, or None."""
    name = path.name.lower()
    return next((ending for ending in READERS if name.endswith(ending)), None)


def read_parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read a Parquet file; needs pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq

        refuse_repeated(pq.read_schema(path).names, path.name)
        frame = pd.read_parquet(path, engine="pyarrow")
        for place, kind in enumerate(frame.dtypes):
            if isinstance(kind, pd.StringDtype):
                # Text is decoded on access only, so damaged text is detected only then.
                frame.iloc[:, place].to_numpy(dtype=object)
        refuse_nested(frame, path.name)
    except ImportError as error:
        raise DataError(
            f"Reading {path.name} needs pyarrow: pip install pyarrow, or save as CSV."
        ) from error
    except DataError:
        raise
    except (ValueError, OSError, TypeError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{path.name} can't be read as Parquet: {plain_message(error)}") from error
    return frame.reset_index(drop=True).set_axis([str(name) for name in frame.columns], axis=1), []


def read_npz(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read arrays ``X`` and ``y`` (or ``data`` and ``target``) from a NumPy archive.

    ``feature_names`` may name the columns; the labels may be absent.
    """
    arrays = _arrays_in(path)
    rows_name = next((name for name in ("X", "data") if name in arrays), None)
    label_name = next((name for name in ("y", "target") if name in arrays), None)
    if rows_name is None:
        found = ", ".join(sorted(arrays)) or "none"
        raise DataError(
            f"{path.name} must hold arrays X and y (or data and target); found: {found}."
        )
    rows = arrays[rows_name]
    if rows.ndim != 2:
        raise DataError(f"{rows_name} in {path.name} must have 2 dimensions, it has {rows.ndim}.")
    labels = None if label_name is None else arrays[label_name].ravel()
    if labels is not None and len(labels) != len(rows):
        raise DataError(
            f"{rows_name} has {len(rows)} rows but {label_name} has {len(labels)} labels"
            f" in {path.name}."
        )
    columns = arrays.get("feature_names")
    if columns is not None and columns.size != rows.shape[1]:
        raise DataError(
            f"feature_names in {path.name} has {columns.size} names for {rows.shape[1]} columns."
        )
    return _frame_of(rows, labels, columns), []


READERS: dict[str, tuple[str, Reader]] = {
    ".csv": ("CSV", read_delimited),
    ".csv.gz": ("CSV", read_delimited),
    ".tsv": ("CSV", read_delimited),
    ".tsv.gz": ("CSV", read_delimited),
    ".parquet": ("Parquet", read_parquet),
    ".pq": ("Parquet", read_parquet),
    ".arff": ("ARFF", read_arff),
    ".libsvm": ("libsvm", read_libsvm),
    ".svmlight": ("libsvm", read_libsvm),
    ".svm": ("libsvm", read_libsvm),
    ".libsvm.gz": ("libsvm", read_libsvm),
    ".npz": ("NPZ", read_npz),
}


def _arrays_in(path: Path) -> dict[str, np.ndarray]:
    try:
        # Opened here, as NumPy leaves the file open if the archive is damaged.
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                raise DataError(f"{path.name} holds a single array; X and y are expected.")
            return {name: _native(loaded[name], name, path.name) for name in loaded.files}
    except DataError:
        raise
    except NPZ_ERRORS as error:
        # NumPy's message advises to allow pickles, which execute code in the file.
        pickled = "it holds Python objects, which are never loaded; save arrays of numbers or text"
        reason = f"{pickled}." if "pickle" in str(error) else plain_message(error)
        raise DataError(
            f"{path.name} can't be read as an NPZ archive of plain arrays: {reason}"
        ) from error


def _native(array: np.ndarray, name: str, file: str) -> np.ndarray:
    """Return an array for pandas: with plain values in the native byte order."""
    if array.dtype.kind not in PLAIN_KINDS:
        raise DataError(
            f"{name} in {file} holds values of type {array.dtype!s:.60}; numbers, text or dates"
            " are expected."
        )
    if array.dtype.kind in "mM" and np.datetime_data(array.dtype)[0] == "generic":
        kind = "dates" if array.dtype.kind == "M" else "durations"
        raise DataError(
            f"{name} in {file} holds {kind} without a unit: save them as {array.dtype.kind}8[s],"
            " say."
        )
    if array.dtype.kind in "mM":
        try:
            pd.Series(array.ravel())
        except (pd.errors.OutOfBoundsDatetime, pd.errors.OutOfBoundsTimedelta) as error:
            raise DataError(
                f"{name} in {file} holds times that are too far away: {plain_message(error)}."
            ) from error
    if array.dtype.kind == "U":
        try:
            "".join(array.ravel().tolist()).encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"{name} in {file} holds text that is not valid Unicode: {plain_message(error)}."
            ) from error
    if array.dtype.kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
        return array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def refuse_repeated(names: list[str], file: str) -> None:
    """Refuse columns of the same name."""
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise DataError(
            f"{file} has several columns named {quoted(repeated)}: names must be unique."
        )


def refuse_nested(frame: pd.DataFrame, file: str) -> None:
    """Refuse columns that hold lists or records."""
    for name in frame.columns:
        values = frame[name].dropna() if frame[name].dtype == object else frame[name].head(0)
        nested = next((value for value in values if isinstance(value, NESTED)), None)
        if nested is not None:
            kind = "records" if isinstance(nested, dict) else "lists"
            raise DataError(
                f"Column {str(name)!r} of {file} holds {kind}; one number or text per row is"
                " expected: spread it over several columns, or remove it from the file."
            )


def _frame_of(
    rows: np.ndarray, labels: np.ndarray | None, columns: np.ndarray | None
) -> pd.DataFrame:
    names = [f"x{i}" for i in range(rows.shape[1])] if columns is None else columns.ravel().tolist()
    frame = pd.DataFrame(rows, columns=[str(name) for name in names])
    if labels is not None:
        frame["target"] = labels
    return frame


def _numbered_apart(frame: pd.DataFrame) -> pd.DataFrame:
    taken = set(frame.columns)
    seen: set[str] = set()
    names: list[str] = []
    for name in frame.columns:
        unique, number = name, 0
        while unique in seen or (number and unique in taken):
            number += 1
            unique = f"{name}.{number}"
        seen.add(unique)
        names.append(unique)
    return frame.set_axis(names, axis=1)


def _near(path: Path) -> str:
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        return ""
    return suggest(path.name, beside)
