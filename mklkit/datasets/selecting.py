"""Columns of a table by the selectors of kernels, before and after they are encoded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import MKLKitError
from mklkit.numerics.sparse import as_matrix, sparse_frame, without_values
from mklkit.registry.columns import resolve_columns


def chosen_columns(selectors: Iterable[Any], names: Sequence[str]) -> set[str]:
    """Return the columns that any of these selects; others may select their encoded columns."""
    chosen: set[str] = set()
    every = np.asarray(names, dtype=object)
    for selector in selectors:
        with suppress(MKLKitError):
            places = resolve_columns(selector, len(names), names)
            chosen.update(every if places is None else every[places])
    return chosen


Lack = tuple[set[str], NDArray[np.bool_]]
"""Columns of a source, and which rows (n,) have none of them."""


def missing_by_source(
    frame: pd.DataFrame,
    selectors: Iterable[Any],
    names: Sequence[str],
    sources: Sequence[str],
    without: Collection[str] = (),
) -> list[Lack]:
    """Return the encoded columns that each selector chooses, and which samples miss all of them.

    Each of these ``names`` was made from one of the ``sources`` in the table ``frame``; those
    ``without`` a part in it do not count. Selectors whose columns no row lacks are dropped.
    """
    source_of = dict(zip(names, sources, strict=True))
    lacks = []
    for selector in selectors:
        outputs = chosen_columns([selector], list(source_of)).difference(without)
        inputs = frame.columns.isin([source_of[name] for name in outputs])
        missing = without_values(frame.loc[:, inputs])
        if inputs.any() and missing.any():
            lacks.append((outputs, missing))
    return lacks


def leave_missing(encoded: pd.DataFrame, lacks: Iterable[Lack]) -> None:
    """Set NaN where samples miss all columns of a source."""
    for columns, missing in lacks:
        outputs = [name for name in encoded if name in columns]
        encoded.loc[missing, outputs] = np.nan


def sparse_and_missing(
    frame: pd.DataFrame, lacks: Iterable[Lack], medians: NDArray[np.float64]
) -> pd.DataFrame:
    """Return sparse columns with medians (k,) in their gaps, except where samples miss a source."""
    matrix = as_matrix(frame)
    gaps = np.flatnonzero(np.isnan(matrix.data))
    rows, columns = matrix.row[gaps], matrix.col[gaps]
    filled = np.ones(len(gaps), bool)
    for names, missing in lacks:
        filled &= ~(frame.columns.isin(names)[columns] & missing[rows])
    if not filled.any():
        return frame
    matrix.data[gaps[filled]] = medians[columns[filled]]
    stored = matrix.tocsc()
    stored.eliminate_zeros()
    return sparse_frame(stored, frame.columns.tolist(), frame.index)


def passed_on(
    selectors: Sequence[Any], names: Sequence[str], identifiers: Collection[str]
) -> list[str]:
    """Return the columns of a table that kernels need unchanged, in their order.

    Identifiers are among them if a kernel names them, or if there are no other columns.

    >>> passed_on(["id"], ["id", "age"], ["id"]), passed_on([None], ["id", "age"], ["id"])
    (['id'], ['age'])
    """
    chosen = chosen_columns([selector for selector in selectors if selector is not None], names)
    if any(selector is None for selector in selectors):
        chosen.update([name for name in names if name not in identifiers] or names)
    return [name for name in names if name in chosen]
