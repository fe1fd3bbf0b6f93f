"""Where in a command line the cursor is: the command, the option or argument, and what is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import typer
from typer.core import TyperGroup

from mklkit.cli.package_commands import whole_command

__all__ = ["Place", "find_place"]


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

    def options(self) -> dict[str, Any]:
        """Return the options of the command by each of their names."""
        parameters: list[Any] = self.context.command.get_params(self.context)
        shown = [one for one in parameters if one.param_type_name == "option" and not one.hidden]
        return {name: one for one in shown for name in (*one.opts, *one.secondary_opts)}

    def argument(self) -> Any:
        """Return the argument that comes next, None if there is no further one."""
        parameters: list[Any] = self.context.command.get_params(self.context)
        arguments = [one for one in parameters if one.param_type_name == "argument"]
        if self.plain < len(arguments):
            return arguments[self.plain]
        return arguments[-1] if arguments and arguments[-1].nargs == -1 else None

    def read(self, word: str) -> Place:
        """Return the place after a complete word."""
        command = self.context.command
        if self.awaiting is not None:
            self._give(self.awaiting, word)
            self.awaiting = None
        elif word == "--":
            self.options_ended = True
        elif word.startswith("-") and not self.options_ended:
            option, value = self.split(word)
            if option is not None and (value is not None or option.is_flag):
                self._give(option, word if value is None else value)
            else:
                self.awaiting = option
        elif isinstance(command, TyperGroup):
            chosen = command.get_command(self.context, word)
            if chosen is not None:
                whole = whole_command(chosen)
                return Place(typer.Context(whole, info_name=word, parent=self.context))
            self.plain += 1
        else:
            argument = self.argument()
            if argument is not None:
                self._give(argument, word)
            self.plain += 1
        return self

    def split(self, word: str) -> tuple[Any, str | None]:
        """Return the option that a word names, and the value in the same word if there is one.

        The option is None if there is none of that name, the value of ``--kernel`` is None, that
        of ``--kernel=rbf`` and of ``-krbf`` is ``rbf``.
        """
        options = self.options()
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            return options.get(name), value if equals else None
        option = options.get(word[:2])
        attached = option is not None and not option.is_flag and len(word) > 2
        return option, word[2:] if attached else None

    def _give(self, parameter: Any, word: str) -> None:
        self.context.params.setdefault(parameter.name, []).append(word)


def find_place(command: Any, words: Sequence[str]) -> Place:
    """Return the place after the words of a command line.

    Parameters
    ----------
    command : typer.core.TyperGroup
    words : sequence of str
        All words before the one at the cursor; the first is the name of the command.
    """
    place = Place(typer.Context(command, info_name=words[0], **command.context_settings))
    for word in words[1:]:
        place = place.read(word)
    return place
