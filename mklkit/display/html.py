"""HTML from templates that escape all text: parts for notebooks, and whole pages.

The HTML for a notebook is static: no script, nothing external, the colours of the surrounding
text. If a viewer such as GitHub removes styles and drawings, plain tables remain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mklkit.display.table import Bar, Column, ResultTable, Row, is_known

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


MARKED = "marked"
"""The style of a cell in bold."""


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


def html_table(
    table: ResultTable,
    style: str = "",
    row_style: Callable[[Row], str] | None = None,
    sorted_by: str | None = None,
    details: bool = True,
) -> Markup:
    """Return a table of results; the first cell of a row names it.

    ``style`` has the classes of the table, ``row_style`` returns those of a row. If ``sorted_by``
    is the key of the column by which the rows are sorted, or empty, a page can sort them. Without
    ``details`` cells have no smaller lines.
    """
    sortable = sorted_by is not None
    heads = [
        {
            "text": column.head,
            "unit": column.unit,
            "kind": _kind(column),
            "first": column.order if sortable and not isinstance(column, Bar) else "",
            "is_sorted": column.key == sorted_by,
        }
        for column in table.columns
    ]
    rows = [
        {
            "style": row_style(row) if row_style else "",
            "parts": [_cell(table, column, row, sortable, details) for column in table.columns],
        }
        for row in table.rows
    ]
    return _part("table", table, heads, rows, style, row_style is not None)


def _kind(column: Column) -> str:
    return "words" if not (column.is_number or isinstance(column, Bar)) else "number"


def _cell(
    table: ResultTable, column: Column, row: Row, sortable: bool, details: bool
) -> dict[str, Any]:
    """Return what the template shows of a cell."""
    if isinstance(column, Bar):
        ends = None if column.ends is None else tuple(row[end] for end in column.ends)
        drawn = bar(row[column.key], column.scale(table.rows), ends)
        return {"text": drawn, "kind": "number", "value": None, "best": False, "small": ""}
    value = row.get(column.key) if sortable else None
    if column.is_number and value is not None:
        value = float(f"{value:.6g}") if is_known(value) else None
    style = column.style(row) if column.style else ""
    if table.is_best(column, row):
        style = MARKED
    styles = [_kind(column), style]
    return {
        "text": column.text(row),
        "kind": " ".join(filter(None, styles)),
        "value": value,
        "best": style == MARKED,
        "small": column.detail(row) if details and column.detail else "",
    }


def bar(value: float, largest: float, ends: Sequence[float] | None = None) -> Markup | str:
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
