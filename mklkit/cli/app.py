"""The ``mklkit`` command: its subcommands, and what becomes of errors.

Exit codes: 0 done, 2 a mistake in the call or the data, 130 interrupted, 1 a mistake of ours.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from mklkit.cli.console import say, shortened, show_warnings_briefly
from mklkit.cli.describe import describe
from mklkit.cli.evaluate import evaluate
from mklkit.cli.faults import whose_fault
from mklkit.cli.fit import fit
from mklkit.cli.inspect_model import inspect_model
from mklkit.cli.kernels import kernels
from mklkit.cli.list_names import list_names
from mklkit.cli.plugin import plugin
from mklkit.cli.predict import predict
from mklkit.errors import MKLKitError, plain_message

__all__ = ["app", "main"]

# What the system answers to a write; where that is to stdout, the error names no file.
NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EROFS)
# What it answers where a path given by the user can't be followed or may not be used.
NO_SUCH_USE = (
    errno.EACCES,
    errno.EPERM,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.EISDIR,
    errno.ENOTDIR,
)
# A mistake in the call: of Click, or of the copy of it that newer versions of Typer hold.
UsageError: Any = typer.BadParameter.__base__


class BriefGroup(TyperGroup):
    """Commands whose usage errors quote no more than can be read."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before a command."""
        with _shortening():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Find a command, read its arguments and run it."""
        try:
            with _shortening():
                return super().invoke(ctx)
        except SystemExit as leaving:
            # A command's own ways to end are other exceptions: a component has no business here.
            _fail_by_our_fault(leaving)


@contextlib.contextmanager
def _shortening() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        error.message = shortened(error.message)
        raise


app = typer.Typer(
    name="mklkit",
    cls=BriefGroup,
    help="Multiple kernel learning: learn which kernels matter, and classify with them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("fit")(fit)
app.command("predict")(predict)
app.command("evaluate")(evaluate)
app.command("inspect")(inspect_model)
app.command("kernels")(kernels)
app.command("list")(list_names)
app.command("describe")(describe)
app.add_typer(plugin, name="plugin")


def main() -> None:
    """Run the command line and exit."""
    show_warnings_briefly()
    _check_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is no reason to fail.
        sys.stdout.reconfigure(errors="replace")
    try:
        _run()
    except MKLKitError as error:
        _fail(str(error), 2)
    except MemoryError as error:
        from mklkit.views.memory import REMEDY

        _fail(f"Not enough memory for this many rows: {error} {REMEDY}", 2)
    except BrokenPipeError:
        # Whoever read the output has had enough; the command's own writes end so too, by Typer.
        _give_up_stdout()
        sys.exit(1)
    except OSError as error:
        _fail_by_the_system(error)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # The outermost layer: whatever was not foreseen is ours to mend, and said in one line.
        _fail_by_our_fault(error)


def _run() -> None:
    """Run the command; what it printed is out, or an error raised, when this ends."""
    try:
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
    """Send what plugins print when the program ends to stderr: the results are complete."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr


def _check_streams() -> None:
    """Make sure there is somewhere to write results to, and somewhere for talk.

    Python has no stream where the shell closed it, as in ``mklkit list >&-``.
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
    """Say what the operating system refused, where the user can mend it."""
    if error.errno in NOT_WRITTEN:
        _give_up_stdout()
        _fail(f"{error.filename or 'The output'} can't be written: {error.strerror}.", 2)
    if error.errno in NO_SUCH_USE and error.filename is not None:
        _fail(f"{error.filename} can't be read or written: {error.strerror}.", 2)
    _fail_by_our_fault(error)


def _give_up_stdout() -> None:
    """Send what is still to be flushed nowhere, so that Python does not fail on it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail_by_our_fault(error: BaseException) -> NoReturn:
    whose, plugins = whose_fault(error)
    _fail(
        f"This is {whose}: {type(error).__name__}: {plain_message(error)}\n"
        f"Please report it{' to its authors' if plugins else ''} with the traceback that"
        " MKLKIT_DEBUG=1 shows.",
        1,
    )


def _fail(message: str, code: int) -> NoReturn:
    with contextlib.suppress(OSError):
        # Stderr may be as full as stdout; the exit code tells all the same.
        if os.environ.get("MKLKIT_DEBUG"):
            traceback.print_exc()
        say(f"error: {message}", style="red")
    sys.exit(code)


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
    """Multiple kernel learning: learn which kernels matter, and classify with them."""
