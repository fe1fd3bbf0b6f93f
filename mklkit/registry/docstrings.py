"""The parameters' descriptions in a docstring."""

from __future__ import annotations

import inspect
import re

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
    _, _, section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line.startswith("---"):  # The name of the next section was read as a parameter.
            return {name: " ".join(text) for name, text in texts.items() if name not in names}
        entry = _NAMES.fullmatch(line)
        if entry is not None:
            names = [name.strip(" *") for name in entry.group(1).split(",")]
            texts |= {name: [] for name in names}
        for name in names if line.startswith(" ") else []:
            texts[name].append(line.strip())
    return {name: " ".join(text) for name, text in texts.items()}
