"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mklkit.errors import DataError
from mklkit.paths import status

__all__ = ["check_writable", "replacing"]

PERMISSIONS = 0o777
DEFAULT_MODE = 0o666
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def check_writable(path: Path) -> None:
    """Make sure a file can be written, before the long work whose result goes there.

    Raises
    ------
    DataError
        If the folder is missing or can't be written to, or the path is a folder, a link to itself
        or too long.
    """
    found = status(path)
    folder = path.resolve().parent
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise DataError(f"{path} is a folder; the name of a file to write is expected.")
    if not folder.is_dir():
        raise DataError(f"{path} can't be written: there is no folder {folder}.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"{path} can't be written: {error.strerror or error}.") from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path`` that takes its place once all is written.

    Where the block raises, ``path`` is left as it was.

    Parameters
    ----------
    path : pathlib.Path
        The file to write. A link is followed; a device such as ``/dev/null`` is written to. A
        file that is there already keeps its permissions.

    Yields
    ------
    file : binary file

    Raises
    ------
    DataError
        If the file can't be written.
    BrokenPipeError
        If it is a pipe that nobody reads any more.
    """
    # Before the links are followed, which a ring of them would not survive.
    status(path)
    goal = path.resolve()
    is_device = goal.exists() and not goal.is_file() and not goal.is_dir()
    try:
        with goal.open("wb") if is_device else _opened_beside(goal) as file:
            yield file
    except BrokenPipeError:
        # A pipe by name whose reader has had enough, as with one on stdout.
        raise
    except OSError as error:
        raise DataError(f"{path} can't be written: {error.strerror or error}.") from error


@contextmanager
def _opened_beside(goal: Path) -> Iterator[BinaryIO]:
    """Open a new file with the permissions of the goal, and put it in the goal's place."""
    beside = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}.part")
    mode = goal.stat().st_mode & PERMISSIONS if goal.is_file() else None
    try:
        # Private from the start: whoever opened it a moment earlier could read on.
        descriptor = os.open(beside, NEW_FILE, DEFAULT_MODE if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and beside.stat().st_mode & PERMISSIONS != mode:
                # What the umask took away.
                beside.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(goal)
    finally:
        beside.unlink(missing_ok=True)
