"""What a numpydoc docstring says of a component: parameters, cost, source, and an example."""

from __future__ import annotations

import inspect
import re

_NAMES = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(:.*)?")
_HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
_COST = re.compile(r"\bCost: (.*?\.)(?= [A-Z:`]|$)")
_SOURCE = re.compile(r"\bSources?: (.*)")


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
    section = documented_sections(docstring).get("Parameters", "")
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        entry = _NAMES.fullmatch(line)
        if entry is not None:
            names = [name.strip(" *") for name in entry.group(1).split(",")]
            texts |= {name: [] for name in names}
        for name in names if line.startswith(" ") else []:
            texts[name].append(line.strip())
    return {name: " ".join(text) for name, text in texts.items()}


def documented_sections(docstring: str) -> dict[str, str]:
    """Return the text of each section of a numpydoc docstring; the description has the name "".

    Examples
    --------
    >>> documented_sections('''Weight a kernel by its alignment.
    ...
    ...     Larger is better.
    ...
    ...     Notes
    ...     -----
    ...     Cost: O(N²) per kernel.
    ...     ''')
    {'': 'Larger is better.', 'Notes': 'Cost: O(N²) per kernel.'}
    """
    _, _, body = inspect.cleandoc(docstring).partition("\n")
    description, *parts = _HEADING.split(body)
    texts = {"": description, **dict(zip(parts[::2], parts[1::2], strict=True))}
    return {name: text.strip() for name, text in texts.items() if text.strip()}


def documented_cost(docstring: str) -> str:
    """Return the sentence after "Cost:" in the section Notes, empty if there is none.

    Examples
    --------
    >>> documented_cost('''A kernel.
    ...
    ...     Notes
    ...     -----
    ...     Cost: O(nmd) for
    ...     d columns. It is definite.
    ...     ''')
    'O(nmd) for d columns.'
    """
    return _labelled(docstring, _COST)


def documented_source(docstring: str) -> str:
    """Return what follows "Source:" or "Sources:" in a paragraph of the section Notes.

    Examples
    --------
    >>> documented_source('''A kernel.
    ...
    ...     Notes
    ...     -----
    ...     Cost: O(nm). Source: M. Swain, D. Ballard: Color indexing (1991).
    ...     ''')
    'M. Swain, D. Ballard: Color indexing (1991).'
    """
    return _labelled(docstring, _SOURCE)


def _labelled(docstring: str, label: re.Pattern[str]) -> str:
    notes = documented_sections(docstring).get("Notes", "")
    paragraphs = (" ".join(text.split()) for text in notes.split("\n\n"))
    return next((match[1] for match in map(label.search, paragraphs) if match), "")
