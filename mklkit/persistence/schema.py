"""The schema of a model file: the tree of nodes that skops reads, bounded before skops reads it.

skops follows a reference to a node as often as it occurs, so that a few nested references take time
exponential in their depth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from mklkit.errors import counted, quoted

__all__ = ["FACTS_MEMBER", "MODEL_MEMBER", "countable", "nodes", "schema_in", "unused_members"]

MODEL_MEMBER = "schema.json"
FACTS_MEMBER = "mklkit.json"
# The functions in files of older protocols, which no version of mklkit wrote, have two names, of
# which skops looks up one and shows the other.
OLDEST_PROTOCOL = 2
# skops takes about 50 microseconds a node. A genuine node takes 25 bytes after compression; where
# it takes less, save_model does not compress.
BYTES_A_NODE = 8
ALWAYS_ALLOWED = 20_000


def countable(nodes: int, packed: int) -> bool:
    """Return whether a file of ``packed`` bytes may plausibly hold that many nodes."""
    return nodes <= max(ALWAYS_ALLOWED, packed / BYTES_A_NODE)


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
