"""Output: results to stdout; notes, warnings and progress to stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from time import monotonic
from typing import Any, Literal

from rich.console import Console, RenderableType
from rich.text import Text

from mklkit.display.html import printable
from mklkit.display.progress import Report, reporting_to, silent, terminal_bar

# A pipe has no width; rich's default of 80 columns would fold tables there.
PIPE_WIDTH = 160
# The fewest seconds between two lines of progress where there is no terminal.
LINE_SECONDS = 10.0
# Names or values from a file that a message quotes may be of any length.
LONGEST_MESSAGE = 2000
# reStructuredText's roles and literals; a dotted name is shortened to its last part.
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?([^`]*)`|``([^`]*)``")
_loading = ExitStack()  # Closed, it removes the spinner of loading().


def show(*parts: RenderableType) -> None:
    """Print results on stdout; text is printed as it is, without markup."""
    console = _console("stdout")
    for part in parts:
        if isinstance(part, str):
            console.print(plain(part), soft_wrap=True)
        elif console.is_terminal:
            console.print(part)
        else:
            # Remove the padding of table lines, which is for terminals.
            with console.capture() as captured:
                console.print(part)
            for line in captured.get().splitlines():
                print(line.rstrip())


def show_json(result: Any) -> None:
    """Print a result on stdout as JSON."""
    from mklkit.persistence.metadata import json_ready

    _loading.close()
    print(json.dumps(json_ready(result), indent=2, allow_nan=False))


def show_result(result: Any, as_json: bool, report: Callable[[], None], advice: str | None) -> None:
    """Print a result on stdout, as JSON or by its report, and then the advice on stderr."""
    if as_json:
        show_json(result)
    else:
        report()
    if advice:
        say(advice, style="yellow")


def say(text: str, style: str = "") -> None:
    """Print a line on stderr."""
    _console("stderr").print(Text(plain(shortened(text)), style=style), soft_wrap=True)


def shortened(text: str) -> str:
    """Return a message, without its middle part if it is too long."""
    more = len(text) - LONGEST_MESSAGE
    if more <= 0:
        return text
    end = LONGEST_MESSAGE // 4
    return f"{text[: 3 * end]} … ({more:,} characters omitted) … {text[-end:]}"


def plain(text: object) -> str:
    """Return text without control characters, which names from files may contain."""
    return printable(text)


def without_markup(text: str) -> str:
    """Return a docstring's text without reStructuredText's roles and literals.

    Examples
    --------
    >>> without_markup("As :func:`mklkit.plugin.solve_dual` does, with ``C=1``.")
    'As solve_dual does, with C=1.'
    """
    return ROLE.sub(lambda match: match[1] or match[2] or "", text)


@contextmanager
def loading() -> Iterator[None]:
    """Show a spinner on a terminal until something else is shown: imports take seconds."""
    console = _console("stderr")
    with _loading:
        if console.is_terminal:
            status = console.status("loading")
            _loading.callback(status.stop)  # First, as Ctrl-C may come while it starts.
            status.start()
        yield


@contextmanager
def working(action: str) -> Iterator[None]:
    """Show a spinner on a terminal; nothing in a pipe."""
    console = _console("stderr")
    with console.status(action) if console.is_terminal else nullcontext():
        yield


def counting(
    action: str, shown: bool = True, lines: bool = False
) -> AbstractContextManager[Report]:
    """Show a progress bar on a terminal; elsewhere a line every ten seconds, if ``lines``.

    It yields a function to call with the parts done, their total and, if known, the running part.
    """
    console = _console("stderr")
    if lines and not console.is_terminal:
        return nullcontext(_Lines())
    return terminal_bar(action, console) if shown else nullcontext(silent)


@contextmanager
def fitting() -> Iterator[None]:
    """Show the progress of a fit, such as that of a search, on a terminal."""
    with counting("fitting") as tell, reporting_to(tell):
        yield


def announced(tell: Report, plan: str) -> Report:
    """Return a report that first says on stderr what is about to happen.

    ``plan`` is a format of the ``total`` number of parts.
    """
    said: list[str] = []

    def report(done: int, total: int, part: str = "") -> None:
        if not said:
            said.append(plan.format(total=total))
            say(said[0])
        tell(done, total, part)

    return report


class Told:
    """A report that passes what it is told on to stderr, the first sentence with more words."""

    def __init__(self, tell: Report, more: str) -> None:
        self._tell = tell
        self._more = f": {more}"

    def __call__(self, done: int, total: int, part: str = "") -> None:
        """Report the parts that are done."""
        self._tell(done, total, part)

    def say(self, text: str) -> None:
        """Say a sentence."""
        say(text + self._more)
        self._more = ""


def folds_ahead(cv: str | None, before: str = "") -> str:
    """Return the folds and their repetitions, and the options that shorten them, if any do.

    ``before`` are options that shorten something else.

    Examples
    --------
    >>> folds_ahead("5x10"), folds_ahead("groups")
    ('5 folds, 10 times (--cv and --time-limit shorten it)', 'folds by --cv groups')
    """
    from mklkit.protocols.splits.making import USUAL_CV, Folds, read_cv

    request = read_cv(cv or USUAL_CV)
    if not isinstance(request, Folds):
        return f"folds by --cv {cv}"
    if request.repeats == 1:
        return f"{request.number} folds"
    options = f"{before}--cv and --time-limit"
    return f"{request.number} folds, {request.repeats} times ({options} shorten it)"


class _Lines:
    """Now and then a line on stderr: how many parts are finished, and which is running."""

    def __init__(self) -> None:
        self._start = self._last = monotonic()

    def __call__(self, done: int, total: int, part: str = "") -> None:
        """Report, unless the last line is too recent or the work is done and has its result."""
        now = monotonic()
        if now - self._last < LINE_SECONDS or done >= total:
            return
        self._last = now
        running = f", now {part}" if part else ""
        say(f"{done} of {total} after {now - self._start:.0f} s{running}")


def show_warnings_briefly() -> None:
    """Show each Python warning once, as one line on stderr, without its place in the source.

    Even with ``python -W error`` they are not raised, since that would end the command.
    """
    warnings.filters[:] = [  # type: ignore[index]
        ("default" if action == "error" else action, *rest) for action, *rest in warnings.filters
    ]
    said: set[str] = set()

    def show_warning(message: Warning | str, *_place: Any, **_more: Any) -> None:
        text = " ".join(str(message).split())
        if text not in said:
            said.add(text)
            say(f"warning: {text}", style="yellow")

    warnings.showwarning = show_warning


class _PlainConsole(Console):
    """A console that leaves a closed pipe to the outermost layer."""

    def on_broken_pipe(self) -> None:
        """Raise the error again; Console would exit instead."""
        raise BrokenPipeError


def _console(name: Literal["stdout", "stderr"]) -> Console:
    _loading.close()  # Before the stream is looked up: rich replaces both while a spinner turns.
    file = sys.stdout if name == "stdout" else sys.stderr
    width = None if file.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return _PlainConsole(file=file, width=width, markup=False, highlight=False, emoji=False)
