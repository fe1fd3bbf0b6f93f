"""``mklkit compare``: several methods on the same splits, with tests of their differences."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.comparison_tables import comparison_grid, over_data_sets_grid, questions_grid
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import Told, counting, folds_ahead, say, show, show_json, working
from mklkit.cli.examples import DEFAULT_METHODS
from mklkit.cli.outputs import check_outputs
from mklkit.cli.taking_options import takes_model_settings
from mklkit.datasets.builtin import DEFAULT_NAME
from mklkit.display.numbers import rank, significant
from mklkit.display.terminal import Fact, facts_grid
from mklkit.errors import DataError
from mklkit.estimators.model_settings import LEARNERS, OF_METHODS, ModelSettings

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

split_option = partial(typer.Option, rich_help_panel="Splits")
result_option = partial(opt.output_option, rich_help_panel="Results")
INTERRUPTED = 130


@takes_model_settings(but=OF_METHODS)
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
    source: opt.Sources = None,
    by: opt.By = None,
    target: opt.Target = None,
    task: opt.Task = "auto",
    drop: opt.Drop = None,
    weights: opt.Weights = None,
    combiners: Annotated[
        list[str] | None,
        opt.model_option(
            "--combiner",
            "-c",
            metavar="SPEC",
            autocompletion=complete.combiners,
            show_default=DEFAULT_METHODS,
            help="A combiner, or a glob such as 'dimkl*'. May be repeated.",
        ),
    ] = None,
    every: Annotated[
        bool, opt.model_option("--all", help="All combiners that work with the kernels.")
    ] = False,
    presets: Annotated[
        list[str] | None,
        opt.model_option(
            "--preset",
            "-p",
            metavar="NAME",
            autocompletion=complete.presets,
            help="A preset, or a glob. May be repeated.",
        ),
    ] = None,
    learners: Annotated[
        list[str] | None,
        opt.model_option(
            "--learner",
            "-l",
            metavar="SPEC",
            autocompletion=complete.learners,
            show_default="each combiner's own",
            help=f"A learner: {LEARNERS}. If repeated, each runs with every combiner and kernel.",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        opt.model_option(
            metavar="KERNEL",
            help="A kernel to compare but not to combine, such as 'all:rbf'.",
        ),
    ] = None,
    baselines: Annotated[
        list[str] | None,
        opt.model_option(
            metavar="none|NAME",
            show_default="all for the task",
            help="A standard scikit-learn method to compare with, such as 'random forest', or"
            " none. May be repeated. By default, a method that takes over a minute, and most of"
            " the time of the first split, is skipped on the other splits.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        opt.model_option(
            "--no",
            metavar="METHOD",
            help="A method to leave out, such as best-single or 'random forest'; alone: all single"
            " kernels. Planned questions that need it are not asked. May be repeated.",
        ),
    ] = None,
    settings: ModelSettings,
    score: opt.Score = None,
    cv: Annotated[
        str | None,
        split_option(
            metavar="FOLDSxTIMES",
            show_default="5x10",
            help=f"Folds: {opt.CV_HELP}",
        ),
    ] = None,
    mccv: Annotated[
        int | None,
        split_option(min=1, metavar="N", help="N random splits (Monte Carlo) instead of folds."),
    ] = None,
    train: Annotated[
        float | None,
        split_option(
            min=0.01, max=0.99, show_default="0.5", help="Share of training samples of --mccv."
        ),
    ] = None,
    split_column: opt.SplitColumn = None,
    groups: opt.Groups = None,
    results: Annotated[
        Path | None,
        result_option(
            help="Write each finished run to FILE (JSON lines); the same command resumes from it.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Results",
            metavar="METHOD",
            help="Test all methods against this one instead of the best.",
        ),
    ] = None,
    margin: opt.Margin = None,
    seeds: Annotated[
        int,
        typer.Option(
            rich_help_panel="Results",
            min=1,
            metavar="N",
            help="Repeat the whole comparison with N seeds, and tell in how many of them each"
            " verdict is the same.",
        ),
    ] = 1,
    permutations: Annotated[
        int,
        typer.Option(
            rich_help_panel="Results",
            min=0,
            metavar="N",
            help="Test whether the methods predict at all: permute the labels N times, such as 200,"
            " and run one repetition of the folds for each. For fewer than 100 samples.",
        ),
    ] = 0,
    time_limit: opt.TimeLimit = None,
    reports: Annotated[
        list[Path] | None,
        result_option(
            "--report",
            help="Write a report; its extension sets the format: .html (all on one page), .csv,"
            " .json or .tex. May be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        result_option(
            "--output",
            "-o",
            help="Fit the best multiple-kernel method on all samples and save it.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare methods on the same splits: their scores, time, and tests of the differences.

    They always include each kernel alone, the best single kernel and uniform weights, and, unless
    --baselines says otherwise, scikit-learn's linear model, random forest and gradient boosting.
    Ctrl-C shows the results so far.
    """
    sources: list[Any] = [*(data or [DEFAULT_NAME])]
    if source or by:
        if data is not None and len(data) > 1:
            raise DataError("The files of --source belong to one DATA; there are several.")
        sources = [opt.study_files(data[0] if data else None, source, by)]
    written = list(reports or [])
    _check_files(sources, results, written, output)
    methods = [*(combiners or []), *(["*"] if every else [])]
    try:
        with counting("starting", lines=True) as tell:
            from mklkit.comparison.comparing import compare as run
            from mklkit.evaluation.equivalence import MARGIN

            progress = Told(tell, _splits(cv, mccv, split_column))
            comparison = run(
                sources,
                methods=methods or None,
                presets=presets or (),
                learners=learners or (),
                also=also or (),
                reference=reference,
                **attrs.asdict(settings, filter=lambda field, _: field.name not in OF_METHODS),
                cv=cv,
                mccv=mccv,
                train=train,
                split_column=split_column,
                baselines=baselines or None,
                without=without or (),
                task=task,
                score=score,
                groups=groups,
                results=results,
                target=target or None,
                drop=drop or (),
                weights=weights,
                margin=MARGIN if margin is None else margin,
                seeds=seeds,
                permutations=permutations,
                time_limit=time_limit,
                progress=progress,
            )
    except KeyboardInterrupt:
        say("interrupted before the first run was finished: there is nothing to show.")
        raise typer.Exit(INTERRUPTED) from None
    if data is None:
        comparison.notes.insert(0, f"no DATA was given: the built-in {DEFAULT_NAME} data are used")
    if comparison.reused:
        say(f"{comparison.reused} of {comparison.runs[0]} runs were in {results} already")
    # Files are written before stdout, whose reader may close the pipe.
    for report in written:
        comparison.report(report, command=shlex.join(["mklkit", *sys.argv[1:]]))
    if output is not None and comparison.complete:
        _save_best(output, comparison)
        written.append(output)
    if as_json:
        show_json(comparison.as_dict())
    else:
        _report(comparison, output)
    for path in written:
        say(f"wrote {path}")
    if not comparison.complete:
        resumes = "with --results FILE the same command resumes where it stopped"
        goes_on = resumes if results is None else f"the same command resumes from {results}"
        ended = "the time limit was reached" if comparison.by_time else "interrupted"
        say("; ".join([ended, *_lost(comparison, output), goes_on]), style="yellow")
        if not comparison.by_time:
            raise typer.Exit(INTERRUPTED)


def _splits(cv: str | None, mccv: int | None, split_column: str | None) -> str:
    """Return how samples are split, and the options that shorten the comparison."""
    if split_column is not None:
        return f"by column {split_column} (--no shortens it)"
    if mccv is not None:
        return "at random (--mccv, --no and --time-limit shorten it)"
    return folds_ahead(cv, "--no, ")


def _check_files(
    sources: list[str], results: Path | None, reports: list[Path], output: Path | None
) -> None:
    """Raise an error for files that can't be written before anything is computed."""
    from mklkit.comparison.writing import check_report

    for report in reports:
        check_report(report)
    check_outputs([results, *reports, output], sources)
    if output is not None and len(sources) > 1:
        raise DataError("With several data sets there is no single model to save by --output.")


def _save_best(output: Path, comparison: Comparison) -> None:
    """Save the best method, fitted on all samples, with its record."""
    from mklkit.comparison.best_method import fitted_best
    from mklkit.persistence import save_model

    with working("fitting the best method on all samples"):
        model, record = fitted_best(comparison)
        save_model(model, output, record)
    rows = len(comparison.data[0].target)
    say(f"{comparison.best_method.name} was fitted on all {rows} samples")


def _lost(comparison: Comparison, output: Path | None) -> list[str]:
    """Return how far an interrupted comparison got, and which file was not written."""
    done, total = comparison.runs
    unwritten = [] if output is None else [f"{output} was not written"]
    return [f"after {done} of {total} runs", *unwritten]


def _report(comparison: Comparison, output: Path | None) -> None:
    from mklkit.comparison.result_tables import shortfall

    plan, data = comparison.plan, comparison.data
    first: list[Fact] = [("verdict", comparison.verdict.splitlines())]
    if comparison.seeds_agree:
        first.append(("seeds", comparison.seeds_agree))
    if not comparison.complete:
        ended = "stopped" if comparison.by_time else "interrupted"
        first.insert(0, (ended, _lost(comparison, output)))
    show(facts_grid(first))
    names = list(comparison.results["data"].unique())
    how = comparison.task, plan["score"], plan["reference"]
    for name in names:
        table = comparison.table(name)
        test = comparison.test_of(name)
        show(comparison_grid(table, *how, test, name if len(names) > 1 else None))
        failed = table[table["failures"] > 0]
        for row in failed.to_dict("records"):
            show(f"{row['method']} {shortfall(row)}")
    if len(names) > 1:
        over = comparison_grid(comparison.table(), *how, test, "over data sets")
        show(over, *_over_data_sets(comparison))
    elif len(comparison.questions):
        show(questions_grid(comparison.questions, comparison.score, test))
    splits = dict.fromkeys(part["description"] for part in plan["splits"])
    lines: list[Fact] = [
        ("data", [line for source in data for line in (source.summary, *source.notes)]),
        ("splits", [*splits, *comparison.notes]),
        ("how", comparison.how),
    ]
    if plan["score"] not in ("accuracy", "r2"):
        lines.append(("score", plan["score"]))
    if plan["tune"]:
        lines.append(("tuned", f"{plan['tune']}, inside the training samples of each split"))
    show("", facts_grid(lines))


def _over_data_sets(comparison: Comparison) -> list[Any]:
    """Return the tests over data sets, and a line on those of ranks, which a diagram needs."""
    from mklkit.evaluation.over_data_sets import FEW_DATASETS

    ranking = comparison.ranking
    if "friedman" not in ranking or len(comparison.compared_data) < FEW_DATASETS:
        return []
    p_value = significant(ranking["friedman"]["p_value"], 2)
    tests = comparison.questions_over_data_sets
    grids = [over_data_sets_grid(tests, comparison.score)] if len(tests) else []
    return [
        *grids,
        f"for a diagram of ranks: Friedman's test p = {p_value}; Nemenyi's critical difference"
        f" {rank(ranking['critical_difference'])}",
    ]
