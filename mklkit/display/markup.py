"""HTML from parts, in which any text that is not known to be HTML is escaped."""

from __future__ import annotations

from html import escape

__all__ = ["EMPTY", "Html", "breakable", "element", "joined", "section", "table"]

VOID = frozenset({"meta", "line", "circle", "rect", "path", "polyline", "wbr"})
"""Elements without content."""
Attribute = str | float | None


class Html(str):
    """Text that is HTML already; only this module's functions make it from other text."""

    __slots__ = ()


EMPTY = Html("")


def element(name: str, /, *content: object, **attributes: Attribute) -> Html:
    """Return an element; what is not :class:`Html` is escaped, None is left out.

    An underscore at the end of an attribute's name is dropped, others become hyphens; an attribute
    that is None is left out.

    Examples
    --------
    >>> element("td", "a<b", class_="number", data_value=1.5)
    '<td class="number" data-value="1.5">a&lt;b</td>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{given}/>" if name != "meta" else f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(*content)}</{name}>")


def joined(*content: object) -> Html:
    """Return parts one after another, with what is not :class:`Html` escaped."""
    return Html(
        "".join(
            one if isinstance(one, Html) else _escaped(one) for one in content if one is not None
        )
    )


def breakable(name: str) -> Html:
    """Return a name that may go on in the next line after each of its underscores.

    Examples
    --------
    >>> breakable("a_b")
    'a_<wbr/>b'
    """
    first, *others = name.split("_")
    return joined(first, *(joined("_", element("wbr"), part) for part in others))


def section(level: int, title: str, *content: object, **attributes: Attribute) -> Html:
    """Return a section under a heading of the level, empty if there is no content."""
    inside = joined(*content)
    if not inside:
        return EMPTY
    whole = element("section", element(f"h{level}", title), inside, **attributes)
    return joined(Html("\n"), whole)


def table(caption: object, head: Html, rows: list[Html], class_: str | None = None) -> Html:
    """Return a table with a caption, in a box of its own that scrolls where it is too wide."""
    whole = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", Html("\n".join(rows))),
        class_=class_,
    )
    # Boxes that scroll have to be reached by the keyboard.
    return element("div", whole, class_="box", tabindex="0", role="group", aria_label="table")


def _escaped(value: object) -> str:
    """Return text that is safe in HTML, without control characters and halves of characters."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return escape(
        "".join(
            letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}"
            for letter in text
        )
    )
