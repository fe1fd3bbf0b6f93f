"""``mklkit compare``: several methods on the same splits, with tests of their differences."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import progressing, say, show, show_json, working

if TYPE_CHECKING:
    from mklkit.comparison import Comparison

__all__ = ["compare"]

SPLIT_PANEL = "Splits"
RESULT_PANEL = "Results"
INTERRUPTED = 130


def compare(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            show_default="breast_cancer, built into scikit-learn",
            help="Built-in data sets (breast_cancer, iris, wine, digits, digits_sources) or files,"
            " as for 'fit'.",
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
            show_default="each combiner's own",
            help='A learner: "svm(C=10)", mhks. Of several, each goes with each combiner.',
            rich_help_panel=opt.MODEL_PANEL,
        ),
    ] = None,
    multiclass: opt.MulticlassOption = opt.Multiclass.ovo,
    bandwidths: opt.BandwidthsOption = opt.Bandwidths.per_problem,
    tune: Annotated[
        str | None,
        typer.Option(
            "--tune",
            metavar="fast|thorough|N",
            show_default="parameters as given",
            help="Search the parameters of each method inside the training rows of each split;"
            " N is a number of points to try.",
            rich_help_panel=opt.MODEL_PANEL,
        ),
    ] = None,
    cv: Annotated[
        str,
        typer.Option(
            "--cv",
            metavar="FOLDSxTIMES",
            help="Stratified folds: 5x4 is five folds, four times.",
            rich_help_panel=SPLIT_PANEL,
        ),
    ] = "5x2",
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
        float,
        typer.Option(
            min=0.01,
            max=0.99,
            help="Share of training rows of --mccv.",
            rich_help_panel=SPLIT_PANEL,
        ),
    ] = 0.5,
    split_column: Annotated[
        str | None,
        typer.Option(
            "--split-column",
            metavar="COLUMN",
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
    from mklkit.comparison import compare as run

    sources = data or [opt.DEFAULT_DATA]
    _check_outputs(sources, results, reports or [], output)
    asked: list[Any] | None = [*(combiners or []), *(["*"] if every else [])]
    with progressing() as progress:
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
        found.notes.insert(0, f"no DATA was given: the built-in {opt.DEFAULT_DATA} data are used")
    if found.reused:
        say(f"{found.reused} of {len(found.cells)} runs were in {results} already")
    # Files come before the first word on stdout, since a reader may leave.
    for report in reports or []:
        found.report(report, command=shlex.join(["mklkit", *sys.argv[1:]]))
    if output is not None and found.complete:
        _save(output, found)
    _show(found, as_json)
    for path in [*(reports or []), *([output] if output and found.complete else [])]:
        say(f"wrote {path}")
    if not found.complete:
        _say_how_to_go_on(found, results)
        raise typer.Exit(INTERRUPTED)


def _check_outputs(
    sources: list[str], results: Path | None, reports: list[Path], output: Path | None
) -> None:
    """Refuse files that can't be written before anything is computed."""
    from itertools import combinations

    from mklkit.comparison.writing import check_report
    from mklkit.datasets.paths import same_file, user_path
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable

    for report in reports:
        check_report(report)
    given = [path for path in (results, *reports, output) if path is not None]
    for path in given:
        check_writable(path)
        for source in sources:
            if same_file(path, user_path(source)):
                raise DataError(f"{path} holds the data; choose another name for the file.")
    for first, second in combinations(given, 2):
        if same_file(first, second):
            alike = f"{first} is" if first == second else f"{first} and {second} are the same file,"
            raise DataError(f"{alike} given for two files; choose another name for one of them.")
    if output is not None and len(sources) > 1:
        raise DataError("With several data sets there is no single model to save by --output.")


def _save(output: Path, found: Comparison) -> None:
    from mklkit.persistence import save_model

    data = found.data[0]
    with working("fitting the best method on all rows"):
        facts = {"data": found.plan["data"][0], "seed": found.plan["seed"]}
        compared = {"method": found.best_method.name, "verdict": found.verdict}
        save_model(found.best_estimator_, output, {**facts, "comparison": compared})
    say(f"{found.best_method.name} was fitted on all {len(data.target)} rows")


def _show(found: Comparison, as_json: bool) -> None:
    from mklkit.cli.comparison_table import comparison_grid, failure_lines, ranking_lines
    from mklkit.cli.report import facts_grid

    if as_json:
        show_json(found.as_dict())
        return
    splits = [one["description"] for one in found.plan["splits"]]
    lines: list[tuple[str, str | list[str]]] = [
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


def _say_how_to_go_on(found: Comparison, results: Path | None) -> None:
    done, total = (
        len(found.cells),
        len(found.methods) * sum(one["number"] for one in found.plan["splits"]),
    )
    how = f"the same command goes on from {results}"
    if results is None:
        how = "with --results FILE the same command goes on from what is done"
    say(f"interrupted after {done} of {total} runs; {how}.", style="yellow")
