"""``mklkit fit``: learn kernel weights and a classifier, and score it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mklkit.cli import options as opt
from mklkit.cli.advice import advice_if_useless
from mklkit.cli.console import counting, fitting, say, show, show_result, working
from mklkit.cli.outputs import check_outputs, draw
from mklkit.cli.tables import (
    chosen_line,
    data_line,
    decisive_score,
    learned_line,
    model_line,
    scores_tables,
    weights_table,
)
from mklkit.cli.taking_options import say_if_inferred, takes_model_settings
from mklkit.datasets.formats import IN_PARTS
from mklkit.display.terminal import facts_grid
from mklkit.estimators.model_settings import ModelSettings

if TYPE_CHECKING:
    from mklkit.protocols import Task

if TYPE_CHECKING:
    from mklkit.datasets.files import TableInParts
    from mklkit.evaluation.study import Roles
    from mklkit.evaluation.study_fits import FittedStudy

USUAL_SHARE = 0.2


@takes_model_settings()
def fit(
    data: opt.Data = None,
    *,
    source: opt.Sources = None,
    by: opt.By = None,
    target: opt.Target = None,
    task: opt.Task = "auto",
    drop: opt.Drop = None,
    weights: opt.Weights = None,
    groups: opt.Groups = None,
    split_column: opt.SplitColumn = None,
    holdout: Annotated[
        float | None,
        opt.data_option(
            min=0.0,
            max=0.95,
            show_default="0.2",
            help="Share of the samples held out to score the model; 0: fit on all samples.",
        ),
    ] = None,
    stream: Annotated[
        bool,
        opt.data_option(
            "--stream",
            help=f"Read the table ({', '.join(IN_PARTS)}) in parts even if it fits into memory.",
        ),
    ] = False,
    scheduler: Annotated[
        str | None,
        opt.data_option(
            metavar="ADDRESS",
            help="Fit on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786. The table"
            f" ({', '.join(IN_PARTS)}) is read in parts here, and its encoded samples are sent to"
            " them.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        opt.output_option("--output", "-o", help="Save the model, for example as model.mkl."),
    ] = None,
    plot: Annotated[
        Path | None,
        opt.output_option(
            help="Plot the kernel weights (by cluster, if the combiner has clusters) to a file"
            " such as weights.png, .pdf or .svg.",
        ),
    ] = None,
    settings: ModelSettings,
    as_json: opt.AsJson = False,
) -> None:
    """Combine one kernel per data source into a classifier or regression, and score it.

    Numeric targets are fitted by regression. Text columns are one-hot encoded and missing values
    imputed, and each kernel scales its columns; all of this is part of the saved model. Kernels and
    scaling are chosen from the training samples, for each source if the names of columns tell
    several. A table that does not fit into memory is read in parts, and can be fitted on a
    cluster.
    """
    from mklkit.datasets.in_parts import table_in_parts
    from mklkit.errors import SpecError
    from mklkit.evaluation.study import Roles, read_study
    from mklkit.evaluation.study_fits import fit_study

    if holdout is not None and split_column is not None:
        raise SpecError("Samples are held out by --split-column or by --holdout: leave out one.")
    holdout = USUAL_SHARE if holdout is None else holdout
    studied = opt.study_files(data, source, by)
    check_outputs([output], [studied], pictures=[plot])
    roles = Roles(
        target=target or None, drop=drop or (), weights=weights, groups=groups, split=split_column
    )
    chunked = table_in_parts(studied, settings.max_memory, stream or scheduler is not None)
    if chunked is None:
        study = read_study(settings, studied, roles, task)
        say_if_inferred(study, task)
        fitted = fit_study(study, holdout, output is not None, lambda _: fitting())
    else:
        _check_parts(roles, settings.covariates, task)
        fitted = _fit_in_parts(settings, chunked, roles, holdout, scheduler, output is not None)
    model, result = fitted.model, fitted.record
    part, score = decisive_score(result["scores"])
    # Anything that may fail, and files, come before stdout, whose reader may close the pipe.
    advice = advice_if_useless(fitted, score, lambda: result["scores"]["train"], f"{part} samples")
    if output is not None:
        from mklkit.persistence import save_model

        with working("saving"):
            facts = {key: result[key] for key in result if key != "model"}
            if fitted.ids is not None:
                from mklkit.datasets.training_digest import as_text, digest_of, hashes_of_ids

                facts["training_ids"] = as_text(digest_of(hashes_of_ids(fitted.ids)))
            save_model(model, output, facts)
    if plot is not None:
        from mklkit.plotting.weights import KernelWeightsDisplay

        draw(plot, lambda: KernelWeightsDisplay.from_estimator(model))
    show_result(
        result, as_json, lambda: _report(fitted.study.table, fitted.study.task, result), advice
    )
    if output is not None:
        say(f"saved {output}")
    if plot is not None:
        say(f"drew {plot}")


def _check_parts(roles: Roles, covariates: str | None, task: str) -> None:
    """Raise an error for options that need the whole table in memory."""
    from mklkit.errors import IncompatibleError
    from mklkit.protocols.component import AUTO_TASK
    from mklkit.registry.tasks import task_named

    columns = {
        "--weights": roles.weights,
        "--groups": roles.groups,
        "--split-column": roles.split,
        "--covariates": covariates,
    }
    options = [name for name, column in columns.items() if column is not None]
    if task != AUTO_TASK and not task_named(task).in_parts:
        options.append(f"--task {task}")
    if options:
        raise IncompatibleError(
            f"{options[0]} needs the whole table in memory, and this one is read in parts: leave"
            " out --stream and --scheduler, or allow more memory with --max-memory."
        )


def _fit_in_parts(
    settings: ModelSettings,
    chunked: TableInParts,
    roles: Roles,
    holdout: float,
    scheduler: str | None,
    saves: bool,
) -> FittedStudy:
    """Fit and score a model on a table in parts, on a cluster if there is a scheduler."""
    from mklkit.datasets.pipeline import model_pipeline
    from mklkit.evaluation.fit_in_parts import fit_in_parts, on_cluster

    pipeline = model_pipeline(settings)
    distributed = scheduler is not None
    with on_cluster(scheduler, pipeline):
        fitted = fit_in_parts(pipeline, settings, chunked, roles, holdout, distributed, counting)
    if saves and fitted.record["scores"]["held_out"] is not None:
        fitted.record["choices"].append(
            "the table is read in parts, and the saved model has not learned from the held-out"
            " samples: --holdout 0 to learn from all of them"
        )
    return fitted


def _report(table: Any, task: Task, result: dict[str, Any]) -> None:
    metadata = facts_grid(
        [
            data_line(table, result["data"]["notes"]),
            ("steps", result["preprocessing"] + result["advice"]),
            model_line(result["model"], result["choices"]),
            *chosen_line(result["model"]),
            ("held out", _split_lines(result)),
        ]
    )
    show(
        *scores_tables(task, result["scores"], result["score"]),
        weights_table(result["model"]),
        metadata,
    )
    show(learned_line(result))


def _interval(result: dict[str, Any]) -> list[str]:
    """Return a line on the interval of the score on held-out rows, if it has one."""
    from mklkit.evaluation.class_scores import CLASS_SCORES
    from mklkit.evaluation.number_scores import R2
    from mklkit.evaluation.sentences import interval

    ends = result.get("intervals", {}).get(result["score"])
    if ends is None:
        return []
    score = next(each for each in (R2, *CLASS_SCORES) if each.name == result["score"])
    by = "bootstrap" if score is R2 else "Wilson"
    known = score.written(result["scores"]["held_out"][score.key])
    low, high = ends
    return [f"{score.words} {known} ({interval(low, high, score.written)}, {by})"]


def _split_lines(result: dict[str, Any]) -> list[str]:
    from mklkit.errors import counted, listed

    held_out = result["scores"]["held_out"]
    if held_out is None:
        return [f"no samples ({result['split']})" if result["split"] != "none" else "no samples"]
    lines = [f"{counted(held_out['rows'], 'sample')}, {result['split']}", *_interval(result)]
    pairs = zip(held_out.get("classes", []), held_out.get("confusion", []), strict=True)
    scored = {str(label) for label, answers in pairs if sum(answers)}
    labels = [entry["label"] for entry in result["data"].get("classes", [])]
    learned = {str(label) for label in held_out.get("classes", [])}
    absent = [label for label in labels if str(label) in learned - scored]
    if absent:
        noun = "class" if len(absent) == 1 else "classes"
        lines.append(
            f"no sample of {noun} {listed(absent)} was held out; scores are of the other classes"
        )
    return lines
