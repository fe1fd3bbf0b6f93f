"""``mklkit score``: a saved model on samples that it has not learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import say, show, show_json, working
from mklkit.cli.outputs import check_outputs
from mklkit.cli.predict import Findings, files_for_model, groups_of
from mklkit.cli.rows_to_score import rows_to_score
from mklkit.cli.tables import class_table, parts_table
from mklkit.display.numbers import number
from mklkit.display.table import Column, ResultTable
from mklkit.display.terminal import facts_grid, terminal_table

if TYPE_CHECKING:
    from mklkit.protocols import Task

PARTS = {"all": "all", "complete": "all sources", "incomplete": "lack a source"}


def score(
    model: opt.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            autocompletion=complete.data_sets,
            help="New samples with the model's columns and their classes or numbers.",
        ),
    ],
    *,
    source: opt.Sources = None,
    by: opt.By = None,
    target: Annotated[
        str | None,
        opt.data_option(
            "--target",
            "-t",
            metavar="COLUMN",
            autocompletion=complete.table_columns,
            show_default="the model's",
            help="The column of the classes or numbers.",
        ),
    ] = None,
    groups: opt.Groups = None,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Score a saved model on samples that it has not learned from, such as another cohort.

    Nothing is fitted again ('evaluate' is the cross-validation of a configuration). Scores have
    intervals of 95 % over samples, or over groups. A source of which DATA has no column is
    missing in all samples.
    """
    from mklkit.datasets.pipeline import encoder_in
    from mklkit.estimators.task_of import task_of
    from mklkit.evaluation.cohort import score_cohort
    from mklkit.persistence import faults_of_file, load_model, read_metadata
    from mklkit.persistence.metadata import targets_of
    from mklkit.registry.tasks import task_named

    with working("loading the model"):
        pipeline, metadata = load_model(model), read_metadata(model)
    studied = files_for_model(metadata, data, source, by)
    check_outputs([], [studied], model)
    with faults_of_file(model):
        task = task_of(pipeline)
        targets = [target] if target is not None else targets_of(metadata)
        grouped = groups or groups_of(metadata)
        selectors = targets, grouped, None, None if groups else grouped
        rows, truth, together, _, notes = rows_to_score(studied, pipeline, task, model, *selectors)
        findings = Findings(encoder_in(pipeline))
        findings.add(rows)
        findings.say()
        with working("scoring"):
            task = task_named(task.name, [str(name) for name in truth])
            result = score_cohort(
                pipeline,
                rows,
                task.truth(truth.to_numpy() if task.n_targets > 1 else truth.iloc[:, 0].to_numpy()),
                task,
                None if together is None else together.to_numpy(),
                seed,
            )
    if as_json:
        context = {"model": str(model), "data": data, "target": ", ".join(map(str, truth))}
        show_json({**context, "seed": seed, "notes": notes, **result})
        return
    has_probabilities = hasattr(pipeline, "predict_proba")
    _report(task, result, [f"{data}: {len(rows)} rows", *notes], has_probabilities)


def _report(task: Task, result: dict[str, Any], notes: list[str], has_probabilities: bool) -> None:
    scores, intervals = result["scores"], result["intervals"]
    lines = []
    for score in task.scores:
        if score.key in intervals:
            ends = intervals[score.key]
            known = score.written(scores["all"][score.key])
            spread = "no interval: too few samples or groups, or no errors"
            if ends is not None:
                spread = f"95 % CI {score.written(ends[0])} to {score.written(ends[1])}"
            lines.append((score.words, f"{known} ({spread})"))
    show(facts_grid(lines))
    named = {PARTS[key]: part for key, part in scores.items() if part is not None}
    if len(named) > 1:
        show(parts_table(task, named))
    if "confusion" in scores["all"]:
        show(class_table(scores["all"], "scored"))
    if result["calibration"]:
        show(terminal_table(_calibration(result["calibration"])))
    show(facts_grid([("data", notes)]))
    if task.has_classes and not has_probabilities:
        say("no calibration: the model has no probabilities (mklkit fit --probability)")


def _calibration(lines: dict[str, dict[str, Any]]) -> ResultTable:
    """Return slopes and intercepts of calibration with their intervals."""

    def shown(name: str) -> list[str]:
        return [
            number(line[name], 2)
            + (f" ({number(ends[0], 2)} to {number(ends[1], 2)})" if ends is not None else "")
            for line in lines.values()
            for ends in [line[f"{name}_interval"]]
        ]

    rows = [
        {"name": name, "slope": slope, "intercept": intercept}
        for name, slope, intercept in zip(lines, shown("slope"), shown("intercept"), strict=True)
    ]
    heads = {"name": "calibration", "slope": "slope", "intercept": "intercept"}
    columns = [Column(key, head) for key, head in heads.items()]
    return ResultTable(columns, rows)
