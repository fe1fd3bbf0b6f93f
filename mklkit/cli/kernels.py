"""``mklkit kernels``: how alike kernels are on some data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.building import read_data, steps_of
from mklkit.cli.console import say, show, show_json, working

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["kernels"]

WEAK = 0.5


def kernels(
    data: opt.Data = None,
    *,
    target: opt.Target = None,
    drop: opt.Drop = None,
    scale: opt.ScaleOption = None,
    specs: opt.Kernels = None,
    centered: Annotated[
        bool, typer.Option("--centered", help="Centre the kernels first, K -> HKH.")
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show the alignment of every pair of kernels on the rows of DATA, and near-duplicates.

    Alignment is the cosine of the angle between two Gram matrices: 1 for kernels that differ by a
    factor only. Paper 002 found that weakly correlated kernels (between 0 and 0.5) combine best.
    """
    from mklkit.evaluation.alignment import alignment_matrix, near_duplicates
    from mklkit.preprocessing.pipeline import DEFAULT_SCALE, build_pipeline
    from mklkit.registry.composing import DEFAULT_KERNELS, bind_kernels

    chosen = list(specs or DEFAULT_KERNELS)
    bind_kernels(chosen)
    steps = build_pipeline("passthrough", scale=scale or DEFAULT_SCALE)[:-1]
    table, data_facts = read_data(steps, data, target, drop)
    with working("comparing kernels"):
        features = steps.fit_transform(table.features)
        found = alignment_matrix(chosen, features, centered=centered)
    duplicates = near_duplicates(found)
    if as_json:
        show_json(_as_json(data_facts, steps_of(table, steps), found, duplicates, centered))
    else:
        _report(table, steps_of(table, steps), found, centered)
    for first, second, value in duplicates:
        say(
            f"warning: {first} and {second} are nearly the same on these data"
            f" (alignment {value:.3f}); one of them will do.",
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


def _report(table: Any, steps: list[str], found: pd.DataFrame, centered: bool) -> None:
    from mklkit.cli.report import alignment_grid, facts_grid

    measure = "centred alignment" if centered else "alignment"
    lines: list[tuple[str, str | list[str]]] = [
        ("data", f"{table.summary()} ({table.origin})"),
        ("steps", steps),
        ("shown", measure),
    ]
    show(facts_grid(lines), alignment_grid(found))
    pairs = _weak_pairs(found)
    if len(found) < 2:
        show("one kernel has nothing to be compared with")
    elif pairs:
        named = "; ".join(f"{first} with {second}" for first, second in pairs)
        show(f"weakly correlated (0 < A < 0.5), which paper 002 found to combine best: {named}")
    else:
        show(
            "no pair is weakly correlated (0 < A < 0.5); paper 002 found that such pairs combine"
            " best: try widths or columns that differ more"
        )
