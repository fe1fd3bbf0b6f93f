"""``mklkit explain``: which kernels and columns matter to a saved model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import counting, say, show, show_json, working
from mklkit.cli.pictures import check_picture, draw
from mklkit.cli.predict import columns_of, target_of

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.explanation import Explanation
    from mklkit.explanation.tasks import ScoredTask

__all__ = ["explain"]


class Columns(StrEnum):
    """What is shuffled together."""

    auto = "auto"
    each = "each"
    sources = "sources"


def explain(
    model: opt.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            autocompletion=complete.data_sets,
            help="Rows with the model's columns and their classes or numbers, such as the training"
            " data.",
        ),
    ],
    *,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            autocompletion=complete.table_columns,
            show_default="the model's",
            help="The column of the classes or numbers.",
        ),
    ] = None,
    cv: Annotated[int, typer.Option("--cv", min=2, help="Number of folds.")] = 5,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often columns are shuffled in each fold.")
    ] = 5,
    columns: Annotated[
        Columns,
        typer.Option(
            help="What is shuffled together: each column, or sources, the columns that the same"
            " kernels read; auto: each of up to 30 columns, else sources."
        ),
    ] = Columns.auto,
    max_rows: Annotated[
        int,
        typer.Option(min=2, metavar="ROWS", help="Of more rows a random sample is used."),
    ] = 5000,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            parser=opt.output_path,
            help="Plot the weights beside what is lost without a kernel, to a .png, .pdf or .svg.",
        ),
    ] = None,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Show which kernels and columns matter: by weight, when left out, when shuffled.

    The model is fitted again on folds of DATA, once with all kernels and once without each of
    them: FOLDS x (1 + KERNELS) fits.
    """
    from mklkit.explanation import explain as explained
    from mklkit.explanation.tasks import task_of
    from mklkit.persistence import load_model, read_facts

    if plot is not None:
        check_picture(plot, {"the data": data, "the model": model})
    with working("loading the model"):
        pipeline, facts = load_model(model), read_facts(model)
    task = task_of(pipeline)
    rows, truth, notes = _rows(data, pipeline, task, model, target or target_of(facts))
    with counting("fits and shuffles") as progress:
        found = explained(
            pipeline,
            rows,
            truth,
            cv=cv,
            repeats=repeats,
            columns=columns.value,
            max_rows=max_rows,
            random_state=seed,
            progress=progress,
        )
    if plot is not None:
        with working("drawing"):
            draw(plot, found.plot)
    if as_json:
        context = {"model": str(model), "data": data, "target": str(truth.name), "seed": seed}
        show_json({**context, "data_notes": notes, **found.to_dict()})
    else:
        _report(found, data, truth, notes)
    if plot is not None:
        say(f"drew {plot}")


def _rows(
    data: str, pipeline: Any, task: ScoredTask, model: Path, target: str | None
) -> tuple[pd.DataFrame, pd.Series, list[str]]:
    """Return the rows with a class or number, these, and remarks on the data as read."""
    import pandas as pd

    from mklkit.datasets import load_features
    from mklkit.datasets.pipeline import encoder_in
    from mklkit.datasets.target import drop_without_target
    from mklkit.errors import DataError, IncompatibleError, quoted

    if task.n_targets > 1:
        raise IncompatibleError(
            f"{model} predicts {task.n_targets} targets, and the command line takes one: use"
            " mklkit.explain in Python."
        )
    columns = columns_of(pipeline, model)
    if target is None:
        raise DataError(
            f"{model} does not say which column holds the {task.values}: name it with --target."
        )
    if target in columns:
        raise DataError(
            f"{quoted(target)} is a column from which the model predicts, not its target: choose"
            " another --target."
        )
    encoder = encoder_in(pipeline)
    readings = {} if encoder is None else encoder.readings_
    dropped = [] if encoder is None else encoder.identifiers_
    needed = [name for name in columns if name not in dropped]
    found = load_features(data, columns, target, needed, readings)
    if found.target is None:
        raise DataError(
            f"{data} has no column {quoted(target)}, the model's target: to see what a kernel is"
            f" worth, the {task.values} of the rows are needed. If they have another name, give"
            " --target."
        )
    notes = list(found.notes)
    known = found.target.notna().to_numpy()
    labels = drop_without_target(found.target.to_frame(), str(found.target.name), notes)
    features = found.features[known]
    numbers = pd.RangeIndex(1, len(features) + 1, name="row")
    return (
        features.set_axis(numbers),
        task.of_column(labels.iloc[:, 0]).set_axis(numbers),
        notes,
    )


def _report(found: Explanation, data: str, truth: pd.Series, notes: list[str]) -> None:
    from mklkit.cli.report import alignment_grid, facts_grid
    from mklkit.cli.worth_table import GroupTable, KernelTable
    from mklkit.errors import counted

    said = {about: list(those) for about, those in found.notes.groupby("about")["note"]}
    described = f"{data}: {counted(len(truth), 'row')}, target {str(truth.name)!r}"
    lines: list[tuple[str, str | list[str]]] = [
        ("data", [described, *notes]),
        ("how", said["rows"]),
        (found.task.score_name, found.task.summary(found.scores)),
    ]
    show(facts_grid(lines), KernelTable(found.kernels))
    show(facts_grid([("weights", said["weights"]), ("left out", said["left out"])]))
    if len(found.columns):
        show(GroupTable(found.columns))
    show(facts_grid([("shuffled", said["shuffled"])]))
    if len(found.alignment) > 1:
        show(alignment_grid(found.alignment), facts_grid([("alike", said["alike"])]))
    show(f"{found.seconds:.2f} s")
