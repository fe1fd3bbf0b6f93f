"""The files that a run reads and writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import attrs

from mklkit.cli.console import say
from mklkit.cli.outputs import draw
from mklkit.comparison.writing import write_text
from mklkit.datasets.paths import refused
from mklkit.errors import DataError, UnknownNameError
from mklkit.persistence.atomic import check_writable
from mklkit.plotting.parts import require_matplotlib
from mklkit_papers.entry import Entry, Reproduction
from mklkit_papers.pages import without_place, write_pages
from mklkit_papers.sources import FOLDER
from mklkit_papers.tables import latex, rows_of

__all__ = ["Files"]


@attrs.frozen
class Files:
    """What the options of ``mklkit reproduce`` name; None where one is not given.

    Attributes
    ----------
    data, results : Path or None
        Folders of data sets and of finished runs.
    latex : Path or None
        A file for tables.
    plots, pages : Path or None
        Folders of pictures and of Markdown pages.
    """

    data: Path | None
    results: Path | None
    latex: Path | None
    plots: Path | None
    pages: Path | None

    def check(self, entries: Sequence[Entry]) -> None:
        """Refuse what can't be read or written before anything is computed."""
        if self.data is not None and not self.data.is_dir():
            raise DataError(f"{self.data} is not a folder; --data-dir takes one with CSV files.")
        if self.latex is not None:
            check_writable(self.latex)
            self._keep_inputs(self.latex)
        if self.plots is not None:
            require_matplotlib()
        for folder in (self.plots, self.results):
            if folder is not None:
                _make_folder(folder)
        if self.plots is not None and not any(entry.draw for entry in entries):
            say(f"{self.plots} stays empty: none of these is a figure of curves")
        if self.pages is not None:
            for name in without_place(self.pages, [entry.name for entry in entries]):
                say(f"the pages of {self.pages} have no place for {name}")

    def _keep_inputs(self, tables: Path) -> None:
        """Refuse to write tables over the data, the runs or the pages that are read."""
        named = os.environ.get(FOLDER)
        data = self.data if self.data is not None or not named else Path(named)
        target = tables.resolve()
        folders = [each.resolve() for each in (data, self.results, self.pages) if each is not None]
        inside = any(folder in target.parents for folder in folders)
        if inside and target.exists() and target.suffix != ".tex":
            raise DataError(f"{tables} is read by this command; choose another file for --latex.")

    def write(self, reproductions: Sequence[Reproduction]) -> None:
        """Write tables, pictures and pages, and say which."""
        written = []
        if self.latex is not None:
            tables = [latex(each) for each in reproductions if rows_of(each)]
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
    for each in reproductions:
        if each.entry.draw is not None and each.has_numbers:
            path = folder / f"{each.entry.name}.png"
            try:
                draw(path, partial(each.entry.draw, each.lines))
            except UnknownNameError as error:  # of a plugin that is not there
                say(f"{path} is not drawn: {error}", style="yellow")
            else:
                written.append(path)
    return written


def _make_folder(folder: Path) -> None:
    if folder.is_file():
        raise DataError(f"{folder} is a file; the name of a folder is expected.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(refused(folder, "written", error)) from error
    if not os.access(folder, os.W_OK):
        raise DataError(f"{folder} can't be written to; choose another folder.")
