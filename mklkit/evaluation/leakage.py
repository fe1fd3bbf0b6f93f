"""Reasons for optimistic scores: equal rows in both parts, and a column that gives the target."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import lgamma, log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import counted, named

LEAST_KNOWN = 0.9
"""The share of rows in which a column must have a value."""
CHANCE = 0.01
"""The largest probability allowed for any column of noise to give the target."""

Gives = Callable[[pd.Series, NDArray[Any], int], bool]
"""Whether one of a number of columns tells the target of every row by itself."""


def gives_class(column: pd.Series, labels: NDArray[Any], n_columns: int) -> bool:
    """Return whether values of a column tell the class of each row, beyond chance.

    Each value has one class, or each class an interval of values. Under noise, all N! / Π n_c!
    orders of the labels are equally likely, and a column can tell at most as many of them as there
    are ways to cut its values into such parts and to give each part a class.

    >>> labels = np.repeat(["ill", "well"], 20)
    >>> dose = pd.Series(np.r_[np.arange(20.0), 30 + np.arange(20.0)])
    >>> gives_class(dose, labels, 9), gives_class(dose % 7, labels, 9)
    (True, False)
    """
    known: NDArray[np.bool_] = column.notna().to_numpy()
    if known.sum() < LEAST_KNOWN * len(column):
        return False
    _, codes = np.unique(labels[known], return_inverse=True)
    values, n_values = _ranks(column[known])
    counts = np.bincount(codes)
    if len(counts) < 2 or len(np.unique(values * np.intp(len(counts)) + codes)) > n_values:
        return False
    n_rows, n_classes = len(codes), len(counts)
    runs = 1 + int(np.count_nonzero(np.diff(codes[np.argsort(values, kind="stable")])))
    ways = n_values * log(n_classes)
    if runs <= n_classes:
        cuts = lgamma(n_rows) - lgamma(runs) - lgamma(n_rows - runs + 1)
        ways = min(ways, runs * log(n_classes) + cuts)
    orders = lgamma(n_rows + 1) - sum(lgamma(count + 1) for count in counts)
    return log(n_columns) + ways - orders < log(CHANCE)


def gives_number(column: pd.Series, numbers: NDArray[Any], n_columns: int) -> bool:
    """Return whether numbers rise, or fall, with the values of a column in every row.

    >>> price = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5])
    >>> gives_number(pd.Series(-2 * price), price, 9), gives_number(pd.Series(price % 3), price, 9)
    (True, False)
    """
    known: NDArray[np.bool_] = column.notna().to_numpy()
    if known.sum() < LEAST_KNOWN * len(column):
        return False
    values, n_values = _ranks(column[known])
    ranks, n_ranks = _ranks(pd.Series(numbers[known]))
    if n_values != n_ranks or log(2 * n_columns) - lgamma(n_ranks + 1) > log(CHANCE):
        return False
    return bool((values == ranks).all() or (values == n_ranks - 1 - ranks).all())


def _ranks(column: pd.Series) -> tuple[NDArray[np.intp], int]:
    """Return codes of the values (n,), in their order if they have one, and how many there are."""
    values = column if pd.api.types.is_numeric_dtype(column) else column.astype(str)
    codes, names = pd.factorize(values, sort=True)
    return codes, len(names)


def leakage_notes(
    features: pd.DataFrame,
    targets: NDArray[Any],
    splits: Iterable[Iterable[NDArray[np.intp]]],
    groups: NDArray[Any] | None = None,
    gives: Gives = gives_class,
) -> list[str]:
    """Return warnings about these columns that make scores on these splits doubtful.

    O(Nd log N). Of equal rows, and of the rows of a group, which are similar, only the first
    counts towards whether a column alone ``gives`` the target, as :meth:`mklkit.plugin.Task.gives`
    says.
    """
    notes = []
    hashes = pd.util.hash_pandas_object(features, index=False).to_numpy()
    equal = [test[np.isin(hashes[test], hashes[train])] for train, test in splits]
    if n_equal := len(np.unique(np.concatenate([*equal, np.arange(0)]))):
        notes.append(
            f"{counted(n_equal, 'row')} of {len(hashes)} {'is' if n_equal == 1 else 'are'} tested"
            " after an equal row was trained on: scores are too good if these are repeats"
        )
    firsts = np.unique(hashes, return_index=True)[1]
    if groups is not None:
        firsts = firsts[np.unique(groups[firsts], return_index=True)[1]]
    some, values = features.iloc[firsts], targets[firsts]
    names = [str(name) for name in some if gives(some[name], values, some.shape[1])]
    if names:
        notes.append(
            f"{named(names)} alone {'gives' if len(names) == 1 else 'give'} the target in every"
            " row: drop columns that are known only after it"
        )
    return notes
