"""Write the reference of the command line from the commands themselves: none can be missed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperGroup
from writing import write_if_changed

from mklkit.cli.app import app as mklkit_app
from mklkit.cli.package_commands import whole_command

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = """# The command line

The same as `mklkit --help`, and `mklkit COMMAND --help` for each command. Two are in packages of
their own: `plugin` in `mklkit-authors`, `reproduce` in `mklkit-papers`. The
[guide](../guides/command-line.md) tells how to let the TAB key complete them.

Results go to stdout; notes, warnings and progress to stderr. Of an option that is given twice the
last counts, unless it can be repeated.

## Exit codes

`0`
: Success.

`1`
: A bug in mklkit or in a plugin, which the message names. `mklkit plugin check` ends so if a check
  failed, and every command whose reader closed stdout before its end, as `head` does.

`2`
: An error in the call or in the data: one message on stderr says what was expected and what to do.

`130`
: Interrupted by Ctrl-C or SIGTERM. What `compare` and `reproduce` have finished is shown, and
  temporary files are removed.

## Environment variables

`MKLKIT_DATA`
: The folder of the papers' data sets for `mklkit reproduce`, if `--data-dir` is not given.

`MKLKIT_OFFLINE`
: With `1`, `mklkit reproduce` fetches no data sets, as with `--offline`.

`MKLKIT_DISABLE_PLUGINS`
: With `1`, there are only the built-in components. Names of packages, separated by commas,
  leave out only these.

`MKLKIT_DEBUG`
: With `1`, errors are shown with their traceback.

`COLUMNS`
: The width of tables and help, also where stdout is no terminal.

`NO_COLOR`
: With any value, there are no colours.

`NUMBA_CACHE_DIR`
: The folder of [compiled code](../guides/performance.md#where-compiled-code-is-kept).

`OMP_NUM_THREADS`
: The number of threads of linear algebra, and of the loops that mklkit divides as it does.

`TMPDIR`
: The folder of temporary files, such as encoded tables that do not fit into memory.

`XDG_CACHE_HOME`
: The folder of caches, else `~/.cache`; completion keeps its list of names there.
"""
# What is typed as it is: in quotes, or an option.
TYPED = re.compile(r"\"([^\"]+)\"|(\w+='[^']+')|(?<!\w)'([^']+)'(?!\w)|(?<![\w-])(--[a-z][\w-]*)")
# What Markdown or HTML would read as more than a letter.
SPECIAL = re.compile(r"[\\`*<>\[\]|_]")
# A help record: the text, and in brackets the variable, the default and the range.
RECORD = re.compile(r"(?P<text>.*?)(?:  \\?\[(?P<more>[^\[]*(?:\[[^\]]*\])?[^\[]*)\])?", re.DOTALL)


def reference() -> str:
    """Return the page: exit codes, variables, then each command with its options and examples."""
    command = typer.main.get_command(mklkit_app)
    context = typer.Context(command, info_name="mklkit", **command.context_settings)
    return "\n".join([HEAD, *_sections(context)])


def _sections(context: typer.Context) -> Iterator[str]:
    """Yield the lines of a command, and of those below it."""
    command: Any = context.command
    path = context.command_path
    yield from (f"## {path}", "")
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_plain(paragraph), "")
    parameters = command.get_params(context)
    yield from ("```text", " ".join([path, *_synopsis(command, parameters)]), "```", "")
    for title, shown in _panels(parameters).items():
        yield from (f"**{title}**", "")
        for parameter in shown:
            yield from _parameter(parameter, context)
    yield from ("**Examples**", "")
    _, *lines = (command.epilog or "").replace("\\[", "[").split("\n\n")
    for told, call in zip(lines[::2], lines[1::2], strict=True):
        yield from (_plain(told), "", "```sh", call.strip(), "```", "")
    if isinstance(command, TyperGroup):
        for name in command.list_commands(context):
            below = whole_command(command.get_command(context, name))
            yield from _sections(typer.Context(below, info_name=name, parent=context))


def _synopsis(command: Any, parameters: list[Any]) -> Iterator[str]:
    """Yield what stands after the command, in brackets where it can be left out."""
    yield "[OPTIONS]"
    if isinstance(command, TyperGroup):
        yield "COMMAND ..."
    for option in parameters:
        if option.param_type_name == "argument":
            name = option.metavar.rstrip(".") + ("..." if option.nargs == -1 else "")
            yield name if option.required else f"[{name}]"


def _panels(parameters: list[Any]) -> dict[str, list[Any]]:
    """Return what can be shown of the parameters by the panel of the help in which it stands."""
    panels: dict[str, list[Any]] = {}
    for option in parameters:
        if not getattr(option, "hidden", False):
            plain = "Arguments" if option.param_type_name == "argument" else "Options"
            panels.setdefault(getattr(option, "rich_help_panel", None) or plain, []).append(option)
    return panels


def _parameter(parameter: Any, context: typer.Context) -> Iterator[str]:
    """Yield the lines of an option or argument."""
    name, record = parameter.get_help_record(context)
    if parameter.param_type_name == "argument":
        name = parameter.metavar
    match = RECORD.fullmatch(record)
    text, more = (match["text"], match["more"]) if match else (record, None)
    yield f"`{name}`"
    yield f": {_plain(text)}{f' ({_plain(_without_parentheses(more))})' if more else ''}"
    yield ""


def _without_parentheses(more: str) -> str:
    """Return what is said of a default, which stands in parentheses where it is no value."""
    return re.sub(r"default: \((.*)\)", r"default: \1", more)


def _plain(text: str) -> str:
    """Return help text as Markdown on one line, with what is typed as code."""
    parts, end = [], 0
    text = " ".join(text.replace("\\[", "[").split())
    for typed in TYPED.finditer(text):
        parts += [_escaped(text[end : typed.start()]), f"`{next(filter(None, typed.groups()))}`"]
        end = typed.end()
    return "".join([*parts, _escaped(text[end:])])


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", text)


def write(app: Sphinx) -> None:
    """Write the page."""
    write_if_changed(Path(app.srcdir) / "reference" / "command-line.md", reference())


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx reads what there is."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
