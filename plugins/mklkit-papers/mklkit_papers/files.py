"""The files that a run reads and writes, including pages of the documentation.

A table stands on a page between a line ``<!-- NAME -->`` and a line ``<!-- end -->``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import attrs

from mklkit.cli.console import say
from mklkit.cli.outputs import draw
from mklkit.comparison.writing import write_text
from mklkit.datasets.paths import refused
from mklkit.errors import DataError, UnknownNameError, listed
from mklkit.persistence.atomic import check_writable
from mklkit.plotting.parts import require_matplotlib
from mklkit_papers.entries import Entry, Reproduction
from mklkit_papers.session import make_folder
from mklkit_papers.sources import FOLDER
from mklkit_papers.tables import latex, markdown, table_of

NAME = r"[a-z]+-\d{4}-[\w-]+"
OPENING = re.compile(rf"^<!-- (?P<name>{NAME}) -->\r?$", re.MULTILINE)
# The text between the marks of a table contains no other table's marks.
MARK = re.compile(
    rf"^<!-- (?P<name>{NAME}) -->(?P<end>\r?\n)(?:(?!<!-- {NAME} -->).)*?<!-- end -->",
    re.MULTILINE | re.DOTALL,
)


@attrs.frozen
class Files:
    """The paths in the options of ``mklkit reproduce``: ``latex`` a file, the others folders."""

    data: Path | None
    results: Path | None
    latex: Path | None
    plots: Path | None
    pages: Path | None

    def check(self, entries: Sequence[Entry]) -> None:
        """Raise an error for unreadable or unwritable paths before anything is computed."""
        if self.data is not None and not self.data.is_dir():
            raise DataError(f"{self.data} is not a folder; --data-dir takes one with CSV files.")
        if self.latex is not None:
            check_writable(self.latex)
            self._keep_inputs(self.latex)
        if self.plots is not None:
            require_matplotlib()
        for folder in filter(None, (self.plots, self.results)):
            if folder.is_file():
                raise DataError(f"{folder} is a file; expected the name of a folder.")
            make_folder(folder)
            if not os.access(folder, os.W_OK):
                raise DataError(f"{folder} can't be written to; choose another folder.")
        if self.plots is not None and not any(entry.draw for entry in entries):
            say(f"{self.plots} stays empty: none of these is a figure of curves")
        if self.pages is not None:
            for name in without_place(self.pages, [entry.name for entry in entries]):
                say(f"the pages of {self.pages} have no place for {name}")

    def _keep_inputs(self, tables: Path) -> None:
        """Raise an error if tables would be written over the data, the runs or the pages read."""
        named = os.environ.get(FOLDER)
        data = self.data if self.data is not None or not named else Path(named)
        folders = [each.resolve() for each in (data, self.results, self.pages) if each is not None]
        target = tables.resolve()
        inside = any(folder in target.parents for folder in folders)
        if inside and target.exists() and target.suffix != ".tex":
            raise DataError(f"{tables} is read by this command; choose another file for --latex.")

    def write(self, reproductions: Sequence[Reproduction]) -> None:
        """Write tables, pictures and pages, and report which."""
        written = []
        if self.latex is not None:
            tables = [latex(result) for result in reproductions if table_of(result).rows]
            write_text(self.latex, "\n".join(tables))
            written.append(self.latex)
        if self.plots is not None:
            written += _pictures(self.plots, reproductions)
        if self.pages is not None:
            written += write_pages(self.pages, reproductions)
        for path in written:
            say(f"wrote {path}")


def _pictures(folder: Path, reproductions: Sequence[Reproduction]) -> list[Path]:
    """Draw the figures that have numbers, and return their files."""
    written = []
    for result in reproductions:
        if result.entry.draw is not None and result.has_numbers:
            path = folder / f"{result.entry.name}.png"
            try:
                draw(path, partial(result.entry.draw, result.lines))
            except UnknownNameError as error:  # of a plugin that is not installed
                say(f"{path} is not drawn: {error}", style="yellow")
            else:
                written.append(path)
    return written


def marked(folder: Path) -> dict[Path, list[str]]:
    """Return the tables with marks on the pages of a folder; DataError if there are none."""
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
            " '<!-- price-2022-table6 -->' above '<!-- end -->'."
        )
    return pages


def without_place(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the tables without a place on the pages of a folder; DataError if none has one."""
    here = {name for page in marked(folder).values() for name in page}
    absent = [name for name in names if name not in here]
    if len(absent) == len(names):
        raise DataError(f"The pages of {folder} have no place for {listed(absent)}.")
    return absent


def write_pages(folder: Path, reproductions: Sequence[Reproduction]) -> list[Path]:
    """Replace tables on the pages of a folder; return the pages that were written."""
    tables = {result.entry.name: markdown(result) for result in reproductions}

    def replaced(mark: re.Match[str]) -> str:
        name, end = mark["name"], mark["end"]
        if name not in tables:
            return mark[0]
        lines = [f"<!-- {name} -->", "", *tables[name].split("\n"), "", "<!-- end -->"]
        return end.join(lines)

    pages = [page for page, names in marked(folder).items() if tables.keys() & set(names)]
    for page in pages:
        write_text(page, MARK.sub(replaced, _text(page)))
    return pages


def _text(page: Path) -> str:
    """Return a page with its line endings unchanged."""
    try:
        return page.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(refused(page, "read", error)) from error
