"""The zip archive around a model: what is at a path, and its members within believable sizes."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mklkit.datasets.paths import refused
from mklkit.errors import ModelFileError

__all__ = ["believable", "damaged", "opened", "read_member", "repacked"]

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Training rows and coefficients shrink to a half or a tenth. What shrinks further than a hundred
# times is written uncompressed by save_model, so that a larger ratio is never an honest one.
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 64 * 2**20


def believable(unpacked: int, packed: int) -> bool:
    """Tell whether a file of so many bytes may unpack to so many."""
    return unpacked <= max(ALWAYS_ALLOWED, LARGEST_RATIO * packed)


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file for reading.

    Raises
    ------
    ModelFileError
        If there is no file that can be read, it is no zip archive, or it claims to unpack to more
        than is believable.
    """
    size = _size_of_file(path)
    if size == 0:
        raise ModelFileError(f"{path} is empty; a model file is expected.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise ModelFileError(refused(path, "read", error)) from error
    # Whatever a damaged archive makes zipfile raise while it is read, the file is at fault.
    with file:
        try:
            with zipfile.ZipFile(file) as archive:
                _check_members(path, archive, size)
                yield archive
        except zipfile.BadZipFile as error:
            reason = f"{path} is not a model file, or was cut short: {error!s:.100}."
            # It brings pandas, which takes a second.
            from mklkit.datasets.files import ending_of

            if ending_of(path) is not None:
                reason = f"{path} is a table, not a model file; 'mklkit fit {path}' looks at it."
            raise ModelFileError(reason) from error
        except ModelFileError:
            raise
        except Exception as error:
            raise damaged(path, error) from error


def _size_of_file(path: Path) -> int:
    """Return the size of a regular file, or say what is there instead."""
    try:
        found = path.stat()
    except (FileNotFoundError, ValueError):
        raise ModelFileError(f"There is no model file {path}.") from None
    except OSError as error:
        raise ModelFileError(refused(path, "read", error)) from error
    if stat.S_ISDIR(found.st_mode):
        raise ModelFileError(f"{path} is a folder; a model file is expected.")
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError(
            f"{path} is a pipe or a device; a model file is read from its end, so write it to disk"
            " first."
        )
    return found.st_size


def _check_members(path: Path, archive: zipfile.ZipFile, packed: int) -> None:
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise ModelFileError(f"{path} is damaged: it holds two members of one name.")
    if any(member.compress_type not in METHODS for member in members):
        raise ModelFileError(f"{path} was not written by mklkit: it is compressed otherwise.")
    unpacked = sum(member.file_size for member in members)
    if not believable(unpacked, packed):
        raise ModelFileError(
            f"{path} is not loaded: its {packed:,} bytes would unpack to {unpacked:,}, which is"
            " more than any model of that size does."
        )


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's bytes, and never more than the archive says it has."""
    member = archive.getinfo(name)
    with archive.open(member) as file:
        # Without a size, zipfile would decompress all there is before it looks at how much.
        content = file.read(member.file_size)
    if len(content) != member.file_size:
        raise zipfile.BadZipFile(f"{name} is shorter than it should be")
    return content


def repacked(archive: zipfile.ZipFile) -> bytes:
    """Return an uncompressed archive of the same members, each read within its size."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, read_member(archive, name))
    return buffer.getvalue()


def damaged(path: Path, error: BaseException) -> ModelFileError:
    """Return the error that says what was found wrong inside a file."""
    reason = str(error).strip().partition("\n")[0]
    return ModelFileError(f"{path} is damaged: {type(error).__name__}: {reason:.300}")
