"""The answer to a shell: what the word at the cursor may become."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from mklkit.cli.completion.place import Place, find_place
from mklkit.cli.completion.words import Typed, read_line
from mklkit.cli.package_commands import BrokenCommandError
from mklkit.errors import MKLKitError

__all__ = ["ASKED", "LINE", "answer", "completions"]

ASKED = "_MKLKIT_COMPLETE"
LINE = "_MKLKIT_LINE"
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
Found = list[tuple[str, str]]


def answer(command: Any) -> None:
    """Print the completions of the line that a shell's script gives, and nothing else.

    Parameters
    ----------
    command : typer.core.TyperGroup
        The command that is typed.
    """
    typed = read_line(os.environ.get(LINE, ""))
    # A terminal where somebody types is no place for warnings, such as those of plugins.
    paths, found = "nothing", Found()
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stderr(nowhere),
        suppress(BrokenCommandError, MKLKitError),
    ):
        paths, found = completions(command, typed)
    shell = os.environ[ASKED]
    if set(typed.live) - set("!" if shell == "fish" else ""):
        # After these a completion would be run or expanded, rather than be taken as a name.
        found = []
    if shell == "bash":
        # Bash cuts words at : and =, and knows which part of them it will replace.
        words = [word for word, _ in found if not (typed.quote == '"' and "!" in word)]
        lines = [typed.quoted(word[len(typed.last) :]) for word in words]
    else:
        lines = [f"{word}\t{remark}" for word, remark in found]
    print("\n".join([paths, *lines]))


def completions(command: Any, typed: Typed) -> tuple[str, Found]:
    """Return what a line may go on with.

    Parameters
    ----------
    command : typer.core.TyperGroup
    typed : Typed

    Returns
    -------
    paths : {"files", "folders", "nothing"}
        What the shell adds by itself.
    found : list of (str, str)
        The whole word at the cursor, completed, and a remark on it.
    """
    place = find_place(command, typed.words or [""])
    parameter, start = place.awaiting, ""
    asks_for_options = typed.last.startswith("-") and not place.options_ended
    if parameter is None and asks_for_options:
        parameter, value = place.split(typed.last)
        if value is None:
            return "nothing", _fitting(_options(place), typed.last)
        start = typed.last[: len(typed.last) - len(value)]
    elif parameter is None and isinstance(place.context.command, TyperGroup):
        return "nothing", _fitting(() if place.plain else _commands(place), typed.last)
    elif parameter is None:
        parameter = place.argument()
        if parameter is None:
            return "nothing", _fitting(_options(place), typed.last)
    if parameter is None:
        return "nothing", []
    last = typed.last[len(start) :]
    found = [(one.value, one.help or "") for one in parameter.shell_complete(place.context, last)]
    values = [(f"{start}{value}", remark) for value, remark in found]
    return PATHS.get(parameter.metavar, "nothing"), _fitting(values, typed.last)


def _options(place: Place) -> Iterator[tuple[str, str]]:
    """Yield the options that can still be given, each by its first long name."""
    for option in dict.fromkeys(place.options().values()):
        if option.name not in place.context.params or option.multiple:
            names = [name for name in option.opts if name.startswith("--")]
            yield names[0], option.help or ""


def _commands(place: Place) -> Iterator[tuple[str, str]]:
    context = place.context
    group: Any = context.command
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield name, (command.help or "").partition("\n")[0]


def _fitting(found: Iterable[tuple[str, str]], start: str) -> Found:
    """Return what begins so and can be shown in a line, with the first sentence of each remark."""
    return [
        (word, _brief(remark))
        for word, remark in found
        if word.startswith(start) and word.isprintable()
    ]


def _brief(remark: str) -> str:
    sentence = re.split(r"(?<=[.;:])\s", remark.replace("\\[", "[").strip(), maxsplit=1)[0]
    text = " ".join(sentence.rstrip(".;:").split())
    if len(text) > LONGEST_REMARK:
        text = f"{text[: LONGEST_REMARK - 1]}…"
    return "".join(letter for letter in text if letter.isprintable())
