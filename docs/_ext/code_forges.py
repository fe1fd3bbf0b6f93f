"""Let pages be read on a code forge, which draws Markdown and some HTML but knows no directive.

Pages are written in what a forge draws, and before Sphinx reads one it becomes the directives of
the site, line by line:

- ``<details>`` with a ``<summary>`` is a dropdown, or between ``<!-- tabs -->`` and
  ``<!-- end of tabs -->`` a tab, and all tabs with the same summary switch together;
- ``<!-- toctree`` with the pages in the next lines, up to ``-->``, is a toctree;
- a paragraph that is nothing but a link to a file of ``tables/`` is that table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

TABS, END_OF_TABS = "<!-- tabs -->", "<!-- end of tabs -->"
OPEN, CLOSE = re.compile(r"<details(?: open)?>$"), "</details>"
SUMMARY = re.compile(r"<summary>(.*)</summary>$")
TOCTREE, END_OF_TOCTREE = "<!-- toctree", "-->"
TABLE = re.compile(r"\[[^\]]+\]\((tables/[\w-]+\.md)\)$")
SET, ITEM, FOLDED = ":" * 6, ":" * 5, ":" * 4


def directives(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a page with directives in place of what a code forge draws."""
    in_listing = in_tabs = in_toctree = False
    for line, before in zip(lines, ["", *lines], strict=False):
        if line.startswith("```"):
            in_listing = not in_listing
        if in_listing:
            yield line
        elif line in (TABS, END_OF_TABS):
            in_tabs = line == TABS
            yield f"{SET}{{tab-set}}\n:sync-group: way" if in_tabs else SET
        elif OPEN.match(line):
            continue
        elif (title := SUMMARY.match(line)) and OPEN.match(before):
            tab = f"{ITEM}{{tab-item}} {title[1]}\n:sync: {title[1].lower()}"
            yield tab if in_tabs else f"{FOLDED}{{dropdown}} {title[1]}"
        elif line == CLOSE:
            yield ITEM if in_tabs else FOLDED
        elif line == TOCTREE:
            in_toctree = True
            yield "```{toctree}"
        elif in_toctree and line == END_OF_TOCTREE:
            in_toctree = False
            yield "```"
        elif (table := TABLE.match(line)) and not before:
            yield f"```{{include}} {table[1]}\n```"
        else:
            yield line


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Change the text of a page before it is parsed."""
    if Path(app.env.doc2path(page)).suffix == ".md":
        source[0] = "\n".join(directives(source[0].split("\n")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Read all pages in this way."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
