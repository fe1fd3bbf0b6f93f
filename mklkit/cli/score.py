"""``mklkit score``: a saved model on samples that it has not learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import say, show, show_json, working
from mklkit.cli.outputs import check_outputs
from mklkit.cli.predict import Findings, files_for_model, groups_of, known_rows
from mklkit.cli.rows_to_score import rows_to_score, targets_in_order
from mklkit.cli.tables import class_table
from mklkit.display.numbers import number
from mklkit.display.table import Column, ResultTable
from mklkit.display.terminal import facts_grid, terminal_table
from mklkit.errors import counted, listed

if TYPE_CHECKING:
    from mklkit.protocols import Score, Task

PARTS = {"complete": "all sources", "incomplete": "miss a source"}


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
        list[str] | None,
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
    from mklkit.estimators.task_of import task_of
    from mklkit.evaluation.cohort import score_cohort
    from mklkit.evaluation.shifts import RULE
    from mklkit.persistence import faults_of_file, load_model, read_metadata
    from mklkit.persistence.metadata import targets_of
    from mklkit.registry.tasks import task_named

    with working("loading the model"):
        pipeline, metadata = load_model(model), read_metadata(model)
    studied = files_for_model(metadata, data, source, by)
    check_outputs([], [studied], model)
    with faults_of_file(model):
        task = task_of(pipeline)
        targets = targets_in_order(target, targets_of(metadata))
        grouped = groups or groups_of(metadata)
        selectors = targets, grouped, None, None if groups else grouped
        scored = rows_to_score(studied, pipeline, task, model, *selectors)
        training = known_rows(pipeline, metadata)
        training.add(scored.features, scored.ids)
        findings = Findings(pipeline)
        findings.add(scored.features)
        findings.say()
        with working("scoring"):
            task = task_named(task.name, [str(name) for name in scored.targets])
            result: dict[str, Any] = score_cohort(
                pipeline,
                scored.features,
                task.truth(scored.truth(task).to_numpy()),
                task,
                None if scored.groups is None else scored.groups.to_numpy(),
                seed,
            )
    result["notes"] = [*training.sentences(), *result["notes"]]
    if as_json:
        target_names = ", ".join(map(str, scored.targets))
        context = {"model": str(model), "data": data, "target": target_names}
        result["notes"] = [*scored.notes, *result["notes"]]
        shifts = findings.shifts.table().to_dict("records")
        show_json({**context, "seed": seed, **result, "shift_rule": RULE, "shifts": shifts})
        return
    has_probabilities = hasattr(pipeline, "predict_proba")
    notes = [f"{data}: {len(scored.features)} samples", *scored.notes]
    _report(task, result, notes, has_probabilities)


def _report(task: Task, result: dict[str, Any], notes: list[str], has_probabilities: bool) -> None:
    whole = result["scores"]["all"]
    lines = [_lines(score, result) for score in task.scores if score.of and score.key in whole]
    show(facts_grid(lines))
    if "confusion" in whole:
        show(class_table(whole, "scored"))
    told = {name: line for name, line in result["calibration"].items() if line["enough"]}
    if told:
        show(terminal_table(_calibration(told)))
    show(facts_grid([("data", notes)]))
    for note in result["notes"]:
        say(note)
    if few := [name for name in result["calibration"] if name not in told]:
        say(_too_few(few, task))
    if task.has_classes and not has_probabilities:
        say("no calibration: the model has no probabilities (mklkit fit --probability)")


def _lines(score: Score, result: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the name of a score, and its values with intervals on all samples and on parts."""
    known = {part: scores for part, scores in result["scores"].items() if scores is not None}
    if all(scores[score.key] is None for scores in known.values()):
        return score.words, ["not defined"]
    lines = []
    for part, scores in known.items():
        words = f"{PARTS[part]} ({counted(scores['rows'], 'sample')}): " if part in PARTS else ""
        value = scores[score.key]
        text = "not defined" if value is None else score.written(value)
        if value is not None and score.key in result["intervals"][part]:
            ends = result["intervals"][part][score.key]
            spread = "no interval: too few samples or groups, or no errors"
            if ends is not None:
                spread = f"95 % CI {score.written(ends[0])} to {score.written(ends[1])}"
            text += f" ({spread})"
        lines.append(words + text)
    return score.words, lines


def _too_few(names: list[str], task: Task) -> str:
    """Return a sentence on calibrations that so few samples do not tell."""
    from mklkit.evaluation.calibration_lines import FEWEST_SAMPLES

    needed = f"about {FEWEST_SAMPLES} samples"
    if task.has_classes:
        needed += " of the class, and as many of the others"
    return f"no calibration of {listed(names)}: it needs {needed} (--json has the estimate)"


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
