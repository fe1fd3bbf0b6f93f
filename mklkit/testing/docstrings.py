"""What a docstring says of parameters."""

from __future__ import annotations

import inspect
import re
from itertools import pairwise

__all__ = ["documented_parameters"]

_RULE = re.compile(r"-{3,}\s*")
_NAMES = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(:.*)?")


def documented_parameters(docstring: str) -> list[str]:
    """Return the names in the section Parameters of a docstring as numpydoc has it.

    Examples
    --------
    >>> documented_parameters('''What it is.
    ...
    ...     Parameters
    ...     ----------
    ...     width, height : float
    ...         Above zero.
    ...     ''')
    ['width', 'height']
    """
    lines = inspect.cleandoc(docstring).splitlines()
    heads = [i for i in range(len(lines) - 1) if _RULE.fullmatch(lines[i + 1]) and lines[i].strip()]
    for head, end in pairwise([*heads, len(lines)]):
        if lines[head].strip() == "Parameters":
            entries = [_NAMES.fullmatch(line) for line in lines[head + 2 : end]]
            names = [entry.group(1) for entry in entries if entry is not None]
            return [name.strip(" *") for group in names for name in group.split(",")]
    return []
