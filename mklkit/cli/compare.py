"""``mklkit compare``: several methods on the same splits, with tests of their differences."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.comparison_files import check_outputs, save_best
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import progressing, say, show, show_json
from mklkit.datasets.builtin import DEFAULT_NAME

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["compare"]

SPLIT_PANEL = "Splits"
RESULT_PANEL = "Results"
INTERRUPTED = 130


def compare(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            autocompletion=complete.data_sets,
            show_default="breast_cancer, built into scikit-learn",
            help=f"Built-in data sets ({opt.BUILT_IN}) or files, as for 'fit'.",
        ),
    ] = None,
    *,
    target: opt.Target = None,
    drop: opt.Drop = None,
    scale: opt.ScaleOption = None,
    combiners: Annotated[
        list[str] | None,
        typer.Option(
            "--combiner",
            "-c",
            metavar="SPEC",
            autocompletion=complete.combiners,
            show_default="centered-alignment, dimkl*, ifsl",
            help="A combiner, or a glob such as 'dimkl*'. Repeat for several.",
            rich_help_panel=opt.MODEL_PANEL,
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="All combiners that can work with the kernels.",
            rich_help_panel=opt.MODEL_PANEL,
        ),
    ] = False,
    presets: Annotated[
        list[str] | None,
        typer.Option(
            "--preset",
            "-p",
            metavar="NAME",
            autocompletion=complete.presets,
            help="A preset, or a glob. Repeat for several.",
            rich_help_panel=opt.MODEL_PANEL,
        ),
    ] = None,
    kernels: opt.Kernels = None,
    feature_map: opt.FeatureMap = None,
    learners: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            "-l",
            metavar="SPEC",
            autocompletion=complete.learners,
            show_default="each combiner's own",
            help='A learner: "svm(C=10)", mhks. Of several, each goes with each combiner.',
            rich_help_panel=opt.MODEL_PANEL,
        ),
    ] = None,
    multiclass: opt.MulticlassOption = opt.Multiclass.ovo,
    bandwidths: opt.BandwidthsOption = opt.Bandwidths.per_problem,
    tune: opt.Tune = None,
    cv: Annotated[
        str | None,
        typer.Option(
            "--cv",
            metavar="FOLDSxTIMES",
            show_default="5x2",
            help="Stratified folds: 5x4 is five folds, four times.",
            rich_help_panel=SPLIT_PANEL,
        ),
    ] = None,
    mccv: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="N random splits (Monte Carlo) instead of folds.",
            rich_help_panel=SPLIT_PANEL,
        ),
    ] = None,
    train: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=0.99,
            show_default="0.5",
            help="Share of training rows of --mccv.",
            rich_help_panel=SPLIT_PANEL,
        ),
    ] = None,
    split_column: Annotated[
        str | None,
        typer.Option(
            "--split-column",
            metavar="COLUMN",
            autocompletion=complete.feature_columns,
            help="A column whose values 'train' and 'test' give the one split to use.",
            rich_help_panel=SPLIT_PANEL,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            metavar="FILE",
            parser=opt.output_path,
            help="Write each finished run to FILE (JSON lines); the same command goes on from it.",
            rich_help_panel=RESULT_PANEL,
        ),
    ] = None,
    reports: Annotated[
        list[Path] | None,
        typer.Option(
            "--report",
            metavar="FILE",
            parser=opt.output_path,
            help="Write a report; the ending decides: .html (all on one page), .csv, .json or"
            " .tex. Repeat for several.",
            rich_help_panel=RESULT_PANEL,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            parser=opt.output_path,
            help="Fit the best multiple-kernel method on all rows and save it.",
            rich_help_panel=RESULT_PANEL,
        ),
    ] = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    max_memory: opt.MaxMemory = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare methods on the same splits: accuracy, AUC, time, and tests of the differences.

    Always among them: each kernel alone, the best single kernel, the even sum, and scikit-learn's
    logistic regression, random forest and gradient boosting. Ctrl-C shows what is done.
    """
    sources = data or [DEFAULT_NAME]
    check_outputs(sources, results, reports or [], output)
    asked: list[Any] | None = [*(combiners or []), *(["*"] if every else [])]
    with progressing() as progress, _saying_that_nothing_is_done():
        from mklkit.comparison.comparing import compare as run

        found = run(
            sources,
            methods=asked or None,
            presets=presets or (),
            kernels=kernels or None,
            learners=learners or (),
            feature_map=feature_map,
            scale=scale,
            multiclass=multiclass.value,
            bandwidths=bandwidths.value,
            cv=cv,
            mccv=mccv,
            train=train,
            split_column=split_column,
            tune=int(tune) if tune is not None and tune.isdecimal() else tune,
            seed=seed,
            results=results,
            target=target,
            drop=drop or (),
            n_jobs=jobs,
            max_memory=max_memory,
            progress=progress,
        )
    if data is None:
        found.notes.insert(0, f"no DATA was given: the built-in {DEFAULT_NAME} data are used")
    if found.reused:
        say(f"{found.reused} of {len(found.cells)} runs were in {results} already")
    # Files come before the first word on stdout, since a reader may leave.
    for report in reports or []:
        found.report(report, command=shlex.join(["mklkit", *sys.argv[1:]]))
    if output is not None and found.complete:
        save_best(output, found)
    not_written = output if output is not None and not found.complete else None
    _show(found, as_json, not_written)
    for path in [*(reports or []), *([output] if output and found.complete else [])]:
        say(f"wrote {path}")
    if not found.complete:
        _say_how_to_go_on(found, results, not_written)
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _saying_that_nothing_is_done() -> Iterator[None]:
    """Say that Ctrl-C came before there was anything to show."""
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted before the first run was finished: there is nothing to show.")
        raise typer.Exit(INTERRUPTED) from None


def _show(found: Comparison, as_json: bool, not_written: Path | None) -> None:
    from mklkit.cli.comparison_table import comparison_grid, failure_lines, ranking_lines
    from mklkit.cli.report import facts_grid

    if as_json:
        show_json(found.as_dict())
        return
    splits = [one["description"] for one in found.plan["splits"]]
    lines: list[tuple[str, str | list[str]]] = []
    if not found.complete:
        lost = [] if not_written is None else [f"{not_written} was not written"]
        lines.append(("interrupted", ["after {} of {} runs".format(*_runs(found)), *lost]))
    lines += [
        ("data", [line for one in found.data for line in (one.summary, *one.notes)]),
        ("splits", [*dict.fromkeys(splits), *found.notes]),
    ]
    if found.plan["tune"]:
        lines.append(("tuned", f"{found.plan['tune']}, inside the training rows of each split"))
    show(facts_grid(lines))
    names = list(found.results["data"].unique())
    for name in names:
        title = name if len(names) > 1 else None
        table = found.table(name)
        show(comparison_grid(table, title))
        show(*failure_lines(table))
    if len(names) > 1:
        table = found.table()
        show(comparison_grid(table, "over data sets"), *ranking_lines(found.ranking, len(names)))
    show(found.verdict)


def _runs(found: Comparison) -> tuple[int, int]:
    """Return the numbers of finished runs and of all."""
    splits = sum(one["number"] for one in found.plan["splits"])
    return len(found.cells), len(found.methods) * splits


def _say_how_to_go_on(found: Comparison, results: Path | None, not_written: Path | None) -> None:
    how = f"the same command goes on from {results}"
    if results is None:
        how = "with --results FILE the same command goes on from what is done"
    lost = "" if not_written is None else f" {not_written} was not written."
    done, total = _runs(found)
    say(f"interrupted after {done} of {total} runs; {how}.{lost}", style="yellow")
