"""``mklkit kernels``: the similarity of kernels on given data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import say, show, show_json, working
from mklkit.cli.tables import data_line
from mklkit.cli.taking_options import takes_model_settings
from mklkit.display.numbers import number
from mklkit.display.terminal import facts_grid, terminal_table
from mklkit.estimators.model_settings import ModelSettings

if TYPE_CHECKING:
    import pandas as pd

WEAK = 0.5
MOST_ROWS = 5000
"""Rows on which kernels are compared, in seconds; more rows hardly change the alignments."""
MEASURED_ROWS = 1000
"""The same with --measures, which takes eigenvalues and quadratic programs."""


@takes_model_settings("scale", "preset", "kernels")
def kernels(
    data: opt.Data = None,
    *,
    target: opt.Target = None,
    task: opt.Task = "auto",
    drop: opt.Drop = None,
    settings: ModelSettings,
    centered: Annotated[
        bool, typer.Option("--centered", help="Centre the kernels first, K -> HKH.")
    ] = False,
    measures: Annotated[
        bool, typer.Option("--measures", help="Add each kernel's margin, radius, ranks and more.")
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show the alignment of every pair of kernels on the rows of DATA, and near-duplicates.

    Alignment is the cosine of the angle between two Gram matrices: 1 for kernels that differ by a
    factor only. Weakly correlated kernels (alignment between 0 and 0.5) have been found to combine
    best (MultiV-KMHKS, Wang and Chen 2009).
    """
    from mklkit.datasets.pipeline import DEFAULT_SCALE, advice_on
    from mklkit.estimators.from_preset import find_preset
    from mklkit.estimators.proposing import propose_kernels
    from mklkit.estimators.sources import kernels_by_source
    from mklkit.evaluation.alignment import alignment_matrix, near_duplicates
    from mklkit.evaluation.measures import kernel_measures
    from mklkit.evaluation.result_tables import measures_result
    from mklkit.evaluation.study import Roles, read_study, steps_of
    from mklkit.protocols.component import KERNELS
    from mklkit.registry.columns import are_proposed
    from mklkit.views.scaling import scaling_named

    preset = None if settings.preset is None else find_preset(settings.preset)
    chosen: Any = settings.kernels or (preset and preset.kernels) or KERNELS
    study = read_study(settings, data, Roles(target=target, drop=drop or ()), task)
    table = study.table
    notes = list(study.notes)
    steps = study.pipeline[:-1]
    scale = settings.scale or (preset and preset.scale) or DEFAULT_SCALE
    with working("comparing kernels"):
        features = steps.fit_transform(table.features)
        if chosen is KERNELS:
            chosen = kernels_by_source(features) or KERNELS
        if are_proposed(chosen):
            bank = propose_kernels(features, table.target, chosen, study.task.kinds[0])
            chosen = [(k.label, k.kernel, k.columns, k.scale) for k in bank.kernels]
            notes += bank.notes
        most, growth = (MEASURED_ROWS, "cube") if measures else (MOST_ROWS, "square")
        if len(features) > most:
            many = f"{most} rows of {len(features)}, drawn at random"
            notes.append(f"compared on {many}: the time grows with the rows' {growth}")
            features = features.sample(most, random_state=0)
        alignments = alignment_matrix(chosen, features, centered, scale)
        measured = None
        if measures:
            labels = table.target.loc[features.index] if study.task.has_classes else None
            measured = kernel_measures(chosen, features, labels, centered=centered, scale=scale)
    duplicates = near_duplicates(alignments)
    preprocessing = [
        *steps_of(table, steps),
        f"features {scaling_named(scale).words}, unless a kernel says otherwise",
    ]
    advice = advice_on(steps)
    if as_json:
        show_json(
            {
                "data": {**table.metadata(), "notes": notes},
                "preprocessing": preprocessing,
                "advice": advice,
                "centered": centered,
                "kernels": alignments.index.tolist(),
                "alignment": alignments.to_numpy().tolist(),
                "near_duplicates": [
                    {"kernels": pair, "alignment": value} for *pair, value in duplicates
                ],
                "weakly_correlated": _weak_pairs(alignments),
                "measures": None if measured is None else measured.to_dict("index"),
            }
        )
    else:
        _report(table, notes, preprocessing + advice, alignments, centered)
        if measured is not None:
            show(terminal_table(measures_result(measured)))
    for first, second, value in duplicates:
        say(
            f"warning: {first} and {second} are nearly the same on these data"
            f" (alignment {number(value, 3)}); one of them is enough.",
            style="yellow",
        )


def _weak_pairs(alignments: pd.DataFrame) -> list[list[str]]:
    """Return the pairs with an alignment above 0 and below 0.5."""
    from itertools import combinations

    names, values = alignments.index.tolist(), alignments.to_numpy(dtype=float)
    pairs = combinations(range(len(names)), 2)
    return [[names[i], names[j]] for i, j in pairs if 0 < values[i, j] < WEAK]


def _report(
    table: Any, notes: list[str], steps: list[str], alignments: pd.DataFrame, centered: bool
) -> None:
    from mklkit.evaluation.result_tables import alignment_result

    shown = "centred alignment" if centered else "alignment"
    metadata = facts_grid([data_line(table, notes), ("steps", steps), ("shown", shown)])
    show(metadata, terminal_table(alignment_result(alignments)))
    pairs = "; ".join(f"{first} with {second}" for first, second in _weak_pairs(alignments))
    below = f"with alignment below {WEAK}"
    best = "(such pairs often combine best)"
    show(f"Pairs {below} {best}: {pairs}" if pairs else f"No pairs {below} {best}.")
    if not centered:
        show(
            "kernels without negative values, such as rbf, almost always have high alignments;"
            " --centered removes what they share, as 'explain' does"
        )
