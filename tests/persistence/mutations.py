"""Model files with one thing wrong: a node, a value, an array, the archive itself."""

from __future__ import annotations

import copy
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

Members = dict[str, bytes]
ODD_VALUES = (
    None, True, -1, 0, 3, 2**31, 10**12, -(10**9), 0.5, 1e308, float("nan"), "", "x", "linear",
    "7" * 5000, "BURIED", [], {}, [1, 2, 3], {"a": None}, [[0.0]],
)  # fmt: skip
BURIED = "[" * 950 + "]" * 950
SCHEMA, FACTS = "schema.json", "mklkit.json"


def mutated(model_file: bytes, seed: int) -> bytes:
    """Return a model file with one to three things changed, always the same for a seed."""
    random_ = random.Random(seed)
    with zipfile.ZipFile(io.BytesIO(model_file)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(random_.choice((1, 1, 1, 2, 3))):
        with suppress(ValueError, RecursionError):  # what an earlier change made of the member
            random_.choice(CHANGES)(members, random_)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    whole = buffer.getvalue()
    return random_.choice(ENVELOPES)(whole, random_) if random_.random() < 0.1 else whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a JSON value as its container and the key there."""
    pending = [value]
    while pending:
        container = pending.pop()
        keys = container if isinstance(container, dict) else range(len(container))
        for key in list(keys):
            yield container, key
            if isinstance(container[key], dict | list):
                pending.append(container[key])


def _in_json(name: str, change: Callable[[Any, Any, random.Random, list[Any]], None]) -> Any:
    def changed(members: Members, random_: random.Random) -> None:
        value = json.loads(members[name])
        places = list(_places(value))
        if places:
            change(*random_.choice(places), random_, places)
        members[name] = _encoded(value)

    return changed


def _encoded(value: Any) -> bytes:
    return json.dumps(value).replace('"BURIED"', BURIED).encode()


def _remove(container: Any, key: Any, random_: random.Random, places: list[Any]) -> None:
    del container[key]


def _replace(container: Any, key: Any, random_: random.Random, places: list[Any]) -> None:
    container[key] = random_.choice(ODD_VALUES)


def _swap(container: Any, key: Any, random_: random.Random, places: list[Any]) -> None:
    other, place = random_.choice(places)
    container[key] = copy.deepcopy(other[place])


def _repeat(container: Any, key: Any, random_: random.Random, places: list[Any]) -> None:
    if isinstance(container, list):
        container.insert(random_.randrange(len(container) + 1), copy.deepcopy(container[key]))
    else:
        container[f"{key}_"] = container[key]


def _json_content(members: Members, random_: random.Random) -> None:
    """Change a plain value of the model, such as a number of features or a column's name."""
    schema = json.loads(members[SCHEMA])
    nodes = [
        container[key]
        for container, key in _places(schema)
        if isinstance(container[key], dict) and container[key].get("__loader__") == "JsonNode"
    ]
    if nodes:
        random_.choice(nodes)["content"] = _encoded(random_.choice(ODD_VALUES)).decode()
    members[SCHEMA] = _encoded(schema)


def _array(members: Members, random_: random.Random) -> None:
    """Change an array's shape, length, type or values."""
    name = random_.choice([name for name in members if name.endswith(".npy")])
    try:
        array = np.load(io.BytesIO(members[name]))
    except ValueError:
        return
    changes = (
        lambda a: a.ravel()[: a.size // 2],
        lambda a: np.concatenate([a.ravel(), a.ravel()]),
        lambda a: a.reshape(-1, 1),
        lambda a: a.T,
        lambda a: a[:0],
        lambda a: a[:-1],
        lambda a: a[..., :1],
        lambda a: np.asarray(a.ravel()[0]) if a.size else a,
        lambda a: a.astype(random_.choice(["f4", ">f8", "i8", "U5", "c16", "?", "u1"])),
        lambda a: np.full_like(a, np.nan),
        lambda a: np.full_like(a, 1e308),
        lambda a: a * -1_000_003,
    )
    buffer = io.BytesIO()
    try:
        np.save(buffer, random_.choice(changes)(array))
    except (ValueError, TypeError, IndexError, OverflowError):
        return
    members[name] = buffer.getvalue()


def _swap_members(members: Members, random_: random.Random) -> None:
    one, other = random_.choices(sorted(members), k=2)
    members[one], members[other] = members[other], members[one]


def _cut_member(members: Members, random_: random.Random) -> None:
    name = random_.choice(sorted(members))
    members[name] = members[name][: random_.randrange(len(members[name]) + 1)]


def _drop_member(members: Members, random_: random.Random) -> None:
    del members[random_.choice(sorted(members))]
    members.setdefault(SCHEMA, b"{}")
    members.setdefault(FACTS, b"{}")


def _truncate(whole: bytes, random_: random.Random) -> bytes:
    return whole[: random_.randrange(len(whole))]


def _flip(whole: bytes, random_: random.Random) -> bytes:
    place = random_.randrange(len(whole))
    return whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]


def _appended(whole: bytes, random_: random.Random) -> bytes:
    buffer = io.BytesIO(whole)
    with zipfile.ZipFile(buffer, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name twice
        archive.writestr(random_.choice(archive.namelist()), b"{}")
    return buffer.getvalue()


IN_SCHEMA = [_in_json(SCHEMA, change) for change in (_remove, _replace, _swap, _repeat)]
IN_FACTS = [_in_json(FACTS, change) for change in (_remove, _replace, _swap)]
CHANGES: list[Callable[[Members, random.Random], None]] = [
    *IN_SCHEMA,
    *IN_FACTS,
    *[_json_content] * 3,
    *[_array] * 6,
    _swap_members,
    _cut_member,
    _drop_member,
]
ENVELOPES = (_truncate, _flip, _appended)
