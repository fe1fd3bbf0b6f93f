"""The tables of the documentation: made by ``mklkit reproduce``, between marks on their pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mklkit.comparison.writing import write_text
from mklkit.datasets.paths import refused
from mklkit.errors import DataError, listed
from mklkit_papers.entry import Reproduction
from mklkit_papers.tables import markdown

__all__ = ["marked", "without_place", "write_pages"]

NAME = r"\d{3}-[\w-]+"
OPENING = re.compile(rf"^<!-- (?P<name>{NAME}) -->\r?$", re.MULTILINE)
# What is between the marks of a table has no other table's.
MARK = re.compile(
    rf"^<!-- (?P<name>{NAME}) -->(?P<end>\r?\n)(?:(?!<!-- {NAME} -->).)*?<!-- end -->",
    re.MULTILINE | re.DOTALL,
)


def marked(folder: Path) -> dict[Path, list[str]]:
    """Return the tables for which the pages of a folder have marks.

    A table stands between a line ``<!-- NAME -->`` and a line ``<!-- end -->``.

    Raises
    ------
    DataError
        If no page has marks, one has a mark without an end, or can't be read.
    """
    pages = {}
    for page in sorted(folder.glob("*.md")):
        text = _text(page)
        places = {mark.start(): mark["name"] for mark in MARK.finditer(text)}
        for opened in OPENING.finditer(text):
            if opened.start() not in places:
                raise DataError(
                    f"{page} has '<!-- {opened['name']} -->' without '<!-- end -->' below it."
                )
        if places:
            pages[page] = list(places.values())
    if not pages:
        raise DataError(
            f"{folder} has no page with a place for a table, such as"
            " '<!-- 003-table6 -->' above '<!-- end -->'."
        )
    return pages


def without_place(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the tables for which the pages of a folder have no place.

    Raises
    ------
    DataError
        If they have a place for none of them, or pages can't be read; see :func:`marked`.
    """
    here = {name for page in marked(folder).values() for name in page}
    absent = [name for name in names if name not in here]
    if len(absent) == len(names):
        raise DataError(f"The pages of {folder} have no place for {listed(absent)}.")
    return absent


def write_pages(folder: Path, reproductions: Sequence[Reproduction]) -> list[Path]:
    """Replace tables on the pages of a folder; return the pages that were written.

    Raises
    ------
    DataError
        If a page can't be read or written; see :func:`marked`.
    """
    tables = {each.entry.name: markdown(each) for each in reproductions}
    pages = [page for page, names in marked(folder).items() if tables.keys() & set(names)]
    for page in pages:
        text = _text(page)
        write_text(page, MARK.sub(lambda mark: _replaced(mark, tables), text))
    return pages


def _text(page: Path) -> str:
    """Return a page with its ends of lines as they are."""
    try:
        return page.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(refused(page, "read", error)) from error


def _replaced(mark: re.Match[str], tables: dict[str, str]) -> str:
    name, end = mark["name"], mark["end"]
    if name not in tables:
        return mark[0]
    lines = [f"<!-- {name} -->", "", *tables[name].split("\n"), "", "<!-- end -->"]
    return end.join(lines)
