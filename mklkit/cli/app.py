"""The ``mklkit`` command: its subcommands, and the handling of errors.

Exit codes: 0 success, 2 an error in the call or the data, 130 interrupted, 1 a bug.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from mklkit.cli.compare import compare
from mklkit.cli.completion.answering import ASKED, answer
from mklkit.cli.console import say, show_warnings_briefly, working
from mklkit.cli.describe import describe
from mklkit.cli.evaluate import evaluate
from mklkit.cli.examples import EXAMPLES, epilog
from mklkit.cli.explain import explain
from mklkit.cli.faults import whose_fault
from mklkit.cli.fit import fit
from mklkit.cli.inspect_model import inspect_model
from mklkit.cli.kernels import kernels
from mklkit.cli.list_names import list_names
from mklkit.cli.package_commands import PACKAGES, BrokenCommandError, package_commands
from mklkit.cli.plugin import plugin
from mklkit.cli.predict import predict
from mklkit.cli.usage import usage_message
from mklkit.errors import MKLKitError, UnknownNameError, plain_message, suggest

__all__ = ["app", "main"]

# Errors of writing; the error names no file if it is stdout.
NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EROFS)
# Errors of paths given by the user that cannot be resolved or used.
NO_SUCH_USE = (
    errno.EACCES,
    errno.EPERM,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.EISDIR,
    errno.ENOTDIR,
)
# Errors in the call: a class of Click, or of the copy of it inside newer versions of Typer.
UsageError: Any = typer.BadParameter.__base__


class OpenGroup(TyperGroup):
    """mklkit's own commands and those of other packages.

    Usage errors suggest near misses, and are shortened if they are long.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*self.commands, *package_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if there is none."""
        return self.commands.get(cmd_name) or package_commands(ctx).get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called and its arguments, or say which name is near."""
        name = args[0]
        if self.get_command(ctx, name) is None:
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
        with _wording():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Find a command, read its arguments and run it."""
        try:
            with _wording():
                return super().invoke(ctx)
        except SystemExit as leaving:
            if isinstance(leaving.__context__, BrokenPipeError):
                raise  # By Rich, where a help's reader has closed the pipe.
            # Commands end by other exceptions, so this one was raised by a component.
            _fail_by_our_fault(leaving)


@contextlib.contextmanager
def _wording() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        error.message = usage_message(error.message)
        raise


app = typer.Typer(
    name="mklkit",
    cls=OpenGroup,
    help="Multiple kernel learning: learn which kernels matter, and classify with them.",
    epilog=epilog(*EXAMPLES["mklkit"]),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "fit": fit,
    "predict": predict,
    "evaluate": evaluate,
    "compare": compare,
    "inspect": inspect_model,
    "explain": explain,
    "kernels": kernels,
    "list": list_names,
    "describe": describe,
}
for _name, _function in _COMMANDS.items():
    app.command(_name, epilog=epilog(*EXAMPLES[f"mklkit {_name}"]))(_function)
app.add_typer(plugin, name="plugin")


def main() -> None:
    """Run the command line and exit."""
    show_warnings_briefly()
    _check_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Do not fail on names that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="replace")
    try:
        _run()
    except MKLKitError as error:
        _fail(str(error), 2)
    except MemoryError as error:
        from mklkit.views.memory import REMEDY

        _fail(f"Not enough memory for this many rows: {error} {REMEDY}", 2)
    except BrokenPipeError:
        # The reader of the output has closed the pipe; Typer handles a command's writes the same.
        _give_up(sys.stdout)
        sys.exit(1)
    except OSError as error:
        _fail_by_the_system(error)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BrokenCommandError as error:
        _fail(str(error), 1)
    except BaseException as error:
        # The outermost layer: every unforeseen error is reported as a bug, in one line.
        _fail_by_our_fault(error)


def _run() -> None:
    """Run the command and flush stdout, so that errors of writing are raised here."""
    try:
        if os.environ.get(ASKED):
            answer(typer.main.get_command(app))
        else:
            app(prog_name="mklkit")
    except SystemExit:
        if sys.stdout is not None:
            sys.stdout.flush()
        raise
    finally:
        # Registered last, it runs before what plugins have registered.
        atexit.unregister(_rest_to_stderr)
        atexit.register(_rest_to_stderr)


def _rest_to_stderr() -> None:
    """Redirect what plugins print at exit to stderr, as the results are complete."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr


def _check_streams() -> None:
    """Make sure that stdout and stderr exist.

    A stream is None if the shell closed it, as in ``mklkit list >&-``.
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        _fail(
            "The output can't be written: stdout is closed. Send it to a file, or to"
            f" {os.devnull} if it is not wanted.",
            2,
        )


def _fail_by_the_system(error: OSError) -> NoReturn:
    """Report an error of the operating system that the user can fix."""
    if error.errno in NOT_WRITTEN:
        _give_up(sys.stdout)
        _fail(f"{error.filename or 'The output'} can't be written: {error.strerror}.", 2)
    if error.errno in NO_SUCH_USE and error.filename is not None:
        _fail(f"{error.filename} can't be read or written: {error.strerror}.", 2)
    _fail_by_our_fault(error)


def _give_up(stream: TextIO) -> None:
    """Discard what a stream still holds, so that Python does not fail on it at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail_by_our_fault(error: BaseException) -> NoReturn:
    whose, plugins = whose_fault(error)
    _fail(
        f"This is {whose}: {type(error).__name__}: {plain_message(error)}\n"
        f"Please report it{' to its authors' if plugins else ''} with the traceback that"
        " MKLKIT_DEBUG=1 shows.",
        1,
    )


def _fail(message: str, code: int) -> NoReturn:
    try:
        if os.environ.get("MKLKIT_DEBUG"):
            traceback.print_exc()
        say(f"error: {message}", style="red")
    except OSError:
        # Stderr may not be writable either; the exit code still reports the error.
        _give_up(sys.stderr)
    sys.exit(code)


def _print_version(wanted: bool) -> None:
    if wanted:
        from mklkit._version import __version__

        print(f"mklkit {__version__}")
        raise typer.Exit


def _install_completion(wanted: bool) -> None:
    if wanted:
        from mklkit.cli.completion.install import install, this_shell
        from mklkit.cli.completion.names import known_names

        shell = this_shell()
        for done in install(shell):
            say(done)
        with working("looking for all names"):
            known_names()
        say(f"Completion works in the next {shell} that is opened.")
        raise typer.Exit


def _show_completion(wanted: bool) -> None:
    if wanted:
        from mklkit.cli.completion.install import script, this_shell

        print(script(this_shell()), end="")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion",
            callback=_install_completion,
            is_eager=True,
            help="Let the TAB key complete commands, names, columns and files in this shell (bash,"
            " zsh or fish).",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion",
            callback=_show_completion,
            is_eager=True,
            help="Show the script that does so, to put it elsewhere.",
        ),
    ] = False,
) -> None:
    """Multiple kernel learning: learn which kernels matter, and classify with them."""
