"""``mklkit evaluate``: cross-validation."""

from __future__ import annotations

from typing import Annotated, Any

from mklkit.cli import options as opt
from mklkit.cli.building import System, steps_of
from mklkit.cli.console import counting, show, show_result
from mklkit.cli.model_options import ModelOptions
from mklkit.cli.tables import (
    class_table,
    data_line,
    model_line,
    parts_table,
)
from mklkit.cli.taking_options import takes_model_options
from mklkit.display.terminal import facts_grid


@takes_model_options(but=["probability"])
def evaluate(
    data: opt.Data = None,
    *,
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
    options: ModelOptions,
    as_json: opt.AsJson = False,
) -> None:
    """Score a model by repeated cross-validation: mean and standard deviation.

    Folds are stratified for classes, and shuffled for a target of numbers.
    """
    from mklkit.evaluation import cross_validate

    system = System.of(options, data, target, drop, weights, task, groups, split_column)
    features, targets = system.table.features, system.table.target
    with counting("folds") as progress:
        outcome = cross_validate(
            system.pipeline,
            features,
            targets,
            system.parts_column or cv,
            repeats,
            options.seed,
            progress,
            system.weights(),
            system.table.groups,
        )
    outcome.notes.extend(system.leaks(outcome.splits))
    result = _result(system, outcome)
    means = {name: spread["mean"] for name, spread in outcome.scores.items()}
    score = outcome.pooled or {"rows": len(targets), **means}

    def training_score() -> dict[str, Any]:
        rows = outcome.splits[-1].train
        answers = outcome.estimator.predict(features.iloc[rows])
        return system.task.score(targets.to_numpy()[rows], answers)

    # Everything that may fail comes before the first output.
    advice = system.advice_if_useless(
        score, training_score, "rows that were scored", outcome.estimator
    )
    show_result(result, as_json, lambda: _report(system, outcome, result), advice)


def _result(system: System, outcome: Any) -> dict[str, Any]:
    from sklearn.base import clone

    from mklkit.datasets.covariates import quiet_removal

    # The report describes the encoding of all rows; the model of the last fold stays as it is.
    whole = clone(outcome.estimator)
    with quiet_removal():
        whole[:-1].fit(system.table.features)
    adjustment = outcome.adjustment.metadata(outcome.estimator)
    result = system.result(outcome.estimator, **adjustment)
    splits = outcome.splits
    for of_last_fold in ("weights", "rows", "chosen"):
        del result["model"][of_last_fold]
    return {
        **result,
        "preprocessing": steps_of(system.table, whole),
        "plan": {"folds": splits.n_folds, "repeats": splits.repeats, "notes": outcome.notes},
        "scores": outcome.scores,
        "parts": _parts(system, outcome),
        **({} if outcome.pooled is None else {"pooled": outcome.pooled}),
        "folds": outcome.folds,
        "seconds": outcome.seconds,
    }


def _parts(system: System, outcome: Any) -> dict[str, Any]:
    """Return the scores on rows with all sources, and on the others, over all folds."""
    import numpy as np

    rows, answers = np.concatenate(outcome.splits.tests), np.concatenate(outcome.answers)
    truth, masks = system.table.target.to_numpy()[rows], system.parts(rows)
    scored = {part: (truth[mask], answers[mask]) for part, mask in masks.items() if mask.any()}
    return {part: system.task.score(*pairs) for part, pairs in scored.items()}


def _report(system: System, outcome: Any, result: dict[str, Any]) -> None:
    from mklkit.evaluation.result_tables import scores_result

    metadata = facts_grid(
        [
            data_line(system.table, result["data"]["notes"]),
            ("steps", result["preprocessing"]),
            ("kernels", ", ".join(kernel["name"] for kernel in result["model"]["kernels"])),
            model_line(result["model"], result["choices"]),
            ("folds", [outcome.splits.description, *outcome.notes]),
        ]
    )
    means = {"name": "", **outcome.spread}
    _, _, *scores = scores_result(system.task, [means], system.score).columns
    show(facts_grid([(column.head, column.text(means)) for column in scores]))
    if result["parts"]:
        show(parts_table(system.task, result["parts"], system.score))
    if outcome.pooled is not None:
        show(class_table(outcome.pooled, "all folds"))
    show(metadata, f"{result['seconds']:.2f} s")
