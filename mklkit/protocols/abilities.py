"""Whether an object offers a protocol, asked often."""

from __future__ import annotations

from typing import Any

__all__ = ["offers"]

_KNOWN: dict[tuple[type, type], bool] = {}


def offers(given: object, protocol: type[Any]) -> bool:
    """Return ``isinstance(given, protocol)`` for a runtime-checkable protocol, known by type.

    Python looks up every member of such a protocol each time, which takes longer than a small
    matrix product.

    Examples
    --------
    >>> from collections.abc import Sized
    >>> offers([], Sized), offers(1, Sized)
    (True, False)
    """
    key = (type(given), protocol)
    if key not in _KNOWN:
        _KNOWN[key] = isinstance(given, protocol)
    return _KNOWN[key]
