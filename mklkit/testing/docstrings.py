"""The parameters' descriptions in a docstring."""

from __future__ import annotations

import inspect
import re
from itertools import pairwise

__all__ = ["documented_parameters"]

_RULE = re.compile(r"-{3,}\s*")
_NAMES = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(:.*)?")


def documented_parameters(docstring: str) -> dict[str, str]:
    """Return the description of each name in the section Parameters of a numpydoc docstring.

    Examples
    --------
    >>> documented_parameters('''What it is.
    ...
    ...     Parameters
    ...     ----------
    ...     width, height : float
    ...         Above zero.
    ...     ''')
    {'width': 'Above zero.', 'height': 'Above zero.'}
    """
    lines = inspect.cleandoc(docstring).splitlines()
    heads = [i for i in range(len(lines) - 1) if _RULE.fullmatch(lines[i + 1]) and lines[i].strip()]
    for head, end in pairwise([*heads, len(lines)]):
        if lines[head].strip() == "Parameters":
            return _entries(lines[head + 2 : end])
    return {}


def _entries(lines: list[str]) -> dict[str, str]:
    """Return the text below each line of names, as one line."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        entry = _NAMES.fullmatch(line)
        if entry is not None:
            names = [name.strip(" *") for name in entry.group(1).split(",")]
            found |= {name: [] for name in names}
        elif line.startswith(" "):
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(text) for name, text in found.items()}
