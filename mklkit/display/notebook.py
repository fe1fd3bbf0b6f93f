"""What a notebook shows of a result: tables with bars, facts and notes, in its own colours.

All HTML is static: no script, nothing from elsewhere, colours of the text around it. Where styles
are left out, as GitHub does, plain tables remain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from mklkit.display.markup import EMPTY, Html, element, joined

__all__ = ["bar", "facts", "grid", "notes", "shown"]


def shown(*content: object) -> Html:
    """Return parts of a result as one piece of HTML, with the style that it needs.

    Examples
    --------
    >>> shown(element("p", "a<b")).partition("</style>")[2]
    '<p>a&lt;b</p></div>'
    """
    style = Html(f"<style>{_style()}</style>")
    return element("div", style, *content, class_="mklkit-shown")


@cache
def _style() -> str:
    return (files("mklkit.display") / "notebook.css").read_text(encoding="utf-8")


def grid(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    words: int = 1,
    best: int | None = None,
    rest: str = "",
) -> Html:
    """Return a table; the first cell of a row names it.

    Parameters
    ----------
    heads : sequence of str
        Of the columns.
    rows : iterable of sequences
        Text or HTML, a cell per column.
    words : int, default=1
        How many of the first columns hold words; the others hold numbers.
    best : int, optional
        The number of the row that is marked.
    rest : str, default=""
        What is said of rows that are left out, in a last row.
    """
    head = element("tr", *(element("th", one, scope="col", class_=_kind(place, words))
                           for place, one in enumerate(heads)))  # fmt: skip
    body = [
        element("tr", *_cells(row, words), class_="best" if place == best else None)
        for place, row in enumerate(rows)
    ]
    if rest:
        body.append(element("tr", element("td", rest, colspan=len(heads), class_="quiet")))
    return element("table", element("thead", head), element("tbody", *body))


def _cells(row: Sequence[object], words: int) -> list[Html]:
    first, *others = row
    return [
        element("th", first, scope="row"),
        *(element("td", cell, class_=_kind(at, words)) for at, cell in enumerate(others, 1)),
    ]


def _kind(place: int, words: int) -> str:
    return "words" if place < words else "number"


def bar(value: float, largest: float, ends: tuple[float, float] | None = None) -> Html:
    """Return a bar as long as a number's share of the largest, with a line from end to end.

    Parameters
    ----------
    value : float
    largest : float
        The number of the longest bar; signs do not count.
    ends : (float, float), optional
        Between which the number varies, which a line shows.

    Examples
    --------
    >>> bar(0.5, 2.0)
    '<span class="mklkit-bar" aria-hidden="true"><span style="width:25.0%"></span></span>'
    """
    if math.isnan(value) or not 0 < largest < math.inf:
        return EMPTY
    line = None
    if ends is not None and not any(map(math.isnan, ends)):
        low, high = sorted(_share(end, largest) for end in ends)
        low = 0.0 if min(ends) < 0 < max(ends) else low
        line = element("i", style=f"left:{low:.1f}%;width:{high - low:.1f}%")
    length = element("span", style=f"width:{_share(value, largest):.1f}%")
    return element("span", length, line, class_="mklkit-bar", aria_hidden="true")


def _share(value: float, largest: float) -> float:
    return min(100.0, 100 * abs(value) / largest)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return names with a text each, side by side as far as there is room."""
    found = [element("div", element("dt", name), element("dd", text)) for name, text in pairs]
    return element("dl", *found) if found else EMPTY


def notes(title: str, sentences: Sequence[str]) -> Html:
    """Return sentences under a title that opens them, nothing where there are none."""
    if not sentences:
        return EMPTY
    listed = element("ul", *(element("li", one) for one in sentences))
    return joined(element("details", element("summary", title), listed))
