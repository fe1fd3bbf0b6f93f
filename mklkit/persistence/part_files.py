"""The temporary file beside a model file: created, locked, and removed when the lock is released.

A process that is killed while writing leaves its part file behind. Its lock is released, which
distinguishes such a file from one that is still being written.
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

__all__ = ["part_of", "remove_stale_parts"]

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
DEFAULT_MODE = 0o666

if sys.platform == "win32":
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


@contextmanager
def part_of(goal: Path, mode: int | None = None) -> Iterator[tuple[Path, int]]:
    """Create and lock a part file beside ``goal``; remove it if it is still there at the end.

    Parameters
    ----------
    goal : pathlib.Path
    mode : int, optional
        The permissions; by default those of a new file.

    Yields
    ------
    path : pathlib.Path
    descriptor : int
        Open for writing; the block closes it.
    """
    path, descriptor, lock = _made(goal, DEFAULT_MODE if mode is None else mode)
    try:
        yield path, descriptor
    finally:
        os.close(lock)
        path.unlink(missing_ok=True)


def _made(goal: Path, mode: int) -> tuple[Path, int, int]:
    while True:
        path = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}.part")
        # Private from the start, as anyone who opened it before a chmod could still read it.
        descriptor = os.open(path, NEW_FILE, mode)
        lock = _lock(descriptor)
        if path.exists():
            return path, descriptor, lock
        # Another process removed it as a stale file before it was locked.
        os.close(descriptor)
        os.close(lock)


def remove_stale_parts(goal: Path) -> None:
    """Remove the part files of ``goal`` whose process was killed."""
    pattern = re.compile(re.escape(f".{goal.name}.") + r"[0-9a-f]{8}\.part")
    with suppress(OSError):  # a folder may be written to but not listed
        for path in list(goal.parent.iterdir()):
            if pattern.fullmatch(path.name):
                with suppress(OSError):  # locked, or another user's
                    _remove_unless_locked(path)
