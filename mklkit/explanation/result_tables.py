"""The tables of an explanation, which each renderer shows in its way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mklkit.display import numbers
from mklkit.display.table import Bar, Column, ResultTable, Row
from mklkit.evaluation.sentences import joined
from mklkit.explanation.effects import is_bounded

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.evaluation.sentences import Unit

THREE_DECIMALS = partial(numbers.number, digits=3)
WHOLE_PERCENT = partial(numbers.percentage, digits=0)
SIZED = 0.001
"""The least difference between a weight and weight × size that is seen in the table."""
DETAILS = ("row_spread", "sized_weight")
"""Columns for which a narrow terminal lacks the space."""
MOST_TOP = 3
"""Columns of each kernel that are shown with their effects."""


def kernels_result(kernels: pd.DataFrame, unit: Unit) -> ResultTable:
    """Return the weight of each kernel, and the score alone, without it and with it permuted."""
    columns = [
        Column("kernel", "kernel"),
        Column("weight", "weight", THREE_DECIMALS, deviation="weight_std"),
        Bar("weight", ""),
    ]
    if (kernels["chosen"] < 1).any():
        columns.append(Column("chosen", "in folds", WHOLE_PERCENT, short="in\nfolds"))
    if kernels["row_spread"].notna().any():
        columns.append(Column("row_spread", "over samples", _plus_minus, short="over\nsamples"))
    if ((kernels["sized_weight"] - kernels["weight"]).abs() >= SIZED).any():
        columns.append(
            Column("sized_weight", "sized weight", THREE_DECIMALS, short="sized\nweight")
        )
    columns.append(_change("alone", "alone, vs", "guessing", unit))
    columns.append(_change("left_out", "without", "it", unit))
    if "have" in kernels:
        columns.append(_change("have", "on samples", "that have it", unit))
    columns.append(_change("shuffled", "columns", "permuted", unit))
    return ResultTable(columns, _records(kernels))


def together_result(groups: pd.DataFrame, unit: Unit) -> ResultTable:
    """Return the change in the score without groups of kernels."""
    names = [joined(kernels) for kernels in groups["kernels"]]
    columns = [Column("names", "together"), _change("left_out", "without", "them", unit)]
    return ResultTable(columns, _records(groups.assign(names=names)))


def groups_result(groups: pd.DataFrame, unit: Unit) -> ResultTable:
    """Return the change in the score when columns are permuted, and which kernels read them."""
    lost = (-groups["shuffled"]).clip(lower=0.0)
    readers = [", ".join(map(str, names)) for names in groups["kernels"]]
    columns = [
        Column("group", "columns"),
        _change("shuffled", "when", "permuted", unit),
        Bar("length", ""),
        Column("readers", "read by"),
    ]
    if "selected" in groups:
        columns.insert(1, Column("selected", "selected", WHOLE_PERCENT))
    return ResultTable(columns, _records(groups.assign(length=lost, readers=readers)))


def effects_result(effects: pd.DataFrame, single: bool = False) -> ResultTable:
    """Return the columns of each kernel that are selected most, and how often over folds.

    A ``single`` split has no such share.
    """
    columns = [
        Column("kernel", "kernel"),
        Column("column", "column"),
        Column("effect", "effect", THREE_DECIMALS, deviation="effect_std"),
    ]
    if not single:
        columns += [
            Column("frequency", "selected", WHOLE_PERCENT),
            Column("top", "in top", numbers.whole),
            Column("chance", "noise", WHOLE_PERCENT),
        ]
    top = effects.groupby("kernel", sort=False).head(MOST_TOP)
    if not single and is_bounded(top).any():
        # Of a kernel with few columns, p could never be small.
        top = top.assign(p_chance=top["p_chance"].where(is_bounded(top)))
        two_digits = partial(numbers.number, digits=2)
        columns.append(Column("p_chance", "p at most", two_digits, short="p at\nmost", absent=""))
    return ResultTable(columns, _records(top), section="kernel")


def _change(key: str, first: str, second: str, unit: Unit) -> Column:
    return Column(
        key,
        f"{first} {second}",
        unit.change_in_table,
        unit.of_changes,
        f"{first}\n{second}",
        deviation=f"{key}_std",
        write_deviation=unit.number,
    )


def _plus_minus(value: float) -> str:
    return f"± {numbers.number(value, 3)}"


def _records(table: pd.DataFrame) -> list[Row]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
