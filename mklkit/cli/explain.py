"""``mklkit explain``: which kernels and columns matter to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import (
    announced,
    counting,
    folds_ahead,
    say,
    show,
    show_json,
    working,
)
from mklkit.cli.outputs import check_outputs, draw
from mklkit.cli.predict import files_for_model, groups_of, known_rows, weights_of
from mklkit.cli.rows_to_score import rows_to_score, targets_in_order
from mklkit.display.numbers import seconds
from mklkit.display.table import Bar
from mklkit.display.terminal import FirstThatFits, facts_grid, terminal_table

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.evaluation.sentences import Unit
    from mklkit.explanation import Explanation

MOST_GROUPS = 10
"""Groups of columns that are printed; --json shows all."""


def explain(
    model: opt.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            autocompletion=complete.data_sets,
            help="Samples with the model's columns and their targets, such as the training data.",
        ),
    ],
    *,
    source: opt.Sources = None,
    by: opt.By = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            autocompletion=complete.table_columns,
            show_default="the model's",
            help="The column of the classes or numbers.",
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            "--cv",
            metavar="FOLDSxTIMES",
            show_default="5x10",
            help="Folds: 5x4 is five folds, four times.",
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            "--score",
            metavar="NAME",
            show_default="depends on the target",
            help="The score whose changes are shown, as scikit-learn calls it: roc_auc, r2 …",
        ),
    ] = None,
    split_column: opt.SplitColumn = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="COLUMN",
            autocompletion=complete.table_columns,
            show_default="the model's, if it was fitted with groups",
            help="A column that groups samples, such as 'patient': no group is on both sides of a"
            " split.",
        ),
    ] = None,
    ignore_groups: Annotated[
        bool,
        typer.Option(
            "--ignore-groups",
            help="Split samples as if they were independent, although the model was fitted with"
            " groups.",
        ),
    ] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="COLUMN",
            autocompletion=complete.table_columns,
            show_default="the model's, if it was fitted with weights",
            help="A column of sample weights in the fits; scores count all samples equally.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often columns are permuted in each fold.")
    ] = 5,
    columns: Annotated[
        Literal["auto", "each", "sources"],
        typer.Option(
            help="What is permuted at once: columns, or sources (columns that the same kernels"
            " read); auto: columns if there are at most 30, else sources. Of kernels with over 200"
            " columns, each fit measures the 50 with the largest gradient."
        ),
    ] = "auto",
    max_rows: Annotated[
        int,
        typer.Option(min=2, metavar="ROWS", help="Use at most ROWS samples, drawn at random."),
    ] = 5000,
    plot: Annotated[
        Path | None,
        opt.output_option(
            help="Plot the weights, and the score with each kernel alone and without it, to a .png,"
            " .pdf or .svg.",
        ),
    ] = None,
    plot_columns: Annotated[
        Path | None,
        opt.output_option(help="Plot the top columns of each kernel, to a .png, .pdf or .svg."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Kernels to leave out together, as in mrna,protein, one more fit per fold. May be"
            " repeated. Up to three groups of similar kernels (alignment above 0.9), and the"
            " kernels that are informative alone and not lost, are also tried as groups.",
        ),
    ] = None,
    margin: opt.Margin = None,
    as_fitted: Annotated[
        bool,
        typer.Option(
            "--as-fitted",
            help="Keep the parameters and kernels that the model chose on all samples, by --tune"
            " or auto, instead of choosing them again in each fit. Faster, but scores are"
            " optimistic.",
        ),
    ] = False,
    seed: opt.Seed = 0,
    time_limit: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="After TIME, such as 90s, 10m or 2h, begin no further repetition of the folds; at"
            " least one is finished.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show which kernels and columns matter: by weight, alone, without it or permuted.

    The model is fitted again on folds of DATA: with all kernels, with each one alone, without each
    one, and without groups of similar or named ones. Of three or more kernels that takes
    FOLDS x (1 + 2 x KERNELS + GROUPS) fits, each with the model's search if it was tuned.
    """
    from mklkit.errors import SpecError
    from mklkit.estimators.search_record import with_search
    from mklkit.evaluation.equivalence import MARGIN, margin_of
    from mklkit.explanation import explain as explained
    from mklkit.explanation.explaining import IGNORED, explained_task
    from mklkit.persistence import faults_of_file, load_model, read_metadata
    from mklkit.persistence.metadata import targets_of
    from mklkit.protocols.splits.making import PartsColumn, requested

    if groups is not None and ignore_groups:
        raise SpecError(
            "Samples are kept together by --groups or split by --ignore-groups: leave out one."
        )
    share = MARGIN if margin is None else margin_of(margin)
    with working("loading the model"):
        pipeline, metadata = load_model(model), read_metadata(model)
        pipeline = with_search(pipeline, metadata.get("search"))
    studied = files_for_model(metadata, data, source, by)
    check_outputs([], [studied], model, [plot, plot_columns])
    with faults_of_file(model):
        task = explained_task(pipeline)
        trained = None if ignore_groups else groups_of(metadata)
        requested(cv, None, None, split_column, groups or trained)
        targets = targets_in_order(target, targets_of(metadata))
        selectors = targets, groups or trained, split_column, trained
        weighed = weights, weights_of(metadata)
        scored = rows_to_score(studied, pipeline, task, model, *selectors, True, weighed)
        notes = [*scored.notes, *(_on_ignored_groups(metadata) if ignore_groups else [])]
        folds: Any = cv
        if scored.parts is not None:
            folds = PartsColumn(scored.parts.to_numpy(), str(split_column))
            ahead = f"the split in column {split_column}"
            notes.append(f"the split in column {split_column!r}")
        else:
            ahead = folds_ahead(cv)
            notes += _on_the_models_split(pipeline, metadata, scored.features, scored.ids)
        ahead = f"{ahead}; {_fits_ahead(pipeline, scored.groups is not None, as_fitted)}"
        with counting("fits and permutations") as tell:
            progress = announced(tell, "{total:,} fits and permutations: " + ahead)
            explanation = explained(
                pipeline,
                scored.features,
                scored.truth(task),
                cv=folds,
                groups=IGNORED if ignore_groups else scored.groups,
                sample_weight=scored.weights,
                score=score,
                repeats=repeats,
                columns=columns,
                max_rows=max_rows,
                random_state=seed,
                without=without,
                margin=share,
                as_fitted=as_fitted,
                time_limit=time_limit,
                progress=progress,
            )
    if plot is not None:
        draw(plot, explanation.plot)
    if plot_columns is not None:
        draw(plot_columns, explanation.plot_columns)
    if as_json:
        context = {
            "model": str(model),
            "data": data,
            "target": ", ".join(map(str, scored.targets)),
            "seed": seed,
        }
        show_json({**context, "data_notes": notes, **explanation.to_dict()})
    else:
        _report(explanation, data, scored.targets, notes)
    for picture in (plot, plot_columns):
        if picture is not None:
            say(f"drew {picture}")


def _on_ignored_groups(metadata: dict[str, Any]) -> list[str]:
    """Return a note if the model was fitted with groups, which are ignored."""
    from mklkit.errors import quoted

    grouped = groups_of(metadata)
    if grouped is None:
        return []
    return [
        "samples are treated as independent, although the model was fitted with groups in column"
        f" {quoted(grouped)}: scores may be too high"
    ]


def _on_the_models_split(
    pipeline: Any, metadata: dict[str, Any], rows: pd.DataFrame, ids: pd.Series | None
) -> list[str]:
    """Return a note if the folds mix the samples of a column's split, of which the model knows."""
    from mklkit.protocols.splits.making import OF_COLUMN

    split = str(metadata.get("split"))
    if not split.startswith(OF_COLUMN):
        return []
    training = known_rows(pipeline, metadata)
    training.add(rows, ids)
    if not training.sentences():
        return []
    return [
        f"the model was scored on {split}, whose training and test samples share folds here:"
        " --split-column keeps them apart"
    ]


def _fits_ahead(pipeline: Any, grouped: bool, as_fitted: bool) -> str:
    """Return how many fits a fold takes, and what each of them searches again."""
    from mklkit.explanation.ablations import fits_ahead
    from mklkit.explanation.refitting import members_of
    from mklkit.explanation.searching import Choice

    model = members_of(pipeline)[0]
    n_sources = 0 if as_fitted else len(model.fitted_.plan.sources)
    # The kernels of a lone source are not chosen again.
    fits = fits_ahead(n_sources if n_sources > 1 else len(model.kernel_names_))
    choice = Choice.of(pipeline, grouped)
    if as_fitted or not choice.repeats:
        return fits
    return f"{fits}, each with {choice.words} (--as-fitted keeps its choice)"


def _report(explanation: Explanation, data: str, truth: pd.DataFrame, notes: list[str]) -> None:
    from mklkit.errors import counted, listed
    from mklkit.evaluation.result_tables import alignment_result
    from mklkit.explanation.ablations import ALIKE
    from mklkit.explanation.result_tables import effects_result, groups_result, together_result

    by_subject = explanation.notes.groupby("about")["note"]
    remarks = {str(about): list(sentences) for about, sentences in by_subject}
    described = f"{data}: {counted(len(truth), 'sample')}, target {listed(list(truth))}"
    kernels, columns = explanation.kernels, explanation.columns
    summary = [explanation.summary(), *remarks.get("score", [])]
    show(facts_grid([(explanation.unit.score, summary)]))
    show(_kernels_table(kernels, explanation.unit))
    if len(explanation.together):
        show(terminal_table(together_result(explanation.together, explanation.unit)))
    verdicts = [about for about in ("ablation", "together", "alone", "have it") if about in remarks]
    show(facts_grid([(about, remarks[about]) for about in verdicts]))
    # Groups that are the kernels' sources are in their table already.
    if len(columns) and (len(columns) != len(kernels) or columns["kernels"].map(len).ne(1).any()):
        groups = groups_result(columns, explanation.unit)
        groups = groups.keeping(lambda column: not isinstance(column, Bar))
        show(terminal_table(groups.first(MOST_GROUPS, "(--json shows them)")))
    if len(explanation.effects):
        show(terminal_table(effects_result(explanation.effects, len(explanation.scores) == 1)))
    if (explanation.alignment.to_numpy() > ALIKE).sum() > len(kernels):
        alike = terminal_table(alignment_result(explanation.alignment))
        show(alike, facts_grid([("alike", remarks["alike"])]))
    metadata = [
        ("data", [described, *notes, *remarks.get("incomplete", [])]),
        ("how", remarks["rows"]),
    ]
    others = ("weights", "permuted", "screened", "effects")
    show(
        facts_grid([*metadata, *((about, remarks[about]) for about in others if about in remarks)])
    )
    show(seconds(explanation.seconds))


def _kernels_table(kernels: pd.DataFrame, unit: Unit) -> FirstThatFits:
    """Return weight and losses per kernel; on a narrow terminal without details and spreads."""
    from mklkit.explanation.result_tables import DETAILS, kernels_result

    table = kernels_result(kernels, unit).keeping(lambda column: not isinstance(column, Bar))
    fewer = table.without(*DETAILS)
    means = attrs.evolve(fewer, columns=[attrs.evolve(c, deviation="") for c in fewer.columns])
    return FirstThatFits.of([table, fewer, means])
