"""``mklkit explain``: which kernels and columns matter to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import counting, plain, say, show, show_json, working
from mklkit.cli.outputs import check_outputs, draw
from mklkit.cli.predict import columns_of, target_of
from mklkit.cli.tables import FirstThatFits, alignment_grid, facts_grid, grid, number, spread

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.evaluation.tasks import Task
    from mklkit.explanation import Explanation

MOST_GROUPS = 15
"""Groups of columns that are printed; --json shows all."""


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
        Literal["auto", "each", "sources"],
        typer.Option(
            help="What is shuffled together: each column, or sources, the columns that the same"
            " kernels read; auto: each of up to 30 columns, else sources."
        ),
    ] = "auto",
    max_rows: Annotated[
        int,
        typer.Option(min=2, metavar="ROWS", help="Of more rows a random sample is used."),
    ] = 5000,
    plot: Annotated[
        Path | None,
        opt.output_option(
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
    from mklkit.explanation.explaining import explained_task
    from mklkit.persistence import load_model, read_facts

    check_outputs([], [data], model, plot)
    with working("loading the model"):
        pipeline, facts = load_model(model), read_facts(model)
    task = explained_task(pipeline)
    rows, truth, notes = _rows(data, pipeline, task, model, target or target_of(facts))
    with counting("fits and shuffles") as progress:
        explanation = explained(
            pipeline,
            rows,
            truth,
            cv=cv,
            repeats=repeats,
            columns=columns,
            max_rows=max_rows,
            random_state=seed,
            progress=progress,
        )
    if plot is not None:
        draw(plot, explanation.plot)
    if as_json:
        context = {"model": str(model), "data": data, "target": str(truth.name), "seed": seed}
        show_json({**context, "data_notes": notes, **explanation.to_dict()})
    else:
        _report(explanation, data, truth, notes)
    if plot is not None:
        say(f"drew {plot}")


def _rows(
    data: str, pipeline: Any, task: Task, model: Path, target: str | None
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
    rows = load_features(data, columns, target, needed, readings)
    if rows.target is None:
        raise DataError(
            f"{data} has no column {quoted(target)} of the {task.values}, by which the model is"
            " scored: give --target."
        )
    notes = list(rows.notes)
    truth = drop_without_target(rows.target.to_frame(), str(rows.target.name), notes).iloc[:, 0]
    features = rows.features[rows.target.notna().to_numpy()]
    numbers = pd.RangeIndex(1, len(features) + 1, name="row")
    return features.set_axis(numbers), task.read(truth).set_axis(numbers), notes


def _report(explanation: Explanation, data: str, truth: pd.Series, notes: list[str]) -> None:
    from mklkit.errors import counted

    by_subject = explanation.notes.groupby("about")["note"]
    remarks = {str(about): list(sentences) for about, sentences in by_subject}
    described = f"{data}: {counted(len(truth), 'row')}, target {str(truth.name)!r}"
    facts = facts_grid(
        [
            ("data", [described, *notes]),
            ("how", remarks["rows"]),
            (explanation.task.score_name, explanation.summary()),
        ]
    )
    show(facts, _kernels_worth(explanation.kernels))
    show(facts_grid([(about, remarks[about]) for about in ("weights", "left out")]))
    if len(explanation.columns):
        show(_groups_grid(explanation.columns))
    show(facts_grid([("shuffled", remarks["shuffled"])]))
    if len(explanation.alignment) > 1:
        show(alignment_grid(explanation.alignment), facts_grid([("alike", remarks["alike"])]))
    show(f"{explanation.seconds:.2f} s")


def _kernels_worth(kernels: pd.DataFrame) -> FirstThatFits:
    """Return weight, and points of the score lost when left out and shuffled, per kernel."""
    layouts = [_worth_grid(kernels, *layout) for layout in ((1, 1), (1, 0), (0, 0))]
    return FirstThatFits(layouts, max(len(plain(name)) for name in kernels["kernel"]))


def _worth_grid(kernels: pd.DataFrame, deviations: int, details: int) -> Grid:
    by_row = bool(details and kernels["row_spread"].notna().any())
    # Whether weight × size says something else than the weight, as shown.
    by_size = bool(details and ((kernels["sized_weight"] - kernels["weight"]).abs() >= 0.001).any())
    beside = [*["over\nrows"] * by_row, *["sized\nweight"] * by_size]
    table = grid("kernel", "weight", *beside, "lost if\nleft out", "lost if\nshuffled")
    for row in kernels.to_dict("records"):
        rows = number(row["row_spread"], 3)
        cells = [spread(row, "weight", 1, 3, bool(deviations))]
        cells += [Text(rows if rows == "–" else f"± {rows}")] * by_row
        cells += [Text(number(row["sized_weight"], 3))] * by_size
        cells += [spread(row, name, 100, 1, bool(deviations)) for name in ("left_out", "shuffled")]
        table.add_row(Text(plain(row["kernel"])), *cells)
    return table


def _groups_grid(columns: pd.DataFrame) -> Grid:
    """Return points of the score lost when columns are shuffled, the dearest first."""
    table = grid("columns", "lost if\nshuffled", words=["read by"])
    for row in columns.head(MOST_GROUPS).to_dict("records"):
        readers = ", ".join(plain(name) for name in row["kernels"])
        table.add_row(Text(plain(row["group"])), spread(row, "shuffled", 100, 1), Text(readers))
    if len(columns) > MOST_GROUPS:
        table.add_row(f"{len(columns) - MOST_GROUPS} more", "", "--json shows them")
    return table
