"""``mklkit evaluate``: cross-validation."""

from __future__ import annotations

from typing import Annotated, Any

from mklkit.cli import options as opt
from mklkit.cli.advice import advice_if_useless
from mklkit.cli.building import ModelOptions, System, data_line, in_context, result_of, steps_of
from mklkit.cli.console import counting, show, show_result

__all__ = ["evaluate"]


def evaluate(
    data: opt.Data = None,
    *,
    target: opt.Target = None,
    task: opt.Task = "auto",
    drop: opt.Drop = None,
    weights: opt.Weights = None,
    scale: opt.Scale = None,
    folds: Annotated[
        int,
        opt.data_option(min=2, help="Number of folds."),
    ] = 5,
    repeats: Annotated[
        int,
        opt.data_option(min=1, help="Repetitions with other random folds."),
    ] = 1,
    preset: opt.Preset = None,
    kernels: opt.Kernels = None,
    feature_map: opt.FeatureMap = None,
    combiner: opt.Combiner = None,
    learner: opt.Learner = None,
    multiclass: opt.Multiclass = "ovo",
    bandwidths: opt.Bandwidths = "per-problem",
    tune: opt.Tune = None,
    class_weight: opt.ClassWeight = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    as_json: opt.AsJson = False,
) -> None:
    """Score a model by repeated cross-validation: mean and standard deviation.

    Folds are stratified for classes, and shuffled for a target of numbers.
    """
    from mklkit.evaluation import cross_validate

    options = ModelOptions(
        kernels=kernels,
        preset=preset,
        scale=scale,
        feature_map=feature_map,
        combiner=combiner,
        learner=learner,
        multiclass=multiclass,
        bandwidths=bandwidths,
        seed=seed,
        jobs=jobs,
        tune=tune,
        class_weight=class_weight,
    )
    system = System.of(options, data, target, drop, weights, task)
    features, targets = system.table.features, system.table.target
    with counting("folds") as progress:
        outcome = cross_validate(
            system.pipeline, features, targets, folds, repeats, seed, progress, system.weights()
        )
    result = in_context(options, system.facts, _result(system, outcome))
    means = {name: spread["mean"] for name, spread in outcome.scores.items()}
    score = outcome.pooled or {"rows": len(targets), **means}

    def training_score() -> dict[str, Any]:
        rows = outcome.training_rows
        answers = outcome.estimator.predict(features.iloc[rows])
        return system.task.score(targets.to_numpy()[rows], answers)

    # What may still fail comes before the first word on stdout.
    advice = advice_if_useless(
        system.task, score, training_score, "rows that were scored", options, outcome.estimator
    )
    show_result(result, as_json, lambda: _report(system, outcome, result), advice)


def _result(system: System, outcome: Any) -> dict[str, Any]:
    from sklearn.base import clone

    # The report describes the encoding of all rows; the model of the last fold stays as it is.
    whole = clone(outcome.estimator)
    whole[0].fit(system.table.features)
    result = result_of(system.table, outcome.estimator)
    del result["model"]["weights"]
    return {
        **result,
        "preprocessing": steps_of(system.table, whole),
        "plan": {"folds": outcome.n_folds, "repeats": outcome.repeats, "notes": outcome.notes},
        "scores": outcome.scores,
        **({} if outcome.pooled is None else {"pooled": outcome.pooled}),
        "folds": outcome.folds,
        "seconds": outcome.seconds,
    }


def _report(system: System, outcome: Any, result: dict[str, Any]) -> None:
    from mklkit.cli.report import facts_grid, model_lines
    from mklkit.cli.tables import class_table
    from mklkit.estimators.introspection import shortened

    times = f", {outcome.repeats} times" if outcome.repeats > 1 else ""
    folds = f"{outcome.n_folds} {system.task.folds_are} folds{times}"
    lines: list[tuple[str, str | list[str]]] = [
        data_line(system.table, result["data"]["notes"]),
        ("steps", result["preprocessing"]),
        ("kernels", ", ".join(kernel["name"] for kernel in result["model"]["kernels"])),
        ("model", [model_lines(result["model"]), *shortened(result["choices"])]),
        ("folds", [folds, *outcome.notes]),
    ]
    scores = zip(system.task.scores.values(), outcome.shown_scores(), strict=True)
    show(facts_grid(lines), "", facts_grid(scores))
    if outcome.pooled is not None:
        show(class_table(outcome.pooled, "all folds"))
    show(f"{result['seconds']:.2f} s")
