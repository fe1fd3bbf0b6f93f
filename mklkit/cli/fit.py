"""``mklkit fit``: learn kernel weights and a classifier, and score it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

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
from mklkit.cli.console import counting, say, show, show_result, working
from mklkit.cli.pictures import check_picture, draw_weights
from mklkit.cli.regression import advice_on_numbers, fit_numbers, number_lines, to_regression
from mklkit.cli.streams import fit_stream, on_cluster, stream_of

__all__ = ["fit"]


def fit(
    data: opt.Data = None,
    *,
    target: opt.Target = None,
    task: opt.TaskOption = opt.Task.auto,
    drop: opt.Drop = None,
    weights: opt.Weights = None,
    scale: opt.ScaleOption = None,
    holdout: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.95,
            help="Share of the rows held out to score the model; 0: fit on all rows.",
            rich_help_panel=opt.DATA_PANEL,
        ),
    ] = 0.2,
    preset: opt.Preset = None,
    kernels: opt.Kernels = None,
    feature_map: opt.FeatureMap = None,
    combiner: opt.Combiner = None,
    learner: opt.Learner = None,
    multiclass: opt.MulticlassOption = opt.Multiclass.ovo,
    bandwidths: opt.BandwidthsOption = opt.Bandwidths.per_problem,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=opt.output_path,
            help="Save the model, for example as model.mkl.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            parser=opt.output_path,
            help="Plot the kernel weights (by cluster, if the combiner has clusters) to a file"
            " such as weights.png, .pdf or .svg.",
        ),
    ] = None,
    tune: opt.Tune = None,
    class_weight: opt.ClassWeight = None,
    probability: opt.Probability = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    max_memory: opt.MaxMemory = None,
    stream: opt.Stream = False,
    scheduler: opt.Scheduler = None,
    as_json: opt.AsJson = False,
) -> None:
    """Learn kernel weights and a classifier or a regression, and score it on held-out rows.

    A target of numbers is learned by regression. Text columns are one-hot encoded, missing values
    imputed and features scaled; these steps are part of the saved model. A table that does not fit
    into memory is read in parts, and can be fitted on a cluster.
    """
    if output is not None:
        _check_output(output, data)
    if plot is not None:
        check_picture(plot, {"the data": data, "the model": output})
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
        max_memory,
        probability,
        class_weight,
    )
    pipeline = build_model(chosen)
    chunked = stream_of(data, max_memory, stream or scheduler is not None)
    if chunked is not None and weights is not None:
        raise _weights_in_parts()
    if chunked is None:
        table, data_facts = read_data(pipeline, data, target, drop, kernels, weights, task.value)
        asked_for = task is opt.Task.regression
        result = _fit_and_score(pipeline, table, holdout, chosen, asked_for)
    else:
        _check_parts(task)
        asked = (target, drop or [], kernels)
        with on_cluster(scheduler, pipeline):
            table, data_facts, result = fit_stream(
                pipeline, chunked, asked, holdout, seed, _fitting, max_memory, scheduler is not None
            )
    result = in_context(chosen, data_facts, result)
    from mklkit.cli.score_tables import decisive_score

    part, score = decisive_score(result["scores"])
    training = result["scores"]["train"]
    # Before the first word on stdout: what may still fail, and files, since a reader may leave.
    if table.task == "regression":
        advice = advice_on_numbers(score, f"{part} rows")
    else:
        advice = advice_if_useless(score, lambda: training, f"{part} rows", chosen, pipeline)
    if output is not None:
        _save(output, pipeline, result)
    if plot is not None:
        with working("drawing"):
            draw_weights(plot, pipeline)
    show_result(result, as_json, lambda: _report(table, result), advice)
    if output is not None:
        say(f"saved {output}")
    if plot is not None:
        say(f"drew {plot}")


def _check_parts(task: opt.Task) -> None:
    from mklkit.errors import IncompatibleError

    if task is not opt.Task.regression:
        return
    raise IncompatibleError(
        "Regression takes rows in memory: leave out --stream and --scheduler, give more"
        " --max-memory, or fit an MKLRegressor on a memory map in Python."
    )


def _weights_in_parts() -> Exception:
    from mklkit.errors import DataError

    return DataError(
        "--weights needs a table that is read as a whole, and this one is read in parts: leave out"
        " --weights (--class-weight works), or --stream, or allow more with --max-memory."
    )


def _check_output(output: Path, data: str | None) -> None:
    from mklkit.datasets.paths import same_file
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable

    check_writable(output)
    if data is not None and same_file(output, Path(data)):
        raise DataError(f"{output} holds the data; choose another name for the model.")


def _fit_and_score(
    pipeline: Any, table: Any, holdout: float, options: ModelOptions, asked_for: bool
) -> dict[str, Any]:
    """Fit and score a classifier, or a regressor that was asked for or that the target needs."""
    if table.task == "regression":
        to_regression(pipeline, options, table, asked_for)
        return fit_numbers(pipeline, table, holdout, options.seed, _fitting)
    return _fit_classes(pipeline, table, holdout, options.seed)


def _fit_classes(pipeline: Any, table: Any, holdout: float, seed: int) -> dict[str, Any]:
    from time import perf_counter

    from mklkit.evaluation import score
    from mklkit.evaluation.splits import hold_out
    from mklkit.persistence.facts import facts_of_model

    labels = table.target.to_numpy()
    split = hold_out(labels, holdout, seed)
    parts = {"train": split.train, "held out": split.held_out}
    start = perf_counter()
    with _fitting(pipeline[-1]):
        counts = weights_for(table, split.train)
        pipeline.fit(table.features.iloc[split.train], labels[split.train], **counts)
    seconds = perf_counter() - start
    scores: dict[str, dict[str, Any] | None] = {}
    with working("scoring"):
        for part, rows in parts.items():
            scores[part] = None
            if len(rows):
                predictions = pipeline.predict(table.features.iloc[rows])
                scores[part] = score(labels[rows], predictions, labels[split.train])
    return {
        "preprocessing": steps_of(table, pipeline),
        "choices": list(pipeline[-1].choices_),
        "model": facts_of_model(pipeline),
        "split": split.kind,
        "scores": {part.replace(" ", "_"): value for part, value in scores.items()},
        "seconds": seconds,
    }


@contextmanager
def _fitting(classifier: Any) -> Iterator[None]:
    """Show a progress bar if the classifier reports progress, else a spinner."""
    if "progress" not in classifier.get_params(deep=False):
        with working("fitting"):
            yield
        return
    with counting("fitting") as progress:
        classifier.set_params(progress=progress)
        yield
        # Model files cannot contain functions.
        classifier.set_params(progress=None)


def _save(output: Path, pipeline: Any, result: dict[str, Any]) -> None:
    from mklkit.persistence import save_model

    with working("saving"):
        save_model(pipeline, output, {key: result[key] for key in result if key != "model"})


def _report(table: Any, result: dict[str, Any]) -> None:
    from mklkit.cli.report import facts_grid, model_lines
    from mklkit.cli.score_tables import scores_tables
    from mklkit.cli.weight_table import weights_grid
    from mklkit.estimators.proposing import shortened

    lines: list[tuple[str, str | list[str]]] = [
        ("data", [f"{table.summary()} ({table.origin})", *result["data"]["notes"]]),
        ("steps", result["preprocessing"]),
        ("model", [model_lines(result["model"]), *shortened(result["choices"])]),
        ("held out", _split_lines(result)),
    ]
    show(facts_grid(lines), weights_grid(result["model"]), *scores_tables(result["scores"]))
    show(f"fitted in {result['seconds']:.2f} s")


def _split_lines(result: dict[str, Any]) -> list[str]:
    from mklkit.errors import counted, listed

    if result["data"]["task"] == "regression":
        return number_lines(result)
    held_out = result["scores"]["held_out"]
    if held_out is None:
        return [f"no rows ({result['split']})" if result["split"] != "none" else "no rows"]
    lines = [f"{counted(held_out['rows'], 'row')}, {result['split']}"]
    found = zip(held_out["classes"], held_out["confusion"], strict=True)
    scored = {str(label) for label, answers in found if sum(answers)}
    absent = [one["label"] for one in result["data"]["classes"] if str(one["label"]) not in scored]
    if absent:
        noun = "class" if len(absent) == 1 else "classes"
        lines.append(
            f"no row of {noun} {listed(absent)} was held out; scores are of the other classes"
        )
    return lines
