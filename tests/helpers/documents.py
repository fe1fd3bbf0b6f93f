"""The fenced blocks of the project's pages, so that tests can run what readers are shown."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]

SHARED_SOURCES = ROOT.parent / "shared" / "data" / "sources"
"""Published data sets of several sources, which are not part of a clone."""

needs_checkout = pytest.mark.skipif(
    not (ROOT / ".ci").is_dir(), reason="a source distribution has neither .ci/ nor all of plugins/"
)

MADE = (
    "docs/_build/",
    "docs/gallery/",
    "docs/reference/command-line.md",
    "docs/papers/tables/",
    "docs/guides/tables/",
)
"""Folders and pages that the build of the site makes, and what pages include."""
_FOUND = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md"))]
PAGES = [page for page in _FOUND if not page.startswith(MADE)]
"""The pages of ``docs/``, by their paths from the root."""

_FENCED = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Block:
    """A fenced block: its language, which may be empty, and its text."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, named by its path from the root, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(**match.groupdict()) for match in _FENCED.finditer(text)]


def listings(page: str, language: str) -> list[str]:
    """Return the texts of a page's blocks of a language."""
    return [block.text for block in blocks(page) if block.language == language]


def commands(page: str) -> list[str]:
    """Return the lines of a page's ``sh`` blocks, continued ones in one."""
    return [line for text in listings(page, "sh") for line in commands_of(text)]


def commands_of(text: str) -> list[str]:
    """Return the lines of a ``sh`` block, continued ones in one."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
