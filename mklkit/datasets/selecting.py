"""Columns of a table by the selectors of kernels, before and after they are encoded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from mklkit.errors import MKLKitError
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


def leave_missing(
    encoded: pd.DataFrame,
    frame: pd.DataFrame,
    selectors: Iterable[Any],
    names: Sequence[str],
    sources: Sequence[str],
    complete: Collection[str] = (),
) -> None:
    """Set NaN where a row lacks all of the encoded columns that a selector chooses.

    Each of these ``names`` was made from one of the ``sources`` in the table ``frame``, of which
    some are ``complete``.
    """
    source_of = dict(zip(names, sources, strict=True))
    for selector in selectors:
        chosen = chosen_columns([selector], list(source_of))
        if not chosen.isdisjoint(complete):
            continue
        outputs = [name for name in encoded if name in chosen]
        inputs = frame.columns.isin([source_of[name] for name in outputs])
        missing = frame.loc[:, inputs].isna().all(axis=1).to_numpy()
        if inputs.any() and missing.any():
            encoded.loc[missing, outputs] = np.nan


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
