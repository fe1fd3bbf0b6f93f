"""``mklkit reproduce``: the tables and figures of the papers, run anew."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import progressing, say, show_json
from mklkit.cli.examples import epilog
from mklkit_papers.terminal import show_list, show_reproduction

if TYPE_CHECKING:
    from mklkit.errors import MKLKitError
    from mklkit_papers.entry import Entry, Reproduction
    from mklkit_papers.session import Session

__all__ = ["app"]

LIST = "list"
INTERRUPTED = 130
RUN_PANEL, RESULT_PANEL = "Runs", "Results"
WORDS = {"list": "only list them", "all": "every table and figure"}
EXAMPLES = (
    ("The tables and figures of paper 003, and their times:", "mklkit reproduce list 003"),
    ("One of paper 001, quickly, on generated data:", "mklkit reproduce 001-eq16 --quick"),
)

app = typer.Typer()


def _entry_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the papers' tables and figures, the papers, ``all`` and ``list``."""
    entries = _known_names()["entry"]
    numbers = dict.fromkeys(name.partition("-")[0] for name in entries)
    papers = {paper: f"tables and figures of paper {paper}" for paper in numbers}
    return [*entries.items(), *papers.items(), *WORDS.items()]


def _set_labels(incomplete: str) -> list[tuple[str, str]]:
    """Return the papers' data sets."""
    return [(label, "") for label in _known_names()["set"]]


def _known_names() -> dict[str, dict[str, Any]]:
    from mklkit.cli.completion.names import kept_names

    def find() -> dict[str, dict[str, Any]]:
        from mklkit_papers.listing import entries

        papers = entries()
        return {
            "entry": {entry.name: entry.title for entry in papers},
            "set": {label: "" for entry in papers for label in entry.labels()},
        }

    return kept_names("papers", find)


@app.command(epilog=epilog(*EXAMPLES))
def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            autocompletion=_entry_names,
            help="Tables and figures such as 003-table6, globs such as '003-*', a paper such as"
            " 003, or 'all'. With 'list' they are only listed.",
        ),
    ],
    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            metavar="FOLDER",
            parser=opt.file_path,
            help="The folder of the papers' data sets as CSV files; else the one that $MKLKIT_DATA"
            " names. Sets that are not there are fetched from OpenML, where it has them.",
            rich_help_panel=RUN_PANEL,
        ),
    ] = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline",
            envvar="MKLKIT_OFFLINE",
            help="Fetch nothing.",
            rich_help_panel=RUN_PANEL,
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Few repeats, without the sets that take longest.",
            rich_help_panel=RUN_PANEL,
        ),
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="So many repeats instead of the papers', or instead of those of --quick.",
            rich_help_panel=RUN_PANEL,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="LABEL",
            autocompletion=_set_labels,
            help="Only this data set, as the paper names it. Repeat for several.",
            rich_help_panel=RUN_PANEL,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            metavar="FOLDER",
            parser=opt.file_path,
            help="Write each finished run into FOLDER; the same command goes on from it.",
            rich_help_panel=RUN_PANEL,
        ),
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            "--latex",
            metavar="FILE",
            parser=opt.output_path,
            help="Write the tables for LaTeX (package booktabs).",
            rich_help_panel=RESULT_PANEL,
        ),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(
            "--plots",
            metavar="FOLDER",
            parser=opt.file_path,
            help="Draw the figures into FOLDER (needs matplotlib).",
            rich_help_panel=RESULT_PANEL,
        ),
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option(
            "--pages",
            metavar="FOLDER",
            parser=opt.file_path,
            help="Replace these tables on the Markdown pages of FOLDER.",
            rich_help_panel=RESULT_PANEL,
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Run tables and figures of the five papers anew, ours beside the published numbers.

    Data sets and plugins that are missing are named and left out. Ctrl-C shows what is done.
    """
    from mklkit.errors import DataError, MKLKitError, counted
    from mklkit_papers.listing import ALL, find_entries, with_sets

    chosen = find_entries([name for name in names if name != LIST] or [ALL])
    chosen = with_sets(chosen, sets or ())
    if LIST in names:
        show_list(chosen, as_json)
        return
    _check(chosen, data_dir, latex, plots, pages, results)
    from mklkit_papers.openml import OpenML
    from mklkit_papers.session import Session

    with progressing() as progress:
        session = Session(
            data_dir,
            quick=quick,
            repeats=repeats,
            only=sets or (),
            results=results,
            progress=progress,
            openml=None if offline else OpenML(say),
        )
        found, ended_by = _run(chosen, session)
    if session.reused:
        say(f"{counted(session.reused, 'run')} taken from {results}")
    complete = ended_by is None
    # Files come before the first word on stdout, since a reader may leave.
    try:
        _write(found, latex, plots, pages)
    except MKLKitError as error:
        ended_by = ended_by or error
    if as_json:
        reproductions = [one.as_dict() for one in found]
        show_json({"complete": complete, "reproductions": reproductions})
    else:
        for one in found:
            show_reproduction(one)
    if ended_by is None and not any(one.has_numbers for one in found):
        raise DataError("nothing could be run; what is left out, and why, is above.")
    if ended_by is not None:
        _end(ended_by, len(found), len(chosen), results)


def _run(
    chosen: list[Entry], session: Session
) -> tuple[list[Reproduction], KeyboardInterrupt | MKLKitError | None]:
    """Return the finished reproductions, and what ended the run before all were."""
    from mklkit.errors import MKLKitError

    found: list[Reproduction] = []
    try:
        for entry in chosen:
            found.append(entry.run(session))
            say(f"{entry.name}: {found[-1].seconds:.0f} s")
    except (KeyboardInterrupt, MKLKitError) as error:
        return found, error
    return found, None


def _end(
    ended_by: KeyboardInterrupt | MKLKitError, done: int, number: int, results: Path | None
) -> None:
    """Say how to go on after an interruption; raise an error."""
    if not isinstance(ended_by, KeyboardInterrupt):
        raise ended_by
    how = "with --results FOLDER the same command goes on from what is done"
    if results is not None:
        how = f"the same command goes on from {results}"
    say(f"interrupted after {done} of {number}; {how}.", style="yellow")
    raise typer.Exit(INTERRUPTED)


def _check(
    chosen: list[Entry],
    data_dir: Path | None,
    latex: Path | None,
    plots: Path | None,
    pages: Path | None,
    results: Path | None,
) -> None:
    """Refuse what can't be read or written before anything is computed."""
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable
    from mklkit_papers.sources import FOLDER

    if data_dir is not None and not data_dir.is_dir():
        raise DataError(f"{data_dir} is not a folder; --data-dir takes one with CSV files.")
    if latex is not None:
        check_writable(latex)
        named = os.environ.get(FOLDER)
        data = data_dir if data_dir is not None or not named else Path(named)
        _keep_inputs(latex, (data, results, pages))
    if plots is not None:
        from mklkit.plotting.parts import require_matplotlib

        require_matplotlib()
    for folder in (plots, results):
        if folder is not None:
            _make_folder(folder)
    if plots is not None and not any(one.draw for one in chosen):
        say(f"{plots} stays empty: none of these is a figure of curves")
    if pages is not None:
        from mklkit_papers.pages import without_place

        for name in without_place(pages, [one.name for one in chosen]):
            say(f"the pages of {pages} have no place for {name}")


def _keep_inputs(latex: Path, folders: tuple[Path | None, ...]) -> None:
    """Refuse to write tables over the data, the runs or the pages that are read."""
    from mklkit.errors import DataError

    goal = latex.resolve()
    inside = any(folder is not None and folder.resolve() in goal.parents for folder in folders)
    if inside and goal.exists() and goal.suffix != ".tex":
        raise DataError(f"{latex} is read by this command; choose another file for --latex.")


def _make_folder(folder: Path) -> None:
    from mklkit.datasets.paths import refused
    from mklkit.errors import DataError

    if folder.is_file():
        raise DataError(f"{folder} is a file; the name of a folder is expected.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(refused(folder, "written", error)) from error
    if not os.access(folder, os.W_OK):
        raise DataError(f"{folder} can't be written to; choose another folder.")


def _write(
    found: list[Reproduction], latex: Path | None, plots: Path | None, pages: Path | None
) -> None:
    """Write the finished ones into files."""
    from mklkit.cli.pictures import draw
    from mklkit.comparison.writing import write_text
    from mklkit.errors import UnknownNameError
    from mklkit_papers.pages import write_pages
    from mklkit_papers.tables import latex as latex_of
    from mklkit_papers.tables import rows_of

    written = []
    if latex is not None:
        write_text(latex, "\n".join(latex_of(one) for one in found if rows_of(one)))
        written.append(latex)
    for one in found:
        if plots is not None and one.entry.draw is not None and one.has_numbers:
            path = plots / f"{one.entry.name}.png"
            try:
                draw(path, partial(one.entry.draw, one.lines))
            except UnknownNameError as error:  # of a plugin that is not there
                say(f"{path} is not drawn: {error}", style="yellow")
            else:
                written.append(path)
    if pages is not None:
        written += write_pages(pages, found)
    for path in written:
        say(f"wrote {path}")
