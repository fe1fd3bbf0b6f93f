"""The schema of a model: nodes in JSON, from which skops makes objects.

A node names a type and how it is made (its ``__loader__``). Nodes are checked before skops reads
them: skops makes arrays of any stated size, and calls some types with what an array holds.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

from mklkit.errors import quoted
from mklkit.persistence.archive import read_json, read_member

MODEL_MEMBER = "schema.json"
# In files of older protocols, which no version of mklkit wrote, functions have two names: skops
# looks up one and shows the other.
OLDEST_PROTOCOL = 2
# Their lengths are 0 in the product with others, which may be any.
LONGEST_EMPTY = 1_000_000
HEADERS: dict[Any, Callable[..., Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}
NUMBERS_AND_TEXT = "biufcSUmM"
"""Kinds of dtype; neither records nor Python objects."""
COMPRESSED = ("csr", "csc")
"""Formats of sparse matrices whose indices SciPy can check."""

Node = dict[str, Any]


def nodes_in(archive: ZipFile, packed: int) -> list[Node]:
    """Return every node in the schema of a model; skops visits each once.

    Parameters
    ----------
    archive : ZipFile
    packed : int
        The bytes of the file.

    Raises
    ------
    ModelFileError
        If it has more parts than a genuine file of that size.
    ValueError
        If nodes that differ have the same id, or several objects are read from one member.
    """
    schema = read_json(archive, MODEL_MEMBER, packed)
    if not isinstance(schema, dict) or not schema.get("protocol", 0) >= OLDEST_PROTOCOL:
        raise ValueError(f"expected a schema of protocol {OLDEST_PROTOCOL}")
    parts: list[Any] = [schema]
    for part in parts:  # which grow during the loop
        parts += [value for value in _values(part) if isinstance(value, dict | list)]
    _check_repeated(parts)
    return [part for part in parts if isinstance(part, dict) and {*TYPE} <= part.keys()]


TYPE = ("__module__", "__class__")


def _values(part: Any) -> Iterable[Any]:
    return part.values() if isinstance(part, dict) else part


def _check_repeated(parts: list[Any]) -> None:
    """Raise an error if a node is not the same as the first with its id, which skops takes for it.

    A repeated object is written out again, but the ids and members of what it holds may differ.
    So skops visits no more nodes than are written, and what is checked is what is made.
    """
    shapes: dict[int, int] = {}
    first: dict[Any, int] = {}
    readers: dict[Any, Any] = {}
    for part in reversed(parts):  # what is inside comes later
        shape = shapes[id(part)] = _shape(part, shapes)
        if not isinstance(part, dict):
            continue
        name, file = part.get("__id__"), part.get("file")
        if name and first.setdefault(name, shape) != shape:
            raise ValueError(f"two different nodes have the id {quoted(name)}")
        # skops reads a member once for all nodes of an id.
        if file and readers.setdefault(file, name or id(part)) != (name or id(part)):
            raise ValueError(f"two objects are read from {quoted(file)}")


def _shape(part: Any, shapes: dict[int, int]) -> int:
    """Return a hash of a part that ignores ids and names of members; Python's hashes are secret."""

    def of(value: Any) -> Any:
        return shapes[id(value)] if isinstance(value, dict | list) else (type(value), value)

    if isinstance(part, list):
        return hash(("list", *map(of, part)))
    return hash(("dict", *((k, of(v)) for k, v in part.items() if k not in ("__id__", "file"))))


def full_name(node: Node) -> str:
    """Return the name of a node's type with its module."""
    return f"{node['__module__']}.{node['__class__']}"


def members_of(nodes: list[Node]) -> set[str]:
    """Return the names of the members from which nodes are read."""
    return {str(node["file"]) for node in nodes if "file" in node}


def check_nodes(nodes: list[Node], archive: ZipFile) -> None:
    """Raise a ``ValueError`` if a node is none that skops writes, or would take too much memory."""
    repeated = Counter(node.get("__id__") for node in nodes)
    for node in nodes:
        loader = node.get("__loader__")
        if loader == "JsonNode":
            _check_scalar(node)
        elif loader == "SliceNode":
            _check_slice(node)
        elif loader == "SparseMatrixNode":
            _check_sparse(node, read_member(archive, node["file"]))
        elif loader == "NdArrayNode" and node["type"] == "numpy":
            _check_array(node, read_member(archive, node["file"]))
        elif loader == "NdArrayNode":
            _check_objects(node, repeated)


def _check_scalar(node: Node) -> None:
    """Containers have nodes of their own: as text they would not be counted."""
    if node["content"].lstrip()[:1] in ("[", "{"):
        raise ValueError(f"expected a plain value, got {quoted(node['content'])}")


def _check_slice(node: Node) -> None:
    for bound in node["content"].values():
        if not isinstance(bound, int | None):
            raise ValueError(f"expected a slice of whole numbers, got {quoted(bound)}")


def _header(content: bytes) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and dtype of an array in NumPy's format, which must fill its bytes."""
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"an array has the format {version}")
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds an array of Python objects, which are never loaded")
    if dtype.kind not in NUMBERS_AND_TEXT or dtype.subdtype is not None:
        raise ValueError(f"an array has the dtype {quoted(dtype)}")
    size = math.prod(shape)
    if size * dtype.itemsize != len(content) - file.tell() or min(shape, default=0) < 0:
        raise ValueError(f"an array of {len(content):,} bytes has the shape {quoted(shape)}")
    if (size == 0 or dtype.itemsize == 0) and max(shape, default=0) > LONGEST_EMPTY:
        raise ValueError(f"an empty array has the shape {quoted(shape)}")
    return shape, dtype


def _check_array(node: Node, content: bytes) -> None:
    """Check an array or a NumPy scalar, whose type is called with the array that is read."""
    shape, dtype = _header(content)
    if dtype.itemsize == 0 and math.prod(shape) > 0:
        raise ValueError(f"an array of the shape {quoted(shape)} has values without bytes")
    if full_name(node) == "numpy.ndarray":
        return
    kind = getattr(np, node["__class__"], None)
    is_scalar = isinstance(kind, type) and issubclass(kind, np.generic)
    if shape != () or not is_scalar or (kind is not dtype.type and np.dtype(kind) != dtype):
        raise ValueError(f"expected one {quoted(full_name(node))}, got {dtype} {quoted(shape)}")


def _check_sparse(node: Node, content: bytes) -> None:
    """Check a sparse matrix: an archive of arrays, one of which names the class that is called."""
    with ZipFile(io.BytesIO(content)) as archive:
        members = {name: read_member(archive, name) for name in archive.namelist()}
        if len(members) < len(archive.namelist()):
            raise ValueError("a sparse matrix has two members with the same name")
    for array in members.values():
        _header(array)
    form, _, kind = node["__class__"].partition("_")
    arrays = {
        name: npy.read_array(io.BytesIO(members[f"{name}.npy"]))
        for name in ("format", "_is_array")
        if f"{name}.npy" in members
    }
    stated = arrays["format"].item()
    stated = stated.decode("ascii") if isinstance(stated, bytes) else stated
    is_array = bool(arrays.get("_is_array", np.False_))
    if (stated, is_array) != (form, kind == "array") or form not in COMPRESSED:
        raise ValueError(f"expected a {quoted(node['__class__'])}, got {quoted(stated)}")


def _check_objects(node: Node, repeated: Counter[Any]) -> None:
    """Check an array of objects: with other than one dimension, NumPy copies values into it."""
    if full_name(node) != "numpy.ndarray":
        raise ValueError(f"expected an array, got {quoted(full_name(node))}")
    shape = node["shape"]
    # Another node with its id could be the one that skops takes.
    if len(shape["content"]) == 1 and repeated[shape.get("__id__")] == 1:
        return
    for leaf in _leaves(node["content"]):
        if leaf.get("__loader__") not in ("JsonNode", "TypeNode") and (
            leaf.get("__loader__") != "NdArrayNode" or full_name(leaf) == "numpy.ndarray"
        ):
            raise ValueError(f"a table of objects holds {quoted(full_name(leaf))}")


def _leaves(items: list[Any]) -> Iterator[Node]:
    pending = list(items)
    while pending:
        item = pending.pop()
        if item.get("__loader__") in ("ListNode", "TupleNode"):
            pending += item["content"]
        else:
            yield item
