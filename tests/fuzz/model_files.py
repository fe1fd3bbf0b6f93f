"""Fitted models on disk, and ways to change what is in such a file."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from data_files import damaged
from drawing import ODD_NUMBERS, ODD_TEXTS, Draw

from mklkit import MKLClassifier, preset_classifier, save_model
from mklkit.datasets.pipeline import build_pipeline

SCHEMA, FACTS = "schema.json", "mklkit.json"
# Far deeper than any model, and than Python's own writer of JSON goes.
DEEP = 950
DEEP_MARK = "deep here"
# Names of what must not be run, must not be imported, or is something else than is expected.
TYPES = (
    *(("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("fuzz_trap", "Trap")),
    *(
        ("numpy", "ndarray"),
        ("mklkit.kernels.distances", "RBF"),
        ("mklkit.kernels.distances", "FittedRBF"),
    ),
    *(("sklearn.svm", "SVC"), ("collections", "OrderedDict"), ("builtins", "list"), ("", "")),
)
LOADERS = ("ObjectNode", "FunctionNode", "TypeNode", "NdArrayNode", "DictNode", "ListNode", "x")


Change = Callable[[np.ndarray], np.ndarray]
SHAPES: tuple[Change, ...] = (
    lambda array: array.ravel()[:0],
    lambda array: array.ravel(),
    lambda array: array[None],
    lambda array: array[..., None],
    lambda array: np.concatenate([array[None], array[None]]),
    lambda array: array.ravel()[:-1],
)
VALUES: tuple[Change, ...] = (
    lambda array: array.astype(str),
    lambda array: np.array([None, {}], dtype=object),
    lambda array: np.full(array.shape, np.nan),
    lambda array: np.full(array.shape, 1e308),
    lambda array: np.full(array.shape, -1),
    lambda array: np.zeros(array.shape, complex),
)


def new_rows() -> pd.DataFrame:
    """Return the rows that every model here was fitted on, before encoding."""
    random = np.random.default_rng(5)
    numbers = random.normal(size=(24, 2)) + np.repeat([0.0, 2.0, 4.0], 8)[:, None]
    return pd.DataFrame(numbers, columns=["x0", "x1"]).assign(ward=["north", "south", "east"] * 8)


def _pipeline(classifier: Any, n_classes: int = 2) -> Any:
    labels = np.repeat(["ill", "well", "worse"], 8)[: 8 * n_classes]
    return build_pipeline(classifier).fit(new_rows().iloc[: len(labels)], labels)


MODELS = {
    "svm": lambda: _pipeline(MKLClassifier()),
    "coupled": lambda: _pipeline(preset_classifier("multik-mhks", random_state=0), 3),
    "gated": lambda: _pipeline(MKLClassifier(combiner="cluster-gating(n_clusters=2)")),
    "vote": lambda: _pipeline(preset_classifier("rpemekl", random_state=0)),
    "calibrated": lambda: _pipeline(MKLClassifier("rbf", probability=True), 3),
    "discriminant": lambda: _pipeline(MKLClassifier("cosine(polynomial)", learner="kda"), 3),
}


@lru_cache
def whole_file(name: str) -> bytes:
    """Return the bytes of a model file as it was saved."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.mkl"
        save_model(MODELS[name](), path, {"data": {"target": "target"}})
        return path.read_bytes()


def altered(draw: Draw, whole: bytes) -> bytes:
    """Return a model file with something in it changed."""
    way = draw.one_of([damaged, _members, _arrays, _facts, _schema, _schema, _schema, _schema])
    return way(draw, whole)


def _members(draw: Draw, whole: bytes) -> bytes:
    """Drop, rename, repeat, swap or blow up a member of the archive."""
    members = _unpacked(whole)
    name, other = draw.one_of(list(members)), draw.one_of(list(members))
    way = draw.one_of(["drop", "rename", "swap", "replace", "grow"])
    if way == "drop":
        del members[name]
    elif way == "rename":
        members[draw.one_of(["../../x", "/x", "x" * 300, SCHEMA, FACTS])] = members.pop(name)
    elif way == "swap":
        members[name], members[other] = members[other], members[name]
    elif way == "replace":
        members[name] = draw.one_of([b"", b"{}", b"[]", b"null", b"[" * 5000, b"\x93NUMPY", b"1e9"])
    else:
        members[name] = bytes(draw.one_of([10**4, 10**6, 10**6, 3 * 10**8]))
    return _packed(members)


def _arrays(draw: Draw, whole: bytes) -> bytes:
    """Give an array in the archive another shape, type or content."""
    members = _unpacked(whole)
    name = draw.one_of([name for name in members if name.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    new: Any = draw.one_of(SHAPES + VALUES)(array)
    buffer = io.BytesIO()
    np.save(buffer, new, allow_pickle=True)
    header = buffer.getvalue()
    if draw.chance(0.2):
        header = header.replace(b"(", b"(9999999999, ", 1)[: len(header)]
    return _packed(members | {name: header})


def _facts(draw: Draw, whole: bytes) -> bytes:
    members = _unpacked(whole)
    facts = json.loads(members[FACTS])
    if draw.chance(0.2):
        facts["versions"]["mklkit"] = draw.one_of(["9" * 5000, "1." * 500, "", None, "é", -1])
    else:
        facts = _changed_tree(draw, facts)
    return _packed(members | {FACTS: _json(draw, facts)})


def _schema(draw: Draw, whole: bytes) -> bytes:
    members = _unpacked(whole)
    schema = json.loads(members[SCHEMA])
    for _ in range(draw.whole(1, 2)):
        typed = [node for node in _nodes(schema) if "__class__" in node]
        if draw.chance(0.3) and typed:
            node = draw.one_of(typed)
            node["__module__"], node["__class__"] = draw.one_of(TYPES)
            if draw.chance(0.5):
                node["__loader__"] = draw.one_of(LOADERS)
        else:
            schema = _changed_tree(draw, schema)
    return _packed(members | {SCHEMA: _json(draw, schema)})


def _changed_tree(draw: Draw, tree: Any) -> Any:
    """Change one place of a JSON tree: what stands there is removed, replaced or wrapped."""
    places = [(node, key) for node in _nodes(tree) for key in _keys(node)]
    if not places:
        return tree
    (node, key), (donor, other) = draw.one_of(places), draw.one_of(places)
    way = draw.one_of(["remove", "odd", "other", "repeat", "deepen", "number"])
    if way == "remove":
        del node[key]
    elif way == "odd":
        node[key] = draw.one_of([None, True, [], {}, "", -1, 0.5, *ODD_TEXTS])
    elif way == "other":
        # A copy: a node that contained itself would have no end.
        node[key] = json.loads(json.dumps(donor[other]))
    elif way == "repeat" and isinstance(node, list):
        node.insert(0, node[key])
    elif way == "deepen":
        node[key] = DEEP_MARK
    else:
        node[key] = draw.one_of(ODD_NUMBERS[:-1])
    return tree


def _nodes(tree: Any) -> Iterator[Any]:
    """Yield every dictionary and list of a JSON tree."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict | list):
            yield node
            pending.extend(node[key] for key in _keys(node))


def _keys(node: Any) -> list[Any]:
    return list(node) if isinstance(node, dict) else list(range(len(node)))


def _json(draw: Draw, tree: Any) -> bytes:
    start, end = draw.one_of([("[", "]"), ('{"content": ', "}"), ("[", "")])
    deep = f"{start * DEEP}1{end * DEEP}"
    text = json.dumps(tree).replace(f'"{DEEP_MARK}"', deep)
    return text.encode("utf-8", "surrogatepass")


def _unpacked(whole: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
