"""The listings of the project's Markdown pages, so that tests can run what readers are shown."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["ROOT", "commands", "listings"]

ROOT = Path(__file__).parents[1]

_FENCED = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def listings(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a language in a page, named by its path from the root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block["text"] for block in _FENCED.finditer(text) if block["language"] == language]


def commands(page: str) -> list[str]:
    """Return the lines of a page's ``sh`` blocks, continued ones in one."""
    blocks = [block.replace("\\\n", " ") for block in listings(page, "sh")]
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
