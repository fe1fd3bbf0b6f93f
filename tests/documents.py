"""The fenced blocks of the project's pages, so that tests can run what readers are shown."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

__all__ = ["MADE", "ROOT", "Block", "blocks", "commands", "commands_of", "listings", "pages"]

ROOT = Path(__file__).parents[1]
# What the site's build writes among the pages; test_cli_examples.py runs its commands.
MADE = ("docs/reference/command-line.md",)

_FENCED = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Block:
    """A fenced block: its language, which may be empty, and its text."""

    language: str
    text: str


def pages() -> list[str]:
    """Return the site's pages that are written by hand, by their paths from the root."""
    found = (path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))
    return sorted(page for page in found if page not in MADE and "_build" not in page)


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, named by its path from the root, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(**found.groupdict()) for found in _FENCED.finditer(text)]


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
