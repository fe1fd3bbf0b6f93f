"""Paths from users: their status, or a message on why they can't be used or read."""

from __future__ import annotations

import errno
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import gettempdir

from mklkit.errors import DataError, cut, plain_message, quoted

SHOWN_LETTERS = 100
ROOM = Path("/var/tmp")
"""A folder on disk, where that for temporary files may be in memory."""
MORE_SPACE = "set the environment variable TMPDIR to a folder with more"
# The exceptions of other libraries' readers on damaged files; MemoryError is not among them.
UNREADABLE = (
    *(ValueError, OSError, EOFError, LookupError, TypeError, ArithmeticError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, Warning),
)


def user_path(text: str | PathLike[str]) -> Path:
    """Return a non-empty path, with ``~`` and ``~name`` replaced by the user's home."""
    path = Path(text)
    if not str(text):
        raise DataError("Expected the name of a file, not an empty text.")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise DataError(
            f"{cut(str(path), SHOWN_LETTERS)} can't be found: there is no user {path.parts[0]!r}."
            f" For a folder of that name write ./{path.parts[0]}."
        ) from error


def status(path: Path) -> os.stat_result | None:
    """Return the status of a file or folder that can be accessed, or None if it does not exist."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DataError(refused(path, "opened", error)) from error
    except ValueError as error:
        raise DataError(f"{quoted(str(path), SHOWN_LETTERS)} can't be a path: {error}.") from error


def fault_of(path: Path) -> str:
    """Return why a path is not a file that can be read twice; empty if it is one."""
    state = status(path)
    if state is None:
        return f"There is no file {path}."
    if stat.S_ISDIR(state.st_mode):
        return f"{path} is a folder; expected a file."
    if not stat.S_ISREG(state.st_mode):
        return f"{path} is a pipe or a device, which can be read only once: write it to a file."
    return "" if state.st_size else f"{path} is empty."


def scratch_folder() -> str:
    """Return a folder for temporary files that may be larger than the memory."""
    folder = gettempdir()
    roomy = "TMPDIR" not in os.environ and os.access(ROOM, os.W_OK | os.X_OK)
    return str(ROOM) if roomy else folder


@contextmanager
def written_to(folder: str, rows: str) -> Iterator[None]:
    """Turn the error of a disk without space for some rows into a ``DataError``."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DataError(
            f"{rows} can't be written to {folder}: {error.strerror}; {MORE_SPACE}."
        ) from error


def same_file(first: Path, second: Path) -> bool:
    """Return whether two paths are the same file, which may not exist yet."""
    state, state_of_second = status(first), status(second)
    if state is None or state_of_second is None:
        return os.path.realpath(first) == os.path.realpath(second)
    return os.path.samestat(state, state_of_second)


def refused(path: Path, deed: str, error: Exception) -> str:
    """Return the message for a file that the system does not allow to be read or written."""
    reason = (error.strerror if isinstance(error, OSError) else None) or error
    return f"{cut(str(path), SHOWN_LETTERS)} can't be {deed}: {reason}."


@contextmanager
def readable_as(path: Path, kind: str) -> Iterator[None]:
    """Turn errors of the readers of a kind of file into a ``DataError``."""
    try:
        yield
    except DataError:
        raise
    except UNREADABLE as error:
        # pandas' "C error: " does not help a user.
        reason = plain_message(error).replace("Error tokenizing data. C error: ", "")
        if "allow_pickle" in reason:
            # NumPy advises to allow pickles, which execute code in the file.
            reason = "it is damaged, or holds Python objects, which are never loaded."
        raise DataError(f"{path.name} can't be read as {kind}: {reason}") from error
