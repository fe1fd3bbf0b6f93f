"""What the word at the cursor may become, by the commands' own options and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import typer
from typer.core import TyperGroup

from mklkit.cli.completion.line import TypedLine

__all__ = ["Candidate", "candidates"]

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


def candidates(command: Any, typed: TypedLine) -> tuple[str, list[Candidate]]:
    """Return what a line may go on with.

    Parameters
    ----------
    command : typer.core.TyperGroup
    typed : TypedLine

    Returns
    -------
    paths : {"files", "folders", "nothing"}
        What the shell is to add by itself.
    names : list of Candidate
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
    """A command whose words are read one after another.

    Attributes
    ----------
    context : typer.Context
        Of the command; its ``params`` are lists of the words given so far for each parameter.
    awaiting : object or None
        The option that the last word named and whose value comes next.
    plain : int
        How many words are given that are neither options nor their values; more than 0 in a group
        of commands means that it has no such command.
    options_ended : bool
        Whether ``--`` was read.
    """

    context: typer.Context
    awaiting: Any = None
    plain: int = 0
    options_ended: bool = False

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
        elif isinstance(command, TyperGroup):
            chosen = command.get_command(self.context, word)
            if chosen is None:
                self.plain += 1
                return self
            return Place(typer.Context(chosen, info_name=word, parent=self.context))
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
    text = " ".join(sentence.rstrip(".;:").split())
    if len(text) > LONGEST_REMARK:
        text = f"{text[: LONGEST_REMARK - 1]}…"
    return "".join(letter for letter in text if letter.isprintable())
