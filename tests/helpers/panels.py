"""What notebooks are shown of mklkit's results, read from their HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import attrs

VOID = {"input", "meta", "br", "wbr", "hr"}


@attrs.define
class Panel:
    """One piece of HTML: its tables as text, its facts, paragraphs, notes, bars and elements."""

    tables: list[list[list[str]]] = attrs.field(factory=list)
    facts: dict[str, str] = attrs.field(factory=dict)
    paragraphs: list[str] = attrs.field(factory=list)
    notes: list[str] = attrs.field(factory=list)
    tags: list[str] = attrs.field(factory=list)
    bars: list[str] = attrs.field(factory=list)
    addresses: list[str] = attrs.field(factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Panel] = []
        self.open: list[str] = []  # elements of the panel; scikit-learn's do not all match
        self.text = ""
        self.name = ""

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        marks = dict(given)
        if not self.open and marks.get("class") != "mklkit-shown":
            return
        if not self.open:
            self.found.append(Panel())
        if tag not in VOID:
            self.open.append(tag)
        panel = self.found[-1]
        panel.tags.append(tag)
        if tag == "rect":
            panel.bars.append(f"{float(marks['width'] or 0):g}")
        elif tag == "line":
            panel.bars.append(f"{float(marks['x1'] or 0):g} to {float(marks['x2'] or 0):g}")
        panel.addresses += [marks[key] or "" for key in ("src", "href") if key in marks]
        if tag == "table":
            panel.tables.append([])
        elif tag == "tr":
            panel.tables[-1].append([])
        if tag in ("td", "th", "p", "li", "dt", "dd"):
            self.text = ""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or tag in VOID:
            return
        assert self.open.pop() == tag, f"</{tag}> ends another element"
        panel = self.found[-1]
        if tag in ("td", "th"):
            panel.tables[-1][-1].append(self.text)
        elif tag == "p":
            panel.paragraphs.append(self.text)
        elif tag == "li":
            panel.notes.append(self.text)
        elif tag == "dt":
            self.name = self.text
        elif tag == "dd":
            panel.facts[self.name] = self.text

    def handle_data(self, data: str) -> None:
        self.text += data


def panels(html: str) -> list[Panel]:
    """Return what mklkit shows in some HTML, a panel each; fail if elements are not closed."""
    reader = _Reader()
    reader.feed(str(html))
    reader.close()
    assert not reader.open, f"not closed: {reader.open}"
    return reader.found
