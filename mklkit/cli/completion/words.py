"""The words of a command line that is still being typed, and how its last one goes on."""

from __future__ import annotations

import re
import shlex

import attrs

__all__ = ["Typed", "read_line"]

# A letter for private use, which nobody types: it stands where the cursor is.
CURSOR = "\ue000"
# What a shell takes as it is, outside of quotes.
SPECIAL = re.compile(r"[^\w@%+=:,./~-]")
IN_DOUBLE_QUOTES = re.compile(r'["$`\\]')


@attrs.frozen
class Typed:
    """A command line up to the cursor.

    Attributes
    ----------
    words : list of str
        The complete words, without quotes; the first is the command.
    last : str
        The word at the cursor, without quotes; empty after a space.
    quote : str
        The quote that is open at the cursor; empty outside of quotes.
    """

    words: list[str]
    last: str
    quote: str

    def quoted(self, text: str) -> str:
        """Return how a text is typed at the cursor, so that the shell takes each letter as it is.

        Examples
        --------
        >>> read_line("mklkit fit -t ").quoted("pulse (rest)")
        'pulse\\\\ \\\\(rest\\\\)'
        >>> read_line("mklkit fit -t '").quoted("pulse (rest)")
        'pulse (rest)'
        """
        if self.quote == "'":
            return text.replace("'", r"'\''")
        return (IN_DOUBLE_QUOTES if self.quote else SPECIAL).sub(r"\\\g<0>", text)


def read_line(line: str) -> Typed:
    """Read a command line as a shell does, though a quote may be open.

    Examples
    --------
    >>> read_line("mklkit fit -k 'rbf@mean r")
    Typed(words=['mklkit', 'fit', '-k'], last='rbf@mean r', quote="'")
    """
    lexer = shlex.shlex(line + CURSOR, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # A quote is open: the word so far is in the lexer.
        state: str = lexer.state  # type: ignore[attr-defined]
        return Typed(words, lexer.token.replace(CURSOR, ""), state)
    return Typed(words[:-1], words[-1].replace(CURSOR, ""), "")
