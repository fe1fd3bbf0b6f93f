"""``mklkit kernels``: the similarity of kernels on given data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.building import ModelOptions, build_model, read_data, steps_of
from mklkit.cli.console import say, show, show_json, working

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["kernels"]

WEAK = 0.5
MOST_ROWS = 5000
"""Rows on which kernels are compared, in seconds; more rows hardly change the alignments."""


def kernels(
    data: opt.Data = None,
    *,
    target: opt.Target = None,
    drop: opt.Drop = None,
    scale: opt.ScaleOption = None,
    preset: opt.Preset = None,
    specs: opt.Kernels = None,
    centered: Annotated[
        bool, typer.Option("--centered", help="Centre the kernels first, K -> HKH.")
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show the alignment of every pair of kernels on the rows of DATA, and near-duplicates.

    Alignment is the cosine of the angle between two Gram matrices: 1 for kernels that differ by a
    factor only. Weakly correlated kernels (alignment between 0 and 0.5) have been found to combine
    best (MultiV-KMHKS, paper 002 of the documentation).
    """
    from mklkit.estimators.from_preset import find_preset
    from mklkit.estimators.proposing import propose_kernels
    from mklkit.evaluation.alignment import alignment_matrix, near_duplicates
    from mklkit.protocols.defaults import KERNELS
    from mklkit.registry.composing import are_proposed

    options = ModelOptions(specs, None, None, None, "ovo", "per-problem", preset, scale, 0, None)
    pipeline = build_model(options)
    steps = pipeline[:-1]
    of_preset = find_preset(preset).kernels if preset is not None else None
    chosen: Any = specs or of_preset or KERNELS
    table, data_facts = read_data(pipeline, data, target, drop, specs)
    with working("comparing kernels"):
        features = steps.fit_transform(table.features)
        if are_proposed(chosen):
            bank = propose_kernels(features, table.target)
            chosen = bank.kernels
            data_facts["notes"] += bank.notes
        if len(features) > MOST_ROWS:
            data_facts["notes"].append(
                f"compared on {MOST_ROWS} rows of {len(features)}, drawn at random: the time for"
                " alignments grows with the square of the number of rows"
            )
            features = features.sample(MOST_ROWS, random_state=0)
        found = alignment_matrix(chosen, features, centered=centered)
    duplicates = near_duplicates(found)
    if as_json:
        show_json(_as_json(data_facts, steps_of(table, steps), found, duplicates, centered))
    else:
        _report(table, data_facts["notes"], steps_of(table, steps), found, centered)
    for first, second, value in duplicates:
        say(
            f"warning: {first} and {second} are nearly the same on these data"
            f" (alignment {value:.3f}); one of them is enough.",
            style="yellow",
        )


def _as_json(
    data: dict[str, Any],
    steps: list[str],
    found: pd.DataFrame,
    duplicates: list[tuple[str, str, float]],
    centered: bool,
) -> dict[str, Any]:
    return {
        "data": data,
        "preprocessing": steps,
        "centered": centered,
        "kernels": found.index.tolist(),
        "alignment": found.to_numpy().tolist(),
        "near_duplicates": [
            {"kernels": [first, second], "alignment": value} for first, second, value in duplicates
        ],
        "weakly_correlated": [list(pair) for pair in _weak_pairs(found)],
    }


def _weak_pairs(found: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs with an alignment above 0 and below 0.5."""
    from itertools import combinations

    names = [str(name) for name in found.index]
    values = found.to_numpy(dtype=float)
    pairs = combinations(range(len(names)), 2)
    return [(names[i], names[j]) for i, j in pairs if 0 < values[i, j] < WEAK]


def _report(
    table: Any, notes: list[str], steps: list[str], found: pd.DataFrame, centered: bool
) -> None:
    from mklkit.cli.report import alignment_grid, facts_grid

    measure = "centred alignment" if centered else "alignment"
    lines: list[tuple[str, str | list[str]]] = [
        ("data", [f"{table.summary()} ({table.origin})", *notes]),
        ("steps", steps),
        ("shown", measure),
    ]
    show(facts_grid(lines), alignment_grid(found))
    pairs = _weak_pairs(found)
    if len(found) < 2:
        show("there is only one kernel, so there is nothing to compare")
    elif pairs:
        named = "; ".join(f"{first} with {second}" for first, second in pairs)
        show(f"weakly correlated (alignment between 0 and 0.5), which often combine best: {named}")
    else:
        show(
            "no pair is weakly correlated (alignment between 0 and 0.5); such pairs often combine"
            " best: try widths or columns that differ more"
        )
    if len(found) > 1 and not centered:
        show(
            "alignments of kernels without negative values, such as rbf, are high for almost any"
            " two; --centered takes out what they share, as 'explain' does"
        )
