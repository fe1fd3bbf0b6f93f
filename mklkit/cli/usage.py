"""The wording of errors in the call: Typer's own, and what mklkit adds to it."""

from __future__ import annotations

import re

from mklkit.cli.console import shortened
from mklkit.errors import suggest

__all__ = ["usage_message"]

# Pydantic, by which Typer reads values, puts this before the message itself.
NOISE = "Value error, "
CHOICE = re.compile(r"(.*) is not one of (.*)\.", re.DOTALL)


def usage_message(text: str) -> str:
    """Return a message of Typer's in brief; after a word that is no choice the one that is nearest.

    Examples
    --------
    >>> usage_message("Value error, 'map' is not one of 'kernels', 'maps'.")
    "'map' is not one of 'kernels', 'maps'. Did you mean 'maps'?"
    """
    text = text.removeprefix(NOISE)
    choice = CHOICE.fullmatch(text)
    if choice:
        text += suggest(choice[1].strip("'\""), re.findall(r"'([^']+)'", choice[2]))
    return shortened(text)
