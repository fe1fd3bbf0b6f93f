"""A command line that is still being typed: its words, and how the last one goes on."""

from __future__ import annotations

import re

import attrs

__all__ = ["TypedLine", "read_line"]

SPACE = " \t\r\n"
QUOTES = "'\""
# What starts code, a variable or a command of the history, also inside of double quotes.
LIVE = "$`!"
# What a shell takes as it is, outside of quotes.
SPECIAL = re.compile(r"[^\w@%+=:,./-]")
IN_DOUBLE_QUOTES = re.compile(r'["$`\\]')


@attrs.frozen
class TypedLine:
    """A command line up to the cursor.

    Attributes
    ----------
    words : list of str
        The complete words, without quotes; the first is the command.
    last : str
        The word at the cursor, without quotes; empty after a space.
    quote : str
        The quote that is open at the cursor; empty outside of quotes.
    opened : int
        The place in the last word where that quote was opened.
    live : str
        The letters of the word at the cursor that a shell does not take as they are, with a
        backslash if the word ends with one: what follows would be read otherwise.
    """

    words: list[str]
    last: str
    quote: str = ""
    opened: int = 0
    live: str = ""

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


def read_line(line: str) -> TypedLine:
    """Read a command line as a shell does, though a quote may be open.

    Examples
    --------
    >>> read_line("mklkit fit -k 'rbf@mean r")
    TypedLine(words=['mklkit', 'fit', '-k'], last='rbf@mean r', quote="'", opened=0, live='')
    """
    words: list[str] = []
    word: str | None = None
    quote, opened, live = "", 0, ""
    letters = iter(line)
    for letter in letters:
        if letter in SPACE and not quote:
            words += [] if word is None else [word]
            word, live = None, ""
            continue
        word = word or ""
        if letter in QUOTES and letter == (quote or letter):
            quote, opened = ("", 0) if quote else (letter, len(word))
        elif letter == "\\" and quote != "'":
            escaped = next(letters, "")
            word += _without_escape(escaped, quote)
            live += "" if escaped else letter
        else:
            word += letter
            live += letter if letter in LIVE and quote != "'" else ""
    return TypedLine(words, word or "", quote, opened, live)


def _without_escape(letter: str, quote: str) -> str:
    """Return what a backslash and a letter stand for; inside of quotes it may be both of them."""
    if letter == "\n":
        return ""
    return letter if not quote or IN_DOUBLE_QUOTES.match(letter) else f"\\{letter}"
