"""The zip archive of a model file and its schema, with limits checked before reading."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from mklkit.datasets.paths import fault_of, refused
from mklkit.errors import DataError, ModelFileError, counted, quoted

MODEL_MEMBER = "schema.json"
FACTS_MEMBER = "mklkit.json"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# In files of older protocols, which no version of mklkit wrote, functions have two names: skops
# looks up one and shows the other.
OLDEST_PROTOCOL = 2
# Training rows and coefficients shrink to a half or a tenth. save_model stores members that would
# shrink by more than a factor of a hundred uncompressed, so a larger ratio is never genuine.
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 64 * 2**20
# JSON takes many times its size in memory.
JSON_ALLOWED = 8 * 2**20
# skops takes about 50 microseconds per node. A genuine node takes 25 bytes after compression; if
# it takes less, save_model does not compress.
BYTES_A_NODE = 8
NODES_ALLOWED = 20_000


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
            from mklkit.datasets.files import ending_of

            if ending_of(path) is not None:
                reason = f"{path} is a table, not a model file; 'mklkit fit {path}' looks at it."
            raise ModelFileError(reason) from error
        except ModelFileError:
            raise
        except Exception as error:
            raise damaged(path, error) from error


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


def _plausible(packed: int, unpacked: int, json: int = 0, nodes: int = 0) -> bool:
    """Return whether a file of ``packed`` bytes may hold these sizes: bytes, JSON, and nodes."""
    largest = LARGEST_RATIO * packed
    return (
        unpacked <= max(ALWAYS_ALLOWED, largest)
        and json <= max(JSON_ALLOWED, largest)
        and nodes <= max(NODES_ALLOWED, packed / BYTES_A_NODE)
    )


def believable(archive: bytes) -> bool:
    """Return whether a model's archive could be loaded: genuine ones may compress too well."""
    with ZipFile(io.BytesIO(archive)) as zip_file:
        return _plausible(len(archive), *_sizes(zip_file), len(_parts_in(zip_file)))


def read_member(archive: ZipFile, name: str) -> bytes:
    """Return a member's bytes, and never more than the size stated in the archive."""
    member = archive.getinfo(name)
    with archive.open(member) as file:
        # Without a size, zipfile would decompress everything before it checks the size.
        content = file.read(member.file_size)
    if len(content) != member.file_size:
        raise zipfile.BadZipFile(f"{name} is shorter than it should be")
    return content


def repacked(path: Path, archive: ZipFile) -> bytes:
    """Return an uncompressed archive of the same members, each read within its size.

    A file with more parts, or other members, than a genuine model has is refused.
    """
    parts = _parts_in(archive)
    if not _plausible(path.stat().st_size, 0, nodes=len(parts)):
        raise ModelFileError(
            f"{path} is not loaded: it would hold {len(parts):,} parts, which is more than any"
            " genuine model of that size."
        )
    used = {MODEL_MEMBER, FACTS_MEMBER, *(str(node.get("file")) for node in _nodes(parts))}
    unused = [name for name in archive.namelist() if name not in used]
    if unused:
        raise ModelFileError(
            f"{path} is damaged: its model does not use {counted(len(unused), 'member')} such as"
            f" {quoted(unused[0])}."
        )
    buffer, unpacked = io.BytesIO(), 0
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


def _parts_in(archive: ZipFile) -> list[Any]:
    """Return every dictionary and list in the schema of a model; skops visits each once.

    A schema is refused if it refers to a node of another size, or if several objects are read
    from one file.
    """
    schema = json.loads(read_member(archive, MODEL_MEMBER))
    if not isinstance(schema, dict) or not schema.get("protocol", 0) >= OLDEST_PROTOCOL:
        raise ValueError(f"expected a schema of protocol {OLDEST_PROTOCOL}")
    parts: list[Any] = [schema]
    parents = [0]
    for place, part in enumerate(parts):  # which grow during the loop
        values = part.values() if isinstance(part, dict) else part
        inside = [value for value in values if isinstance(value, dict | list)]
        parts += inside
        parents += [place] * len(inside)
    sizes = [1] * len(parts)
    for place in range(len(parts) - 1, 0, -1):
        sizes[parents[place]] += sizes[place]
    # A repeated object is written out again. So all nodes of an id have the same size, and skops,
    # which uses the first for all of them, visits no more nodes than are written.
    first: dict[Any, int] = {}
    readers: dict[Any, Any] = {}
    for part, size in zip(parts, sizes, strict=True):
        name, file = (part.get("__id__"), part.get("file")) if isinstance(part, dict) else (0, 0)
        if name and first.setdefault(name, size) != size:
            raise ValueError(f"two nodes of different size have the id {quoted(name)}")
        # skops reads a file once for all nodes of an id.
        if file and readers.setdefault(file, name or id(part)) != (name or id(part)):
            raise ValueError(f"two objects are read from {quoted(file)}")
    return parts


def _nodes(parts: list[Any]) -> list[dict[str, Any]]:
    return [p for p in parts if isinstance(p, dict) and "__class__" in p and "__module__" in p]


def named_nodes(archive: bytes) -> Iterator[tuple[Any, str]]:
    """Yield the kind of every node in an archive and the full name of its type."""
    with ZipFile(io.BytesIO(archive)) as zip_file:
        for node in _nodes(_parts_in(zip_file)):
            yield node.get("__loader__"), f"{node['__module__']}.{node['__class__']}"


def damaged(path: Path, error: BaseException) -> ModelFileError:
    """Return the error for a damaged file, with the reason."""
    reason = str(error).strip().partition("\n")[0]
    return ModelFileError(f"{path} is damaged: {type(error).__name__}: {reason:.300}")
