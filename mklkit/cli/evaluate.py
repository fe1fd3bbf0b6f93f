"""``mklkit evaluate``: cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.advice import advice_if_useless
from mklkit.cli.building import (
    ModelOptions,
    build_model,
    in_context,
    read_data,
    steps_of,
    weights_for,
)
from mklkit.cli.console import counting, show, show_result
from mklkit.cli.regression import (
    advice_on_numbers,
    evaluate_numbers,
    report_evaluation,
    to_regression,
)
from mklkit.cli.score_tables import SCORES, ClassTable

if TYPE_CHECKING:
    from mklkit.datasets import Table
    from mklkit.evaluation.cross_validation import CrossValidation

__all__ = ["evaluate"]


def evaluate(
    data: opt.Data = None,
    *,
    target: opt.Target = None,
    task: opt.TaskOption = opt.Task.auto,
    drop: opt.Drop = None,
    weights: opt.Weights = None,
    scale: opt.ScaleOption = None,
    folds: Annotated[
        int,
        typer.Option(min=2, help="Number of folds.", rich_help_panel=opt.DATA_PANEL),
    ] = 5,
    repeats: Annotated[
        int,
        typer.Option(
            min=1, help="Repetitions with other random folds.", rich_help_panel=opt.DATA_PANEL
        ),
    ] = 1,
    preset: opt.Preset = None,
    kernels: opt.Kernels = None,
    feature_map: opt.FeatureMap = None,
    combiner: opt.Combiner = None,
    learner: opt.Learner = None,
    multiclass: opt.MulticlassOption = opt.Multiclass.ovo,
    bandwidths: opt.BandwidthsOption = opt.Bandwidths.per_problem,
    tune: opt.Tune = None,
    class_weight: opt.ClassWeight = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    as_json: opt.AsJson = False,
) -> None:
    """Score a model by repeated cross-validation: mean and standard deviation.

    Folds are stratified for classes, and shuffled for a target of numbers.
    """
    chosen = ModelOptions(
        kernels,
        feature_map,
        combiner,
        learner,
        multiclass.value,
        bandwidths.value,
        preset,
        scale,
        seed,
        jobs,
        tune,
        class_weight=class_weight,
    )
    pipeline = build_model(chosen)
    table, data_facts = read_data(pipeline, data, target, drop, kernels, weights, task.value)
    if table.task == "regression":
        to_regression(pipeline, chosen, table, task is opt.Task.regression)
        result = evaluate_numbers(pipeline, table, folds, repeats, seed)
        result = in_context(chosen, data_facts, result)
        means = {name: spread["mean"] for name, spread in result["scores"].items()}
        useless = advice_on_numbers(means, "rows that were scored")
        show_result(result, as_json, lambda: report_evaluation(table, result), useless)
        return
    result, found = _cross_validate(pipeline, table, folds, repeats, seed)
    result = in_context(chosen, data_facts, result)
    rows = "rows that were scored"
    # What may still fail comes before the first word on stdout.
    advice = advice_if_useless(
        found.pooled, lambda: _training_score(found, table), rows, chosen, found.estimator
    )
    show_result(result, as_json, lambda: _report(table, result), advice)


def _cross_validate(
    pipeline: Any, table: Any, folds: int, repeats: int, seed: int
) -> tuple[dict[str, Any], CrossValidation]:
    from sklearn.base import clone

    from mklkit.evaluation import cross_validate
    from mklkit.persistence.facts import facts_of_model

    with counting("folds") as progress:
        found = cross_validate(
            pipeline,
            table.features,
            table.target,
            folds,
            repeats,
            seed,
            progress,
            weights_for(table),
        )
    model = found.estimator
    facts = facts_of_model(model)
    # The report describes the encoding of all rows; the model of the last fold stays as it is.
    shown = clone(model)
    shown.named_steps["encode"].fit(table.features)
    result = {
        "preprocessing": steps_of(table, shown),
        "choices": list(model[-1].choices_),
        "model": {key: facts[key] for key in facts if key != "weights"},
        "plan": {"folds": found.n_folds, "repeats": found.repeats, "notes": found.notes},
        "scores": found.scores,
        "pooled": found.pooled,
        "folds": found.folds,
        "seconds": found.seconds,
    }
    return result, found


def _training_score(found: CrossValidation, table: Table) -> dict[str, Any]:
    """Return the score of the last fold's model on its training rows."""
    from mklkit.evaluation import score

    rows = found.training_rows
    answers = found.estimator.predict(table.features.iloc[rows])
    return score(table.target.to_numpy()[rows], answers)


def _report(table: Any, result: dict[str, Any]) -> None:
    from mklkit.cli.report import facts_grid, model_lines, percent
    from mklkit.estimators.proposing import shortened

    plan = result["plan"]
    times = f", {plan['repeats']} times" if plan["repeats"] > 1 else ""
    lines: list[tuple[str, str | list[str]]] = [
        ("data", [f"{table.summary()} ({table.origin})", *result["data"]["notes"]]),
        ("steps", result["preprocessing"]),
        ("kernels", ", ".join(kernel["name"] for kernel in result["model"]["kernels"])),
        ("model", [model_lines(result["model"]), *shortened(result["choices"])]),
        ("folds", [f"{plan['folds']} stratified folds{times}", *plan["notes"]]),
    ]
    scores = [
        (SCORES[name], f"{percent(spread['mean'])} ± {percent(spread['std'])}")
        for name, spread in result["scores"].items()
    ]
    show(facts_grid(lines), "", facts_grid(scores), ClassTable(result["pooled"], "all folds"))
    show(f"{result['seconds']:.2f} s")
