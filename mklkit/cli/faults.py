"""From errors to messages and exit codes.

Exit codes: 0 success, 2 an error in the call or the data, 130 interrupted, 1 a bug.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator
from traceback import walk_tb
from typing import Any, NoReturn, TextIO

import typer

from mklkit.cli.console import say, shortened
from mklkit.cli.package_commands import BrokenCommandError, imported_packages
from mklkit.errors import TOO_LITTLE_MEMORY, ComponentError, MKLKitError, plain_message, suggest

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
# Pydantic, which reads values for Typer, puts this before the message itself.
NOISE = "Value error, "
CHOICE = re.compile(r"(.*) is not one of (.*)\.", re.DOTALL)
IMPORTER = "<frozen importlib"
"""The beginning of the file names of Python's importer in tracebacks."""
NO_MEMORY = ("failed to map segment", "annot allocate memory")
"""What the loader of shared libraries says when memory runs out."""


@contextlib.contextmanager
def exit_codes() -> Iterator[None]:
    """Turn any error into a message on stderr and an exit code."""
    try:
        yield
    except ComponentError as error:
        _fail_by_a_component(error)
    except MKLKitError as error:
        _fail(str(error), 2)
    except BrokenCommandError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        # The reader of the output closed the pipe; Typer handles a command's writes the same way.
        _give_up(sys.stdout)
        sys.exit(1)
    except (ImportError, MemoryError, OSError) as error:
        _fail_by_the_system(error)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # The outermost layer: every unforeseen error is reported as a bug, in one line.
        fail_by_our_fault(error)


def _fail_by_the_system(error: ImportError | MemoryError | OSError) -> NoReturn:
    """Report an error of the operating system that the user can fix."""
    if _lacks_memory_to_load(error):
        _fail(TOO_LITTLE_MEMORY, 2)
    if isinstance(error, MemoryError):
        from mklkit.views.memory import REMEDY

        _fail(f"Not enough memory for this many samples: {error} {REMEDY}", 2)
    if isinstance(error, OSError) and error.errno in NOT_WRITTEN:
        _give_up(sys.stdout)
        _fail(f"{error.filename or 'The output'} can't be written: {error.strerror}.", 2)
    if isinstance(error, OSError) and error.errno in NO_SUCH_USE and error.filename is not None:
        _fail(f"{error.filename} can't be read or written: {error.strerror}.", 2)
    fail_by_our_fault(error)


def _lacks_memory_to_load(error: BaseException) -> bool:
    """Return whether a library could not be imported because memory is limited, as by ulimit -v.

    The system's message may be in an error that caused this one.
    """
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    frames = [frame for cause in causes for frame, _ in walk_tb(cause.__traceback__)]
    # A module that can't even be read has no frame of its own, only those of Python's importer.
    importing = any(
        frame.f_code.co_name == "<module>" or frame.f_code.co_filename.startswith(IMPORTER)
        for frame in frames
    )
    return importing and any(
        isinstance(cause, MemoryError) or any(words in str(cause) for words in NO_MEMORY)
        for cause in causes
    )


@contextlib.contextmanager
def usage_errors_in_brief() -> Iterator[None]:
    """Shorten Typer's messages; after an invalid choice, suggest the nearest one."""
    try:
        yield
    except UsageError as error:
        text = error.message.removeprefix(NOISE)
        choice = CHOICE.fullmatch(text)
        if choice:
            text += suggest(choice[1].strip("'\""), re.findall(r"'([^']+)'", choice[2]))
        error.message = shortened(text)
        raise


def _fail_by_a_component(error: ComponentError) -> NoReturn:
    """Report a component that breaks its contract, with the distribution to which it belongs."""
    from mklkit.registry.registry import get_registry

    owners = [get_registry().distribution_of(name) for name in error.classes]
    owner = " or ".join(sorted({owner for owner in owners if owner})) or "its package"
    _fail(f"{error}\nThis is a bug in {owner}: please report it to its authors.", 1)


def fail_by_our_fault(error: BaseException) -> NoReturn:
    """Report a bug, of mklkit or of a plugin, with the place that raised it."""
    *_, (frame, line) = walk_tb(error.__traceback__)
    plugins = sorted(_plugins_in_use())
    _fail(
        f"This is a bug in mklkit{' or in a plugin' if plugins else ''}:"
        f" {type(error).__name__}: {plain_message(error)}, raised in"
        f" {frame.f_globals.get('__name__')}, line {line}."
        f"{' Plugins in use: ' if plugins else ''}{', '.join(plugins)}{'.' if plugins else ''}\n"
        "Please report it to the authors with the traceback that MKLKIT_DEBUG=1 shows.",
        1,
    )


def _plugins_in_use() -> set[str]:
    """Return the distributions of imported components and commands of other packages."""
    commands = set(imported_packages().values())
    if "mklkit.registry.registry" not in sys.modules:
        return commands  # No components have been imported.
    from mklkit.registry.registry import BUILT_IN, get_registry

    return (commands | get_registry().distributions()) - {BUILT_IN}


def _fail(message: str, code: int) -> NoReturn:
    try:
        if os.environ.get("MKLKIT_DEBUG"):
            traceback.print_exc()
        say(f"error: {message}", style="red")
    except MemoryError:
        # Styles take memory that is used up.
        os.write(2, f"error: {message}\n".encode())
    except OSError:
        # Stderr may not be writable either; the exit code still reports the error.
        _give_up(sys.stderr)
    sys.exit(code)


def _give_up(stream: TextIO) -> None:
    """Discard what a stream still holds, so that Python does not fail on it at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
