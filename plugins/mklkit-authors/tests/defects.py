"""Components with one defect each are listed here, each with the check that it fails in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DEFECTS: list[Any] = []
Method = Callable[..., Any]


def defective(check: str) -> Callable[[Any], Any]:
    """Return a decorator of components that fail in the check of that name."""

    def add(cls: Any) -> Any:
        DEFECTS.append(pytest.param(cls, check, id=f"{cls.__name__}-{check}"))
        return cls

    return add


def defect(check: str, base: type, traits: Any = None) -> Callable[[Method], Any]:
    """Return a decorator of a method ``replaced_word`` that spoils a sound component."""

    def add(method: Method) -> Any:
        replaced, _, word = method.__name__.partition("_")
        members = {"__doc__": "Wrong.", {"call": "__call__"}.get(replaced, replaced): method}
        stated = {} if traits is None else {"traits": traits}
        return defective(check)(type(word, (base,), members | stated))

    return add
