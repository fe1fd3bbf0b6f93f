"""The zip archive of a model file, with limits checked before anything is unpacked or parsed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

from mklkit.datasets.paths import fault_of, refused
from mklkit.errors import DataError, ModelFileError, counted, quoted

METADATA_MEMBER = "mklkit.json"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENTRY = b"PK\x01\x02"
"""Begins the entry of each member in the archive's directory."""
MOST_MEMBERS = 500_000
"""Python needs about a kilobyte for each; a one-vs-one model of 100 classes has 35,000."""
CHUNK = 2**20
# Training samples and coefficients shrink to a half or a tenth. save_model stores members that
# would shrink by more than this factor uncompressed, so a larger ratio is never genuine.
LARGEST_RATIO = 20
ALWAYS_ALLOWED = 64 * 2**20
# JSON takes many times its size in memory.
JSON_ALLOWED = 8 * 2**20
# skops takes about 50 microseconds per node. A genuine node takes 25 bytes after compression; if
# it takes less, save_model does not compress.
BYTES_A_PART = 8
PARTS_ALLOWED = 20_000
MOST_PARTS = 3_000_000
"""Lists and dictionaries of a document, which need gigabytes; 200,000 words need 400,000."""
MOST_FACTS = 300_000
"""The same of the metadata: 50,000 columns need 50,000."""
VALUES_A_PART = 8
"""Values in a list or dictionary on average; a node has six."""


@contextmanager
def opened(path: Path) -> Iterator[ZipFile]:
    """Open a model file for reading, unless its stated unpacked size is implausible."""
    try:
        fault = fault_of(path)
        if fault:
            raise ModelFileError(fault)
        file = path.open("rb")
    except DataError as error:
        raise ModelFileError(str(error)) from error
    except OSError as error:
        raise ModelFileError(refused(path, "read", error)) from error
    # Any exception of zipfile while reading means that the archive is damaged.
    with file:
        try:
            _check_number_of_members(path, file)
            with ZipFile(file) as archive:
                members = archive.infolist()
                if len({member.filename for member in members}) < len(members):
                    raise ModelFileError(
                        f"{path} is damaged: it holds two members with the same name."
                    )
                if any(member.compress_type not in METHODS for member in members):
                    raise ModelFileError(
                        f"{path} was not written by mklkit: it uses another compression."
                    )
                _check_sizes(path, *_sizes(archive))
                yield archive
        except zipfile.BadZipFile as error:
            reason = f"{path} is not a model file, or was cut short: {error!s:.100}."
            # It imports pandas, which takes a second.
            from mklkit.datasets.formats import ending_of

            if ending_of(path) is not None:
                reason = f"{path} is a table, not a model file; 'mklkit fit {path}' looks at it."
            raise ModelFileError(reason) from error
        except ModelFileError as error:
            about = "" if str(path) in str(error) else f"{path} is not loaded: "
            raise ModelFileError(f"{about}{error}") from error
        except Exception as error:
            raise damaged(path, error) from error


def _check_number_of_members(path: Path, file: BinaryIO) -> None:
    """Reject a directory that would take much memory, by the number of what may be its entries."""
    number = 0
    before = b""
    while chunk := file.read(CHUNK):
        number += (before + chunk).count(ENTRY)
        before = chunk[1 - len(ENTRY) :]
    file.seek(0)
    if number > MOST_MEMBERS:
        raise ModelFileError(
            f"{path} is not loaded: it holds {number:,} members, more than any genuine model."
        )


def _sizes(archive: ZipFile) -> tuple[int, int]:
    """Return the stated unpacked sizes of all members, and of the JSON members."""
    members = archive.infolist()
    text = sum(member.file_size for member in members if member.filename.endswith(".json"))
    return sum(member.file_size for member in members), text


def _check_sizes(path: Path, unpacked: int, json: int = 0) -> None:
    packed = path.stat().st_size
    if not _plausible(packed, unpacked, json):
        raise ModelFileError(
            f"{path} is not loaded: its {packed:,} bytes would unpack to {unpacked:,}, which is"
            " more than any genuine model of that size."
        )


def _plausible(packed: int, unpacked: int, json: int = 0) -> bool:
    """Return whether a file of ``packed`` bytes may hold so many bytes, and so many of JSON."""
    largest = LARGEST_RATIO * packed
    return unpacked <= max(ALWAYS_ALLOWED, largest) and json <= max(JSON_ALLOWED, largest)


def fits(archive: bytes) -> bool:
    """Return whether an archive would be read; some compress too well."""
    packed = len(archive)
    with ZipFile(io.BytesIO(archive)) as zip_file:
        texts = (name for name in zip_file.namelist() if name.endswith(".json"))
        return _plausible(packed, *_sizes(zip_file)) and all(
            _has_room(read_member(zip_file, name), name, packed) for name in texts
        )


def _has_room(text: bytes, name: str, packed: int) -> bool:
    """Return whether ``packed`` bytes may hold the parts of a JSON text, before they are made.

    They are counted by the signs of the text, also by those in its strings.
    """
    most = max(PARTS_ALLOWED, min(MOST_PARTS, packed // BYTES_A_PART))
    most = MOST_FACTS if name == METADATA_MEMBER else most
    return _n_parts(text) <= most and text.count(b",") <= VALUES_A_PART * most


def _n_parts(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")


def read_member(archive: ZipFile, name: str) -> bytes:
    """Return a member's bytes, and never more than the size stated in the archive."""
    member = archive.getinfo(name)
    with archive.open(member) as file:
        # Without a size, zipfile would decompress everything before it checks the size.
        content = file.read(member.file_size)
    if len(content) != member.file_size:
        raise zipfile.BadZipFile(f"{name} is shorter than it should be")
    return content


def read_json(archive: ZipFile, name: str, packed: int) -> Any:
    """Return the value of a JSON member, unless it has too many parts for ``packed`` bytes."""
    text = read_member(archive, name)
    if not _has_room(text, name, packed):
        raise ModelFileError(
            f"{name} would hold {_n_parts(text):,} parts, or their values, which is more than in"
            " any genuine model of that size."
        )
    return json.loads(text)


def repacked(path: Path, archive: ZipFile, used: Collection[str]) -> bytes:
    """Return an uncompressed archive of the same members, each read within its size.

    A file with other members than its model and metadata use raises an error.
    """
    unused = [name for name in archive.namelist() if name not in used]
    if unused:
        raise ModelFileError(
            f"{path} is damaged: its model does not use {counted(len(unused), 'member')} such as"
            f" {quoted(unused[0])}."
        )
    buffer = io.BytesIO()
    unpacked = 0
    with ZipFile(buffer, "w") as copy:
        for name in archive.namelist():
            content = read_member(archive, name)
            copy.writestr(name, content)
            if content.startswith(b"PK"):
                # A sparse matrix is itself an archive.
                with ZipFile(io.BytesIO(content)) as inner:
                    unpacked += _sizes(inner)[0]
    _check_sizes(path, unpacked)
    return buffer.getvalue()


def damaged(path: Path, error: BaseException) -> ModelFileError:
    """Return the error for a damaged file, with the reason."""
    reason = str(error).strip().partition("\n")[0]
    return ModelFileError(f"{path} is damaged: {type(error).__name__}: {reason:.300}")
