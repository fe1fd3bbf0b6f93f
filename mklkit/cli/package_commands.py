"""Commands that are imported when they are called: mklkit's own, and those of other packages.

The latter join ``mklkit`` by entry points of ``mklkit_commands``; their names come from the
metadata of the installed packages.
"""

from __future__ import annotations

import re
import sys
import warnings
from abc import abstractmethod
from collections.abc import Collection
from contextlib import redirect_stdout
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperCommand

from mklkit.cli.console import loading
from mklkit.cli.examples import EXAMPLES, epilog
from mklkit.errors import PluginConflictError, PluginWarning, plain_message, quoted, type_name
from mklkit.registry.discovery import COMMAND_GROUP

if TYPE_CHECKING:
    from mklkit.registry.discovery import InstalledPlugin, PluginFailure

COMPLETION = ("install_completion", "show_completion")

PACKAGES = {"plugin": "mklkit-authors", "reproduce": "mklkit-papers"}
"""The packages of commands that the documentation names, for those who have not installed them."""

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class BrokenCommandError(Exception):
    """A command whose package can't be imported, in one line; the fault is the package's."""


class LateCommand(TyperCommand):
    """A command with a known name and help, which is imported when it is called."""

    @abstractmethod
    def load(self) -> Any:
        """Import and return the whole command."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **settings: Any) -> Any:
        """Return the context of the whole command, which Typer then invokes."""
        return self.load().make_context(info_name, args, parent, **settings)


class BuiltInCommand(LateCommand):
    """A command of mklkit: a function of a module, both in ``home``."""

    def __init__(self, name: str, home: str, summary: str) -> None:
        self.home = home
        super().__init__(name, help=summary)

    def load(self) -> Any:
        """Import the module, and return its command."""
        from mklkit.cli.target_columns import takes_target_columns  # which reads packages

        module, _, function = self.home.partition(".")
        command = getattr(import_module(f"mklkit.cli.{module}"), function)
        app = typer.Typer(add_completion=False)
        register = app.command(self.name, epilog=epilog(*EXAMPLES[f"mklkit {self.name}"]))
        register(loading()(takes_target_columns(command)))
        return typer.main.get_command(app)


class PackageCommand(LateCommand):
    """A command of another package; there should be one plugin of this name."""

    def __init__(self, name: str, plugins: list[InstalledPlugin]) -> None:
        self.plugins = plugins
        self.packages = " and ".join(sorted(plugin.distribution for plugin in plugins))
        super().__init__(name, help=f"{plugins[0].summary or 'A command'} ({self.packages})")

    def load(self) -> Any:
        """Import the package, and return its command."""
        if len(self.plugins) > 1:
            raise PluginConflictError(
                f"The command {self.name!r} is in {self.packages}: uninstall one of them."
            )
        try:
            # Only results go to stdout.
            with redirect_stdout(sys.stderr):
                app = self.plugins[0].load()
                if not isinstance(app, typer.Typer):
                    raise TypeError(f"its entry point is {quoted(app)} instead of a typer.Typer")
                command = typer.main.get_command(app)
            # Typer adds its own completion, which is for a whole program and not for one command.
            command.params = [param for param in command.params if param.name not in COMPLETION]
            return command
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise BrokenCommandError(
                f"the command {self.name!r} of {self.packages} can't be loaded:"
                f" {type_name(error)}: {plain_message(error)}"
            ) from error


def package_commands(context: typer.Context) -> dict[str, PackageCommand]:
    """Return the commands of installed packages by name, looked for once in a call.

    Names that are taken or invalid, and unreadable metadata, are omitted with a warning.
    """
    if COMMAND_GROUP not in context.meta:
        root: Any = context.find_root().command
        context.meta[COMMAND_GROUP] = _installed(root.commands)
    commands: dict[str, PackageCommand] = context.meta[COMMAND_GROUP]
    return commands


def _installed(built_in: Collection[str]) -> dict[str, PackageCommand]:
    # Imported late, since most commands are built in.
    from mklkit.registry.discovery import PluginFailure, installed_plugins, switched_off

    def warn(failure: PluginFailure) -> None:
        warnings.warn(str(failure), PluginWarning, stacklevel=2)

    claims: dict[str, list[InstalledPlugin]] = {}
    for plugin in [] if switched_off() else installed_plugins(COMMAND_GROUP, warn):
        reason = ""
        if plugin.name in built_in:
            reason = "mklkit has a command of that name"
        elif not NAME.fullmatch(plugin.name):
            reason = "a command's name is lower-case words joined by hyphens"
        if reason:
            warn(PluginFailure(plugin.name, plugin.distribution, reason))
        else:
            claims.setdefault(plugin.name, []).append(plugin)
    return {name: PackageCommand(name, plugins) for name, plugins in claims.items()}


def whole_command(command: Any) -> Any:
    """Return a command with its parameters, imported if need be."""
    return command.load() if isinstance(command, LateCommand) else command


def imported_packages() -> dict[str, str]:
    """Return the distributions of imported commands, by package."""
    from mklkit.registry.discovery import installed_plugins

    plugins = installed_plugins(COMMAND_GROUP, lambda _: None)
    return {each.package: each.distribution for each in plugins if each.package in sys.modules}
