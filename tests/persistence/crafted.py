"""Model files made by hand: some members rewritten, nodes that would run code."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from mklkit.datasets.pipeline import build_pipeline
from mklkit.estimators.classifier import MKLClassifier

Check = Callable[..., None]


def fitted(table: pd.DataFrame, labels: Any, **parameters: Any) -> Any:
    return build_pipeline(MKLClassifier(**parameters)).fit(table, labels)


def copied(
    source: Path,
    goal: Path,
    change: Callable[[str, bytes], bytes] = lambda name, content: content,
    method: int = zipfile.ZIP_STORED,
    **more: bytes,
) -> Path:
    """Copy a model file with its members changed, and more arrays."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(goal, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, content in more.items():
            new.writestr(f"{name}.npy", content)
    return goal


def rewritten(source: Path, goal: Path, method: int = zipfile.ZIP_STORED, **members: Any) -> Path:
    """Copy a model file with some members replaced by functions of their JSON."""

    def change(name: str, content: bytes) -> bytes:
        changed = members.get(name.partition(".")[0])
        return content if changed is None else json.dumps(changed(json.loads(content))).encode()

    return copied(source, goal, change, method)


def with_array(content: bytes, ending: str = ".npy") -> Callable[[str, bytes], bytes]:
    """Return a change that puts something else in place of each array."""
    return lambda name, old: content if name.endswith(ending) else old


def hiding(attack: dict[str, Any], protocol: int = 2) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a change that hides a node deep in an otherwise genuine model."""

    def change(schema: dict[str, Any]) -> dict[str, Any]:
        schema["content"]["content"]["memory"] = attack
        return schema | {"protocol": protocol}

    return change


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node in a schema."""
    if isinstance(schema, dict) and "__class__" in schema:
        yield schema
    values = schema.values() if isinstance(schema, dict) else schema
    for value in values if isinstance(schema, dict | list) else ():
        yield from nodes(value)


def node(loader: str, module: str, name: str, **more: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": module, "__loader__": loader, **more}


def json_node(value: Any) -> dict[str, Any]:
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def list_node(*items: Any) -> dict[str, Any]:
    return node("ListNode", "builtins", "list", content=list(items))


def tuple_node(*items: Any) -> dict[str, Any]:
    return node("TupleNode", "builtins", "tuple", content=list(items))


def dict_node(**items: Any) -> dict[str, Any]:
    keys = list_node(*(node("TypeNode", "builtins", "str") for _ in items))
    return node("DictNode", "builtins", "dict", content=items, key_types=keys)


def function_node(module: str, name: str) -> dict[str, Any]:
    # Protocol 0 has the function in the content, later ones in the node itself.
    return node("FunctionNode", module, name, content={"module_path": module, "function": name})


def attacks(module: str) -> dict[str, dict[str, Any]]:
    """Return skops nodes, each of which would import ``module`` or call something if obeyed."""
    touch = json_node(f"import {module}")
    return {
        "object": node("ObjectNode", module, "Thing", content=dict_node()),
        "function": function_node(module, "run"),
        "type": node("TypeNode", module, "Thing"),
        "constructor": node(
            "ConstructorFromReduceNode", module, "Thing", content=tuple_node(touch)
        ),
        "eval": node("ConstructorFromReduceNode", "builtins", "exec", content=tuple_node(touch)),
        "partial": node(
            "PartialNode",
            "functools",
            "partial",
            content={
                "func": function_node("builtins", "exec"),
                "args": tuple_node(touch),
                "kwds": dict_node(),
                "namespace": json_node(None),
            },
        ),
        "keys": node(
            "DictNode",
            "builtins",
            "dict",
            content={f"import {module}": json_node(1)},
            key_types=list_node(node("TypeNode", "builtins", "exec")),
        ),
        "list": node("ListNode", module, "Thing", content=[]),
        "method": node(
            "MethodNode",
            "sklearn.pipeline",
            "Pipeline",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "sklearn.pipeline", "Pipeline", content=dict_node()),
            },
        ),
        "operator": node(
            "OperatorFuncNode", "operator", "attrgetter", attrs=tuple_node(json_node("__class__"))
        ),
    }
