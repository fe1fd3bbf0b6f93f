"""The zip archive of a model file and the schema in it, bounded before anything is read."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from mklkit.datasets.paths import refused
from mklkit.errors import ModelFileError, counted, quoted

__all__ = [
    "FACTS_MEMBER",
    "MODEL_MEMBER",
    "believable",
    "countable",
    "damaged",
    "nodes",
    "opened",
    "read_member",
    "repacked",
    "schema_in",
    "unused_members",
]

MODEL_MEMBER = "schema.json"
FACTS_MEMBER = "mklkit.json"
# The functions in files of older protocols, which no version of mklkit wrote, have two names, of
# which skops looks up one and shows the other.
OLDEST_PROTOCOL = 2
# skops takes about 50 microseconds a node. A genuine node takes 25 bytes after compression; where
# it takes less, save_model does not compress.
BYTES_A_NODE = 8
NODES_ALLOWED = 20_000


def countable(nodes: int, packed: int) -> bool:
    """Return whether a file of ``packed`` bytes may plausibly hold that many nodes."""
    return nodes <= max(NODES_ALLOWED, packed / BYTES_A_NODE)


def schema_in(content: bytes) -> tuple[Any, int]:
    """Return a schema from its JSON and the number of nodes that skops visits in it.

    Raises
    ------
    ValueError
        If it is no JSON, has an old protocol, a reference to a node of another size, or a file that
        several objects are read from.
    """
    schema = json.loads(content)
    if not isinstance(schema, dict) or not schema.get("protocol", 0) >= OLDEST_PROTOCOL:
        raise ValueError(f"a schema of protocol {OLDEST_PROTOCOL} is expected")
    parts: list[Any] = [schema]
    parents = [0]
    for place, part in enumerate(parts):  # which grow on the way
        inside = [value for value in _values(part) if isinstance(value, dict | list)]
        parts += inside
        parents += [place] * len(inside)
    sizes = [1] * len(parts)
    for place in range(len(parts) - 1, 0, -1):
        sizes[parents[place]] += sizes[place]
    # An object that occurs again is written out again. So all nodes of an id are as large, and
    # skops, which takes the first for all of them, visits no more nodes than are written.
    first: dict[Any, int] = {}
    readers: dict[Any, Any] = {}
    for part, size in zip(parts, sizes, strict=True):
        name, file = (part.get("__id__"), part.get("file")) if isinstance(part, dict) else (0, 0)
        if name and first.setdefault(name, size) != size:
            raise ValueError(f"two nodes of different size have the id {quoted(name)}")
        # skops reads a file once for all nodes of an id.
        if file and readers.setdefault(file, name or id(part)) != (name or id(part)):
            raise ValueError(f"two objects are read from {quoted(file)}")
    return schema, len(parts)


def _values(part: Any) -> Any:
    return part.values() if isinstance(part, dict) else part


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node in a schema."""
    pending = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict) and "__class__" in part and "__module__" in part:
            yield part
        if isinstance(part, dict | list):
            pending.extend(_values(part))


def unused_members(archive: ZipFile, schema: Any) -> str:
    """Return how many members of an archive no node reads, with an example; "" if there is none."""
    used = {MODEL_MEMBER, FACTS_MEMBER, *(str(node.get("file")) for node in nodes(schema))}
    unused = [name for name in archive.namelist() if name not in used]
    return f"{counted(len(unused), 'member')} such as {quoted(unused[0])}" if unused else ""


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Training rows and coefficients shrink to a half or a tenth. save_model stores members that would
# shrink by more than a factor of a hundred uncompressed, so a larger ratio is never genuine.
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 64 * 2**20
# JSON takes many times its size in memory.
JSON_ALLOWED = 8 * 2**20


def believable(unpacked: int, packed: int, json: bool = False) -> bool:
    """Return whether a file of ``packed`` bytes may plausibly unpack to ``unpacked`` bytes."""
    return unpacked <= max(JSON_ALLOWED if json else ALWAYS_ALLOWED, LARGEST_RATIO * packed)


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file for reading.

    Raises
    ------
    ModelFileError
        If there is no readable file, it is not a zip archive, or its stated unpacked size is
        implausible.
    """
    size = _size_of_file(path)
    if size == 0:
        raise ModelFileError(f"{path} is empty; a model file is expected.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise ModelFileError(refused(path, "read", error)) from error
    # Any exception of zipfile while reading means that the archive is damaged.
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
    """Return the size of a regular file, or raise an error if the path is something else."""
    try:
        status = path.stat()
    except (FileNotFoundError, ValueError):
        raise ModelFileError(f"There is no model file {path}.") from None
    except OSError as error:
        raise ModelFileError(refused(path, "read", error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise ModelFileError(f"{path} is a folder; a model file is expected.")
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(
            f"{path} is a pipe or a device; a model file is read from its end, so write it to disk"
            " first."
        )
    return status.st_size


def _check_members(path: Path, archive: zipfile.ZipFile, packed: int) -> None:
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise ModelFileError(f"{path} is damaged: it holds two members with the same name.")
    if any(member.compress_type not in METHODS for member in members):
        raise ModelFileError(f"{path} was not written by mklkit: it uses another compression.")
    unpacked = sum(member.file_size for member in members)
    _check_size(path, unpacked, packed)
    text = sum(member.file_size for member in members if member.filename.endswith(".json"))
    _check_size(path, text, packed, json=True)


def _check_size(path: Path, unpacked: int, packed: int, json: bool = False) -> None:
    if not believable(unpacked, packed, json):
        raise ModelFileError(
            f"{path} is not loaded: its {packed:,} bytes would unpack to {unpacked:,}, which is"
            " more than any genuine model of that size."
        )


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's bytes, and never more than the size stated in the archive."""
    member = archive.getinfo(name)
    with archive.open(member) as file:
        # Without a size, zipfile would decompress everything before it checks the size.
        content = file.read(member.file_size)
    if len(content) != member.file_size:
        raise zipfile.BadZipFile(f"{name} is shorter than it should be")
    return content


def repacked(path: Path, archive: zipfile.ZipFile) -> bytes:
    """Return an uncompressed archive of the same members, each read within its size.

    Raises
    ------
    ModelFileError
        If there are more parts of a model, or other members, than a genuine file has.
    """
    schema, n_nodes = schema_in(read_member(archive, MODEL_MEMBER))
    if not countable(n_nodes, path.stat().st_size):
        raise ModelFileError(
            f"{path} is not loaded: it would hold {n_nodes:,} parts, which is more than any genuine"
            " model of that size."
        )
    if unused := unused_members(archive, schema):
        raise ModelFileError(f"{path} is damaged: its model does not use {unused}.")
    buffer, unpacked = io.BytesIO(), 0
    with zipfile.ZipFile(buffer, "w") as copy:
        for name in archive.namelist():
            content = read_member(archive, name)
            copy.writestr(name, content)
            unpacked += _size_inside(content)
    _check_size(path, unpacked, path.stat().st_size)
    return buffer.getvalue()


def _size_inside(content: bytes) -> int:
    """Return the unpacked size of a sparse matrix, which is an archive itself; 0 of the rest."""
    if not content.startswith(b"PK"):
        return 0
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        return sum(member.file_size for member in inner.infolist())


def damaged(path: Path, error: BaseException) -> ModelFileError:
    """Return the error for a damaged file, with the reason."""
    reason = str(error).strip().partition("\n")[0]
    return ModelFileError(f"{path} is damaged: {type(error).__name__}: {reason:.300}")
