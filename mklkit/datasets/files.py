"""Readers of data files, chosen by the file's ending."""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection
from glob import glob, has_magic
from os import PathLike
from pathlib import Path

from mklkit.datasets.arff import read_arff
from mklkit.datasets.csv_file import read_csv
from mklkit.datasets.libsvm import read_libsvm
from mklkit.datasets.npz import read_npz
from mklkit.datasets.parquet_file import read_parquet
from mklkit.datasets.paths import status, user_path
from mklkit.datasets.table import RawTable
from mklkit.errors import DataError, listed, suggest

__all__ = ["READERS", "checked_ending", "ending_of", "files_of", "read_file"]

Reader = Callable[[Path], RawTable]
READERS: dict[str, tuple[str, Reader]] = {
    ".csv": ("CSV", read_csv),
    ".csv.gz": ("CSV", read_csv),
    ".tsv": ("CSV", read_csv),
    ".tsv.gz": ("CSV", read_csv),
    ".parquet": ("Parquet", read_parquet),
    ".pq": ("Parquet", read_parquet),
    ".arff": ("ARFF", read_arff),
    ".libsvm": ("libsvm", read_libsvm),
    ".svmlight": ("libsvm", read_libsvm),
    ".svm": ("libsvm", read_libsvm),
    ".libsvm.gz": ("libsvm", read_libsvm),
    ".npz": ("NPZ", read_npz),
}


def read_file(path: Path, as_text: Collection[str] = ()) -> RawTable:
    """Read a data file: features and target side by side, under unique text names.

    Formats that keep the target apart (libsvm, NPZ) have it last, as ``target``. ``as_text`` are
    names or globs of columns of a CSV file to leave as text.

    Raises
    ------
    DataError
        If the file is missing, empty, of another format, or has an unknown ending.
    """
    reader = READERS[checked_ending(path)][1]
    return read_csv(path, as_text) if reader is read_csv else reader(path)


def checked_ending(path: Path) -> str:
    """Return the ending of a file with data, a key of ``READERS``, or refuse it."""
    state = status(path)
    if state is None:
        raise DataError(f"There is no file {path}.{_near(path)}")
    if stat.S_ISDIR(state.st_mode):
        raise DataError(f"{path} is a folder; a data file is expected.")
    if not stat.S_ISREG(state.st_mode):
        raise DataError(
            f"{path} is a pipe or a device, which can be read only once, but mklkit reads data"
            " twice: write them to a file first."
        )
    ending = ending_of(path)
    if ending is None:
        raise DataError(
            f"The ending of {path.name} is not that of a known format. Known: {', '.join(READERS)}."
        )
    if state.st_size == 0:
        raise DataError(f"{path.name} is empty.")
    return ending


def ending_of(path: Path) -> str | None:
    """Return the known ending of a file's name, or None."""
    name = path.name.lower()
    return next((ending for ending in READERS if name.endswith(ending)), None)


def files_of(source: str | PathLike[str]) -> list[Path]:
    """Return the data files of one format that a path, a glob or a folder stands for."""
    path = user_path(source)
    if status(path) is None and has_magic(str(path)):
        files = [Path(name) for name in sorted(glob(str(path)))]
    elif path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file() and ending_of(file)]
    else:
        return [path]
    if not files:
        raise DataError(f"There is no data file {path}.")
    formats = {READERS[checked_ending(file)][0] for file in files}
    if len(formats) > 1:
        raise DataError(f"{path} holds files of several formats: {listed(sorted(formats))}.")
    return files


def _near(path: Path) -> str:
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        return ""
    return suggest(path.name, beside)
