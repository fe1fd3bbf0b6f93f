"""Rows of numbers in a file, read in parts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from mmap import mmap
from os import PathLike
from pathlib import Path
from typing import Any, Self
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.views.rows import row_numbers

TYPES = (np.dtype(np.float32), np.dtype(np.float64))
# Unrequested samples between requested ones: reading up to this many bytes of them is cheaper than
# another system call.
GAP_BYTES = 1 << 14
SPAN_BYTES = 1 << 23
Signature = tuple[int, int]


class StoredRows:
    """An array of numbers (N, d) in a file, row by row.

    Samples are read into new arrays. A memory map would also work, but the system may count its
    pages as the process's memory indefinitely. An object may be used by several threads at once,
    and pickled: the copy reopens the file.

    Parameters
    ----------
    path : str or path
        The file.
    shape : (int, int)
        The number of samples and of columns, (N, d).
    dtype : dtype
        ``float32`` or ``float64``, in the byte order of this machine.
    offset : int, default=0
        Where the first sample begins, in bytes.
    column_names : sequence of str, optional
        The names of the columns.

    Raises
    ------
    DataError
        If there is no such file, it is too small, or the numbers are of another type.

    See Also
    --------
    MKLClassifier.fit : A method that reads such samples in parts.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.arange(8.0).tofile(file.name)
    ...     rows = StoredRows(file.name, (4, 2), np.float64)
    ...     rows[1:3].tolist(), rows[np.array([3, 0])].tolist()
    ([[2.0, 3.0], [4.0, 5.0]], [[6.0, 7.0], [0.0, 1.0]])
    """

    def __init__(
        self,
        path: str | PathLike[str],
        shape: tuple[int, int],
        dtype: Any,
        offset: int = 0,
        column_names: Sequence[str] | None = None,
    ) -> None:
        self.path = Path(path)
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype)
        self.offset = offset
        self._row_bytes = self.shape[1] * self.dtype.itemsize
        self.column_names = None if column_names is None else list(column_names)
        if self.dtype not in TYPES:
            raise DataError(f"{path} holds {self.dtype!s:.60}; expected float32 or float64.")
        self._signature = signature_of(self.path)
        if self._signature[0] < offset + self.nbytes:
            raise DataError(
                f"{path} has {self._signature[0]} bytes; {self.shape[0]} samples of {self.shape[1]}"
                f" numbers of type {self.dtype} take {offset + self.nbytes}."
            )
        self._file = self.path.open("rb", buffering=0)
        finalize(self, self._file.close)

    @classmethod
    def of_memmap(cls, array: np.memmap[Any, Any]) -> Self | None:
        """Return the rows of a memory map's own file.

        Parameters
        ----------
        array : memmap of shape (N, d)
            The memory map.

        Returns
        -------
        StoredRows or None
            None if the map's numbers are not those of a file, row after row: for a map of some
            columns or every other row, of another type, or with changes that stay in memory.
        """
        root: Any = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if not (isinstance(root, np.memmap) and isinstance(root.base, mmap)):
            return None
        whole = array.ndim == 2 and array.flags.c_contiguous and array.dtype in TYPES
        if root.filename is None or root.mode == "c" or not whole:
            return None
        root.flush()
        ahead = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        return cls(root.filename, array.shape, array.dtype, root.offset + ahead)

    @classmethod
    def of_npy(cls, path: str | PathLike[str]) -> Self:
        """Return the samples of an array that ``numpy.save`` wrote.

        Parameters
        ----------
        path : str or path
            The file, with the extension ``.npy``.

        Returns
        -------
        StoredRows
            Its samples.

        Raises
        ------
        DataError
            If it can't be read, or is not an array of samples of ``float32`` or ``float64``.
        """
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise _unreadable(Path(path), error) from error
        except (ValueError, EOFError) as error:
            raise DataError(f"{path} can't be read as a NumPy array: {error}") from error
        rows = cls.of_memmap(array) if isinstance(array, np.memmap) else None
        if rows is None:
            raise DataError(
                f"{path} must hold one array of float32 or float64, row after row, of 2 dimensions."
            )
        return rows

    @property
    def nbytes(self) -> int:
        """The size of the numbers in bytes."""
        return self.shape[0] * self._row_bytes

    def __len__(self) -> int:
        """Return the number of samples N."""
        return self.shape[0]

    def __getitem__(self, members: slice | NDArray[Any], /) -> NDArray[Any]:
        """Return some samples (n, d), in the requested order, as a new array.

        Rows requested by number are read in the order of the file, neighbours together.

        Raises
        ------
        IndexError
            If there is no sample with such a number.
        DataError
            If the file ends before them.
        """
        if isinstance(members, slice) and members.step in (None, 1):
            start, stop, _ = members.indices(len(self))
            return self._read(start, max(stop, start))
        numbers = row_numbers(members, len(self))
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        near = 1 + GAP_BYTES // max(1, self._row_bytes)
        span = max(1, SPAN_BYTES // max(1, self._row_bytes))
        breaks = (np.diff(ordered) > near) | (np.diff(ordered // span) > 0)
        out = np.empty((len(numbers), self.shape[1]), self.dtype)
        for run in np.split(order, np.flatnonzero(breaks) + 1):
            if len(run):
                first, last = int(numbers[run[0]]), int(numbers[run[-1]])
                out[run] = self._read(first, last + 1)[numbers[run] - first]
        return out

    def check_unchanged(self) -> None:
        """Raise an error if the file has changed since it was opened.

        Raises
        ------
        DataError
            If its size or the time of its last change differ.
        """
        if signature_of(self.path) != self._signature:
            raise DataError(f"{self.path} has changed since it was opened: fit again.")

    def close(self) -> None:
        """Close the file; no sample can be read afterwards."""
        self._file.close()

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.path, self.shape, self.dtype, self.offset, self.column_names)
        return type(self), arguments, {"_signature": self._signature}

    def __repr__(self) -> str:
        return f"StoredRows({str(self.path)!r}, {self.shape}, {self.dtype})"

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        left: Any = out.reshape(-1).view(np.uint8)
        place = self.offset + start * self._row_bytes
        while left.size:
            # One call reads at most two gigabytes.
            count = os.preadv(self._file.fileno(), [left], place)
            if count == 0:
                raise DataError(f"{self.path} has become shorter since it was opened: fit again.")
            left = left[count:]
            place = place + count
        return out


def signature_of(path: Path) -> Signature:
    """Return the size of a file and the time of its last change in nanoseconds."""
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    return status.st_size, status.st_mtime_ns


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} can't be read: {error.strerror or error}.")
