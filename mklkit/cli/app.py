"""The ``mklkit`` command and its subcommands."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mklkit.cli.console import show_warnings_briefly
from mklkit.cli.examples import EXAMPLES, epilog
from mklkit.cli.faults import exit_codes, fail_by_our_fault, usage_errors_in_brief
from mklkit.cli.package_commands import (
    PACKAGES,
    BrokenCommandError,
    BuiltInCommand,
    package_commands,
)
from mklkit.errors import DataError, MKLKitError, UnknownNameError, suggest

ASKED = "_MKLKIT_COMPLETE"
"""The variable that a shell's completion script sets to ask for completions."""

COMMANDS = {
    "fit": "Combine one kernel per data source into a classifier or regression, and score it.",
    "predict": "Predict the class or value of each sample of DATA, in input order.",
    "score": "Score a saved model on samples that it has not learned from, such as another cohort.",
    "evaluate": "Score a model by repeated cross-validation: mean and standard deviation.",
    "compare": "Compare methods on the same splits: their scores, time, and tests of "
    "the differences.",
    "inspect": "Show the contents of a model file: data, columns, components, "
    "weights, scores, versions.",
    "explain": "Show which kernels and columns matter: by weight, alone, without it or permuted.",
    "kernels": "Show the alignment of every pair of kernels on the samples of DATA, and "
    "near-duplicates.",
    "list": "List kernels, feature maps, combiners, learners and presets, built in "
    "and from plugins.",
    "describe": "Show a component or preset: formula, cost, source, parameters, and an example.",
}
"""The first sentence of each command's help, by name."""
HOMES = {"inspect": "inspect_model.inspect_model", "list": "describe.list_names"}
"""The modules and functions of commands that are not named after these."""


class OpenGroup(TyperGroup):
    """mklkit's own commands and those of other packages.

    Usage errors suggest near misses, and are shortened if they are long.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, summary in COMMANDS.items():
            home = HOMES.get(name, f"{name}.{name}")
            self.commands[name] = BuiltInCommand(name, home, summary)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*self.commands, *package_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if there is none."""
        return self.commands.get(cmd_name) or package_commands(ctx).get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the called command and its arguments, or suggest a similar name."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            if name in PACKAGES:
                raise UnknownNameError(
                    f"The command {name!r} is in the package {PACKAGES[name]}, which is not"
                    " installed, or is switched off: 'pip install"
                    f" ./plugins/{PACKAGES[name]}' installs it from a clone of mklkit.",
                    name,
                )
            ctx.fail(f"No such command {name!r}.{suggest(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before a command."""
        with usage_errors_in_brief():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Find a command, read its arguments and run it."""
        try:
            with usage_errors_in_brief():
                return super().invoke(ctx)
        except SystemExit as leaving:
            if isinstance(leaving.__context__, BrokenPipeError):
                raise  # By Rich, if the reader of the help closed the pipe.
            # Commands raise other exceptions to end, so this one comes from a component.
            fail_by_our_fault(leaving)


app = typer.Typer(
    name="mklkit",
    cls=OpenGroup,
    help="Multiple kernel learning: one model from several data sources, with one kernel for each.",
    epilog=epilog(*EXAMPLES["mklkit"]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line and exit."""
    show_warnings_briefly()
    # A stream is None if the shell closed it, as in `mklkit list >&-`.
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    with exit_codes():
        if sys.stdout is None:
            raise DataError(
                "The output can't be written: stdout is closed. Send it to a file, or to"
                f" {os.devnull} if it is not wanted."
            )
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Do not fail on names that the terminal's encoding lacks.
            sys.stdout.reconfigure(errors="replace")
        _run()


def _run() -> None:
    """Run the command and flush stdout, so that errors of writing are raised here."""
    try:
        with _silence() if ASKED in os.environ else contextlib.nullcontext():
            app(prog_name="mklkit")
    except SystemExit:
        sys.stdout.flush()
        raise
    finally:
        # Registered last, so it runs before the functions that plugins have registered.
        atexit.unregister(_rest_to_stderr)
        atexit.register(_rest_to_stderr)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Hide warnings and errors, such as those of plugins, during completion."""
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        contextlib.redirect_stderr(nowhere),
        contextlib.suppress(BrokenCommandError, MKLKitError),
    ):
        yield


def _rest_to_stderr() -> None:
    """Redirect what plugins print at exit to stderr, as the results are complete."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr


def _print_version(wanted: bool) -> None:
    if wanted:
        from mklkit._version import __version__

        print(f"mklkit {__version__}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Multiple kernel learning: one model from several data sources, with one kernel for each."""
