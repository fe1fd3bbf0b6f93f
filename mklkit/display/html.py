"""HTML from templates that escape all text: parts for notebooks, and whole pages.

The HTML for a notebook is static: no script, nothing external, the colours of the surrounding
text. If a viewer such as GitHub removes styles and drawings, plain tables remain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from mklkit.display.table import ResultTable


@cache
def _templates() -> Environment:
    # Imported here, since a fit that shows nothing does not need it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("mklkit", "."),
        autoescape=lambda name: not str(name).endswith(".txt"),
        finalize=_finished,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finished(value: Any) -> Any:
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return "" if value is None else printable(f"{value:g}" if isinstance(value, float) else value)


def printable(text: object) -> str:
    """Return text without control characters and lone surrogates."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for letter in str(text)
    )


def rendered(template: str, **content: Any) -> str:
    """Return a template, by its path below the package, with its content, escaped if not HTML."""
    return _templates().get_template(template).render(**content).lstrip()


def _part(name: str, *arguments: object) -> Markup:
    macros = vars(_templates().get_template("display/parts.html").module)
    return macros[name](*arguments)


@cache
def _style() -> str:
    from importlib.resources import files

    return (files("mklkit.display") / "notebook.css").read_text(encoding="utf-8")


def shown(*content: object) -> str:
    """Return parts of a result as one piece of HTML, text as paragraphs, with their style."""
    # Not of markupsafe's type, which would escape other HTML added to it.
    return str(_part("shown", _style(), content))


def grid(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    words: int = 1,
    best: int | None = None,
    rest: str = "",
) -> Markup:
    """Return a table of cells that are text or HTML; the first cell of a row names it.

    The first ``words`` columns hold words, the others numbers. Row number ``best`` is marked, and
    ``rest`` in a last row tells what is left out.
    """
    return _part("grid", heads, rows, words, best, rest)


def result_grid(table: ResultTable, best: int | None = None) -> Markup:
    """Return a table of results, with row number ``best`` marked."""
    heads = [column.full_head for column in table.columns]
    return grid(heads, table.cells(), table.n_words, best)


def bar(value: float, largest: float, ends: tuple[float, float] | None = None) -> Markup | str:
    """Return a bar as long as a number's share of the largest, whatever their signs.

    A line shows the range, the ``ends``, of the number.
    """
    if math.isnan(value) or not 0 < largest < math.inf:
        return ""
    line = None
    if ends is not None and not any(map(math.isnan, ends)):
        low, high = sorted(_percent(end, largest) for end in ends)
        line = (0.0 if min(ends) < 0 < max(ends) else low), high
    return _part("bar", _percent(value, largest), line)


def _percent(value: float, largest: float) -> float:
    return round(min(100.0, 100 * abs(value) / largest), 1)


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Return names with a text each, side by side as space permits."""
    return _part("facts", list(pairs))


def notes(title: str, sentences: Sequence[str]) -> Markup:
    """Return sentences under a title that opens them; empty if there are none."""
    return _part("notes", title, sentences)


def progress_bar(done: int, total: int, text: str) -> Markup:
    """Return a bar of the parts done of all parts, with a text beside it."""
    return _part("progress", done, total, text)
