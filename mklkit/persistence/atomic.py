"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mklkit.errors import DataError

__all__ = ["check_writable", "replacing"]


def check_writable(path: Path) -> None:
    """Make sure a file can be written, before the long work whose result goes there.

    Raises
    ------
    DataError
        If the folder is missing or can't be written to, or the path is a folder.
    """
    folder = path.resolve().parent
    if path.is_dir():
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
        The file to write. A link is followed; a device such as ``/dev/null`` is written to.

    Yields
    ------
    file : binary file

    Raises
    ------
    DataError
        If the file can't be written.
    """
    goal = path.resolve()
    if goal.exists() and not goal.is_file() and not goal.is_dir():
        with goal.open("wb") as device:
            yield device
        return
    beside = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(goal)
    except OSError as error:
        raise DataError(f"{path} can't be written: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)
