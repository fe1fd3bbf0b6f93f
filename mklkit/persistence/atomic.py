"""Atomic writing: a file is written completely or not at all.

It is first written to a part file next to the goal, which is locked during writing and then
replaces the goal; parts left by a crash are removed.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mklkit.datasets.paths import refused
from mklkit.errors import DataError

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
DEFAULT_MODE, PERMISSIONS = 0o666, 0o777

if sys.platform == "win32":
    NEW_FILE |= os.O_BINARY

    # Windows itself refuses to remove a file that is open.
    def _lock(descriptor: int) -> int:
        return os.open(os.devnull, os.O_RDONLY)

    def _remove_unless_locked(path: Path) -> None:
        path.unlink()
else:
    import fcntl

    def _lock(descriptor: int) -> int:
        """Lock an open file, and return a descriptor that holds the lock until it is closed."""
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return os.dup(descriptor)

    def _remove_unless_locked(path: Path) -> None:
        if not stat.S_ISREG(path.lstat().st_mode):
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)


def check_writable(path: Path) -> None:
    """Reject a path that can't be written, before the long computation of its content."""
    with _told(path):
        goal = _goal(path)
        if stat.S_ISDIR(_mode(goal)):
            raise DataError(f"{path} is a folder; expected the name of a file to write.")
        if not stat.S_ISDIR(_mode(goal.parent)):
            raise DataError(f"{path} can't be written: there is no folder {goal.parent}.")
        if not _is_device(goal):
            # Do what replacing() will do, so that errors occur now.
            with _part_of(goal, DEFAULT_MODE) as (_, descriptor):
                os.close(descriptor)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file next to ``path`` that replaces it once everything is written.

    If the block raises an exception, ``path`` is left unchanged.

    Parameters
    ----------
    path : pathlib.Path
        The file to write. Links are followed; a device such as ``/dev/null`` is written to. An
        existing file keeps its permissions.

    Yields
    ------
    file : binary file

    Raises
    ------
    DataError
        If the file can't be written.
    BrokenPipeError
        If it is a pipe whose reader has closed it.
    """
    with _told(path):
        goal = _goal(path)
        with goal.open("wb") if _is_device(goal) else _opened_beside(goal) as file:
            yield file


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn system errors on writing a file into a ``DataError``."""
    try:
        yield
    except BrokenPipeError:
        # A named pipe whose reader has closed it; treated like a pipe on stdout.
        raise
    except OSError as error:
        raise DataError(refused(path, "written", error)) from error


def _goal(path: Path) -> Path:
    """Return the file or device that a path leads to; reject a loop of links or an invalid name."""
    try:
        goal = path.resolve()
    except (RuntimeError, ValueError) as error:
        raise DataError(refused(path, "written", error)) from error
    if goal.is_symlink():
        # Newer versions of Python return a loop unchanged.
        raise DataError(f"{path} can't be written: it is a link that leads to itself.")
    return goal


def _mode(path: Path) -> int:
    """Return the mode of a file or folder, 0 if there is none.

    Python 3.14's ``is_dir()`` is also False if the permission to check is missing.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _is_device(goal: Path) -> bool:
    mode = _mode(goal)
    return mode != 0 and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextmanager
def _opened_beside(goal: Path) -> Iterator[BinaryIO]:
    """Open a new file with the permissions of the goal, and replace the goal with it."""
    mode = _mode(goal) & PERMISSIONS if stat.S_ISREG(_mode(goal)) else None
    _remove_stale_parts(goal)
    with _part_of(goal, DEFAULT_MODE if mode is None else mode) as (part, descriptor):
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and part.stat().st_mode & PERMISSIONS != mode:
                # Restore the permissions that the umask removed.
                part.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(goal)


@contextmanager
def _part_of(goal: Path, mode: int) -> Iterator[tuple[Path, int]]:
    """Create and lock a part file for the block to write and close; then remove any remains."""
    while True:
        path = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}.part")
        # Private from the start: anyone who opened it before a chmod could still read it.
        descriptor = os.open(path, NEW_FILE, mode)
        lock = _lock(descriptor)
        if path.exists():
            break
        # Another process removed it as a stale file before it was locked.
        os.close(descriptor)
        os.close(lock)
    try:
        yield path, descriptor
    finally:
        os.close(lock)
        path.unlink(missing_ok=True)


def _remove_stale_parts(goal: Path) -> None:
    """Remove the part files of ``goal`` whose process was killed."""
    pattern = re.compile(re.escape(f".{goal.name}.") + r"[0-9a-f]{8}\.part")
    with suppress(OSError):  # a folder may be written to but not listed
        for path in list(goal.parent.iterdir()):
            if pattern.fullmatch(path.name):
                with suppress(OSError):  # locked, or another user's
                    _remove_unless_locked(path)
