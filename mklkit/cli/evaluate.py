"""``mklkit evaluate``: cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mklkit.cli import options as opt
from mklkit.cli.advice import advice_if_useless
from mklkit.cli.console import counting, show, show_result
from mklkit.cli.tables import (
    PARTS,
    class_table,
    data_line,
    model_line,
    parts_table,
)
from mklkit.cli.taking_options import say_if_inferred, takes_model_settings
from mklkit.display.numbers import seconds
from mklkit.display.terminal import facts_grid
from mklkit.estimators.model_settings import ModelSettings

if TYPE_CHECKING:
    from mklkit.evaluation.study import Study


@takes_model_settings(but=["probability"])
def evaluate(
    data: opt.Data = None,
    *,
    source: opt.Sources = None,
    by: opt.By = None,
    target: opt.Target = None,
    task: opt.Task = "auto",
    drop: opt.Drop = None,
    weights: opt.Weights = None,
    groups: opt.Groups = None,
    cv: Annotated[
        str, opt.data_option("--cv", "--folds", metavar="FOLDS", help=f"Folds: {opt.CV_HELP}")
    ] = "5",
    repeats: Annotated[
        int, opt.data_option(min=1, help="Repetitions with other random folds.")
    ] = 1,
    split_column: opt.SplitColumn = None,
    settings: ModelSettings,
    as_json: opt.AsJson = False,
) -> None:
    """Score a model by repeated cross-validation: mean and standard deviation.

    Folds are stratified for classes, and shuffled folds for a numeric target.
    """
    from mklkit.evaluation.study import Roles, read_study
    from mklkit.evaluation.study_fits import cross_validate_study

    roles = Roles(
        target=target or None, drop=drop or (), weights=weights, groups=groups, split=split_column
    )
    study = read_study(settings, opt.study_files(data, source, by), roles, task)
    say_if_inferred(study, task)
    with counting("folds") as progress:
        fitted, outcome = cross_validate_study(study, cv, repeats, progress)
    means = {name: spread["mean"] for name, spread in outcome.scores.items()}
    score = outcome.pooled or {"rows": len(study.targets), **means}

    def training_score() -> dict[str, Any]:
        samples = study.samples.take(outcome.splits[-1].train)
        return study.task.score(samples.targets, fitted.model.predict(samples.features))

    # Everything that may fail comes before the first output.
    advice = advice_if_useless(fitted, score, training_score, "samples that were scored")
    result = fitted.record
    show_result(result, as_json, lambda: _report(study, outcome, result), advice)


def _report(study: Study, outcome: Any, result: dict[str, Any]) -> None:
    from mklkit.evaluation.result_tables import scores_result

    metadata = facts_grid(
        [
            data_line(study.table, result["data"]["notes"]),
            ("steps", result["preprocessing"] + result["advice"]),
            ("kernels", ", ".join(kernel["name"] for kernel in result["model"]["kernels"])),
            model_line(result["model"], result["choices"]),
            ("folds", [outcome.splits.description, *outcome.notes]),
        ]
    )
    means = {"name": "", **outcome.spread}
    _, _, *scores = scores_result(study.task, [means], study.score).columns
    show(facts_grid([(column.head, column.text(means)) for column in scores]))
    if result["parts"]:
        parts = {PARTS[key]: part for key, part in result["parts"].items()}
        show(parts_table(study.task, parts, study.score))
    if outcome.pooled is not None:
        show(class_table(outcome.pooled, "all folds"))
    show(metadata, seconds(result["seconds"]))
