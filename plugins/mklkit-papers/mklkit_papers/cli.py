"""``mklkit reproduce``: the tables and figures of the papers, reproduced."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import counting, say, show_json
from mklkit.cli.examples import epilog

if TYPE_CHECKING:
    from mklkit.errors import MKLKitError
    from mklkit_papers.entries import Entry, Reproduction
    from mklkit_papers.session import Session

LIST = "list"
INTERRUPTED = 130
RUN_PANEL, RESULT_PANEL = "Runs", "Results"
WORDS = {"list": "only list them", "all": "every table and figure"}
EXAMPLES = (
    ("The tables and figures of Price et al. 2022:", "mklkit reproduce list price-2022"),
    ("One of Mu and Zhou 2011, on generated data:", "mklkit reproduce mu-2011-eq16 --quick"),
)

app = typer.Typer()
run_option = partial(typer.Option, rich_help_panel=RUN_PANEL)


def _entry_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the papers' tables and figures, the papers, ``all`` and ``list``."""
    known = _known_names()
    papers = {paper: f"tables and figures of {cited}" for paper, cited in known["paper"].items()}
    return [*known["entry"].items(), *papers.items(), *WORDS.items()]


def _set_labels(incomplete: str) -> list[tuple[str, str]]:
    """Return the papers' data sets."""
    return [(label, "") for label in _known_names()["set"]]


def _known_names() -> dict[str, dict[str, Any]]:
    from mklkit.cli.completion.names import kept_names

    def find() -> dict[str, dict[str, Any]]:
        from mklkit_papers.entries import PAPERS, entries

        papers = entries()
        return {
            "entry": {entry.name: entry.title for entry in papers},
            "paper": PAPERS,
            "set": {label: "" for entry in papers for label in entry.labels()},
        }

    return kept_names("papers", find)


def folder_option(name: str, panel: str, words: str) -> Any:
    """Return an option that names a folder."""
    return typer.Option(
        name, metavar="FOLDER", parser=opt.file_path, help=words, rich_help_panel=panel
    )


@app.command(epilog=epilog(*EXAMPLES))
def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            autocompletion=_entry_names,
            help="Tables and figures such as price-2022-table6, globs such as 'price-2022-*', a"
            " paper such as price-2022, or 'all'. With 'list' they are only listed.",
        ),
    ],
    data_dir: Annotated[
        Path | None,
        folder_option(
            "--data-dir",
            RUN_PANEL,
            "The folder of the papers' data sets as CSV files; by default $MKLKIT_DATA. Missing"
            " sets are fetched from OpenML if it has them.",
        ),
    ] = None,
    offline: Annotated[
        bool,
        run_option("--offline", envvar="MKLKIT_OFFLINE", help="Fetch nothing."),
    ] = False,
    quick: Annotated[
        bool,
        run_option("--quick", help="Few repeats, without the slowest sets."),
    ] = False,
    repeats: Annotated[
        int | None,
        run_option(
            min=1,
            max=10_000,
            help="The number of repeats, instead of the papers' or those of --quick.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        run_option(
            "--set",
            metavar="LABEL",
            autocompletion=_set_labels,
            help="Only this data set, as the paper names it. May be repeated.",
        ),
    ] = None,
    results: Annotated[
        Path | None,
        folder_option(
            "--results",
            RUN_PANEL,
            "Write each finished run into FOLDER; the same command resumes from it.",
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
        folder_option("--plots", RESULT_PANEL, "Draw the figures into FOLDER (needs matplotlib)."),
    ] = None,
    pages: Annotated[
        Path | None,
        folder_option(
            "--pages", RESULT_PANEL, "Replace these tables on the Markdown pages of FOLDER."
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Reproduce tables and figures of the five papers, our numbers beside the published ones.

    Missing data sets and plugins are named and skipped. Ctrl-C shows the results so far.
    """
    from mklkit.errors import DataError, MKLKitError, counted
    from mklkit_papers.entries import ALL, find_entries, with_sets
    from mklkit_papers.files import Files
    from mklkit_papers.tables import show_list, show_reproduction

    entries = find_entries([name for name in names if name != LIST] or [ALL])
    entries = with_sets(entries, sets or ())
    if LIST in names:
        if as_json:
            show_json([entry.metadata() for entry in entries])
        else:
            show_list(entries)
        return
    files = Files(data_dir, results, latex, plots, pages)
    files.check(entries)
    from mklkit_papers.session import Session
    from mklkit_papers.sources import OpenML

    with counting("starting") as progress:
        session = Session(
            data_dir,
            quick=quick,
            repeats=repeats,
            only=sets or (),
            results=results,
            progress=progress,
            openml=None if offline else OpenML(say),
        )
        reproductions, ended_by = _run(entries, session)
    if session.reused:
        say(f"{counted(session.reused, 'run')} taken from {results}")
    complete = ended_by is None
    # Files are written before stdout, whose reader may close the pipe.
    try:
        files.write(reproductions)
    except MKLKitError as error:
        ended_by = ended_by or error
    if as_json:
        metadata = [reproduction.as_dict() for reproduction in reproductions]
        show_json({"complete": complete, "reproductions": metadata})
    else:
        for reproduction in reproductions:
            show_reproduction(reproduction)
    if ended_by is None and not any(each.has_numbers for each in reproductions):
        raise DataError("nothing could be run; the reasons are above.")
    if isinstance(ended_by, MKLKitError):
        raise ended_by
    if ended_by is not None:
        how = "with --results FOLDER the same command resumes where it stopped"
        if results is not None:
            how = f"the same command resumes from {results}"
        say(f"interrupted after {len(reproductions)} of {len(entries)}; {how}.", style="yellow")
        raise typer.Exit(INTERRUPTED)


def _run(
    entries: list[Entry], session: Session
) -> tuple[list[Reproduction], KeyboardInterrupt | MKLKitError | None]:
    """Return the finished reproductions, and what interrupted the run, if anything."""
    from mklkit.errors import MKLKitError

    reproductions: list[Reproduction] = []
    try:
        for entry in entries:
            reproductions.append(entry.run(session))
            say(f"{entry.name}: {reproductions[-1].seconds:.0f} s")
    except (KeyboardInterrupt, MKLKitError) as error:
        return reproductions, error
    return reproductions, None
