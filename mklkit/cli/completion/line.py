"""A command line that is still being typed: its words, and how the last one may go on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import typer
from typer.core import TyperGroup

from mklkit.cli.package_commands import whole_command

SPACE = " \t\r\n"
QUOTES = "'\""
# What starts code, a variable or a command of the history, also inside of double quotes.
LIVE = "$`!"
# What a shell takes as it is, outside of quotes.
SPECIAL = re.compile(r"[^\w@%+=:,./-]")
IN_DOUBLE_QUOTES = re.compile(r'["$`\\]')
# By what stands for a value in the help: what the shell adds by itself.
PATHS = {
    "DATA": "files",
    "DATA...": "files",
    "FILE": "files",
    "MODEL": "files",
    "FOLDER": "folders",
    "DIR": "folders",
}
LONGEST_REMARK = 120
Candidate = tuple[str, str]
"""The whole word at the cursor, completed, and a remark on it."""


@attrs.frozen
class TypedLine:
    """A command line up to the cursor, without quotes."""

    words: list[str]
    last: str
    """The word at the cursor; empty after a space."""
    quote: str = ""
    """The quote that is open at the cursor, which was opened at this place of the last word."""
    opened: int = 0
    live: str = ""
    """The letters of the last word that a shell does not take as they are, a backslash too."""

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


def candidates(command: Any, typed: TypedLine) -> tuple[str, list[Candidate]]:
    """Return what a line may go on with.

    The first is what the shell is to add by itself: ``"files"``, ``"folders"`` or ``"nothing"``.
    """
    place = Place(typer.Context(command, info_name="mklkit", **command.context_settings))
    for word in typed.words[1:]:
        place = place.after(word)
    parameter, start = place.awaiting, ""
    if parameter is None and typed.last.startswith("-") and not place.options_ended:
        name, equals, _ = typed.last.partition("=")
        parameter, start = place.options().get(name), name + equals
        if not equals:
            return "nothing", _fitting(place.options_left(), typed.last)
    elif parameter is None and isinstance(place.context.command, TyperGroup):
        return "nothing", _fitting(() if place.plain else place.commands(), typed.last)
    elif parameter is None and (parameter := place.argument()) is None:
        return "nothing", _fitting(place.options_left(), typed.last)
    if parameter is None:
        return "nothing", []
    items = parameter.shell_complete(place.context, typed.last[len(start) :])
    values = [(f"{start}{item.value}", item.help or "") for item in items]
    return PATHS.get(parameter.metavar, "nothing"), _fitting(values, typed.last)


@attrs.define
class Place:
    """A command whose words are read one after another."""

    context: typer.Context
    """Its ``params`` are lists of the words given so far for each parameter."""
    awaiting: Any = None
    """The option that the last word named and whose value comes next."""
    plain: int = 0
    """The words that are neither options nor values; a group of commands has no such command."""
    options_ended: bool = False
    """Whether ``--`` was read."""

    def after(self, word: str) -> Place:
        """Return the place after a complete word."""
        command: Any = self.context.command
        if self.awaiting is not None:
            self._give(self.awaiting, word)
            self.awaiting = None
        elif word == "--":
            self.options_ended = True
        elif word.startswith("-") and not self.options_ended:
            name, equals, value = word.partition("=")
            option = self.options().get(name)
            if option is not None and (equals or option.is_flag):
                self._give(option, value or word)
            else:
                self.awaiting = option
        elif isinstance(command, TyperGroup) and (
            chosen := command.get_command(self.context, word)
        ):
            return Place(typer.Context(whole_command(chosen), info_name=word, parent=self.context))
        else:
            self._give(self.argument(), word)
            self.plain += 1
        return self

    def _give(self, parameter: Any, word: str) -> None:
        if parameter is not None:
            self.context.params.setdefault(parameter.name, []).append(word)

    def _parameters(self, kind: str) -> list[Any]:
        parameters: list[Any] = self.context.command.get_params(self.context)
        return [parameter for parameter in parameters if parameter.param_type_name == kind]

    def options(self) -> dict[str, Any]:
        """Return the options of the command by each of their names."""
        shown = [option for option in self._parameters("option") if not option.hidden]
        return {name: option for option in shown for name in (*option.opts, *option.secondary_opts)}

    def argument(self) -> Any:
        """Return the argument that comes next, None if there is no further one."""
        arguments = self._parameters("argument")
        if self.plain < len(arguments):
            return arguments[self.plain]
        return arguments[-1] if arguments and arguments[-1].nargs == -1 else None

    def options_left(self) -> Iterator[Candidate]:
        """Yield the options that can still be given, each by its first long name."""
        for option in dict.fromkeys(self.options().values()):
            if option.name not in self.context.params or option.multiple:
                names = [name for name in option.opts if name.startswith("--")]
                yield names[0], option.help or ""

    def commands(self) -> Iterator[Candidate]:
        """Yield the commands of a group."""
        group: Any = self.context.command
        for name in group.list_commands(self.context):
            yield name, (group.get_command(self.context, name).help or "").partition("\n")[0]


def _fitting(names: Iterable[Candidate], start: str) -> list[Candidate]:
    """Return what begins so and can be shown in a line, with the first sentence of each remark."""
    return [
        (word, _brief(remark))
        for word, remark in names
        if word.startswith(start) and word.isprintable()
    ]


def _brief(remark: str) -> str:
    sentence = re.split(r"(?<=[.;:])\s", remark.replace("\\[", "[").strip(), maxsplit=1)[0]
    text = "".join(filter(str.isprintable, " ".join(sentence.rstrip(".;:").split())))
    return text if len(text) <= LONGEST_REMARK else f"{text[: LONGEST_REMARK - 1]}…"
