"""Reasons for optimistic scores: equal samples in both parts, and columns that tell the target."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import lgamma, log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from scipy.special import gammaln

from mklkit.datasets.columns import is_number_type
from mklkit.datasets.row_hashes import Hashes, hashes_of_rows
from mklkit.errors import counted, named
from mklkit.numerics.sparse import count_gaps, take_rows, values_of

LEAST_KNOWN = 0.9
"""The share of samples in which a column must have a value."""
CHANCE = 0.01
"""The largest probability allowed for any column of noise to give the target."""

BLOCK_VALUES = 1 << 20
"""The values of a block of columns that are sorted, or copied, at a time."""

Gives = Callable[[pd.DataFrame, NDArray[Any]], list[str]]
"""Returns the names of the columns that tell the target of every sample by themselves."""


def columns_giving_class(table: pd.DataFrame, labels: NDArray[Any]) -> list[str]:
    """Return the names of the columns whose values tell the class of each sample, beyond chance.

    O(Nd log N), for numbers without gaps by blocks of columns.
    """
    numeric = np.array([is_numeric_dtype(kind) for kind in table.dtypes], bool)
    complete = np.flatnonzero(numeric & (count_gaps(table) == 0))
    giving = np.zeros(table.shape[1], bool)
    step = max(1, BLOCK_VALUES // max(1, len(table)))
    for start in range(0, len(complete), step):
        places = complete[start : start + step]
        values = values_of(table.iloc[:, places])
        giving[places] = _give_class(values, labels, table.shape[1])
    for place in np.setdiff1d(np.arange(table.shape[1]), complete).tolist():
        giving[place] = gives_class(table.iloc[:, place], labels, table.shape[1])
    return [str(name) for name in table.columns[giving]]


def gives_class(column: pd.Series, labels: NDArray[Any], n_columns: int) -> bool:
    """Return whether values of a column tell the class of each sample, beyond chance.

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
    values, _ = _ranks(column[known])
    return bool(_give_class(values[:, None], labels[known], n_columns)[0])


def _give_class(values: NDArray[Any], labels: NDArray[Any], n_columns: int) -> NDArray[np.bool_]:
    """Return whether each of some columns (n, k) without gaps tells the classes (n,)."""
    codes = np.unique(labels, return_inverse=True)[1]
    counts = np.bincount(codes)
    n_rows, n_classes = len(codes), len(counts)
    if n_classes < 2:
        return np.zeros(values.shape[1], bool)
    order = np.argsort(values, axis=0, kind="stable")
    in_order = np.take_along_axis(values, order, axis=0)
    new_value = in_order[1:] != in_order[:-1]
    new_class = codes[order[1:]] != codes[order[:-1]]
    n_values = 1 + new_value.sum(axis=0)
    runs = 1 + new_class.sum(axis=0)
    cuts = gammaln(n_rows) - gammaln(runs) - gammaln(n_rows - runs + 1)
    ways = n_values * log(n_classes)
    of_runs = np.where(runs <= n_classes, runs * log(n_classes) + cuts, np.inf)
    orders = gammaln(n_rows + 1) - gammaln(counts + 1).sum()
    beyond_chance = log(n_columns) + np.minimum(ways, of_runs) - orders < log(CHANCE)
    # A value has one class if the class never changes within its samples.
    return np.asarray(beyond_chance & ~(new_class & ~new_value).any(axis=0))


def columns_giving_number(table: pd.DataFrame, numbers: NDArray[Any]) -> list[str]:
    """Return the names of the columns with whose values the numbers (N,) always rise, or fall."""
    columns = table.items()
    return [str(name) for name, column in columns if gives_number(column, numbers, table.shape[1])]


def gives_number(column: pd.Series, numbers: NDArray[Any], n_columns: int) -> bool:
    """Return whether numbers rise, or fall, with the values of a column in every sample.

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
    values = column if is_numeric_dtype(column) else column.astype(str)
    codes, names = pd.factorize(values, sort=True)
    return codes, len(names)


def _hashes(features: pd.DataFrame) -> Hashes:
    """Return a hash of each sample (N,), the same for equal samples."""
    of_numbers = np.array([is_number_type(kind) for kind in features.dtypes], bool)
    words = features.loc[:, ~of_numbers].astype(object).to_numpy()
    places, step = np.flatnonzero(of_numbers), max(1, BLOCK_VALUES // max(1, len(features)))
    blocks = (places[start : start + step] for start in range(0, len(places), step))
    return hashes_of_rows(words, (values_of(features.iloc[:, block]) for block in blocks))


def leakage_notes(
    features: pd.DataFrame,
    targets: NDArray[Any],
    splits: Iterable[Iterable[NDArray[np.intp]]],
    groups: NDArray[Any] | None = None,
    gives: Gives = columns_giving_class,
) -> list[str]:
    """Return warnings about these columns that make scores on these splits doubtful.

    O(Nd log N). Of equal samples, and of the samples of a group, which are similar, only the first
    counts towards whether a column alone ``gives`` the target, as :meth:`mklkit.plugin.Task.gives`
    tells.
    """
    notes = []
    hashes = _hashes(features)
    equal = [test[np.isin(hashes[test], hashes[train])] for train, test in splits]
    if n_equal := len(np.unique(np.concatenate([*equal, np.arange(0)]))):
        notes.append(
            f"{counted(n_equal, 'sample')} of {len(hashes)} {'is' if n_equal == 1 else 'are'}"
            " tested after an equal sample was trained on: scores are too good if these are repeats"
        )
    firsts = np.sort(np.unique(hashes, return_index=True)[1])
    if groups is not None:
        firsts = firsts[np.unique(groups[firsts], return_index=True)[1]]
    some, values = take_rows(features, firsts), targets[firsts]
    names = gives(some, values)
    if names:
        notes.append(
            f"{named(names)} alone {'gives' if len(names) == 1 else 'give'} the target in every"
            " sample: drop columns that are known only after it"
        )
    return notes
