"""The table of kernel weights, which each renderer shows in its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mklkit.display.numbers import number
from mklkit.display.table import Bar, Column, Range, ResultTable
from mklkit.errors import counted

THREE_DECIMALS = partial(number, digits=3)
ENDS = ("least", "most")


def weights_result(
    kernels: Sequence[Mapping[str, Any]],
    weights: Sequence[Sequence[float]],
    n_problems: int = 1,
    words: Sequence[Column] = (),
) -> ResultTable:
    """Return the table of kernel weights, with a bar each.

    Several binary problems, or clusters of samples, are summarized by their mean and range.

    Parameters
    ----------
    kernels : sequence of mappings
        The ``kernel``'s name, and the values of the columns ``words``.
    weights : sequence of sequences of float
        The weights of each kernel, NaN if unknown.
    n_problems : int, default=1
    words : sequence of Column, optional
    """
    n_weights = max(map(len, weights), default=1)
    parts = [counted(n_problems, "problem")] * (n_problems > 1)
    parts += ["clusters"] * (n_weights > n_problems)
    rows = [
        {**kernel, "weight": sum(values) / len(values), "least": min(values), "most": max(values)}
        for kernel, values in zip(kernels, weights, strict=True)
    ]
    columns = [Column("kernel", "name" if words else "kernel"), *words]
    if n_weights == 1:
        columns += [Column("weight", "weight", THREE_DECIMALS), Bar("weight", "")]
        return ResultTable(columns, rows)
    over = " and ".join(parts)
    columns += [
        Column("weight", "mean weight", THREE_DECIMALS, short="mean\nweight"),
        Bar("weight", "", ends=ENDS),
        Range(
            "range",
            f"range over {over}",
            THREE_DECIMALS,
            short=f"range over\n{over}",
            ends=ENDS,
        ),
    ]
    return ResultTable(columns, rows)
