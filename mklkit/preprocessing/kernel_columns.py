"""Columns that kernels need as they are, and so neither encoded nor scaled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from mklkit.errors import MKLKitError
from mklkit.registry.columns import resolve_columns
from mklkit.registry.composing import are_proposed, bind_kernels
from mklkit.views.bound_kernels import BoundKernel

__all__ = [
    "chosen_columns",
    "kernels_in",
    "named_for_numbers",
    "needed_unchanged",
    "passed_on",
    "text_columns",
]


def kernels_in(estimator: Any) -> list[BoundKernel]:
    """Return the kernels that an estimator, search or vote was given; none of those proposed.

    Kernels that can't be made are left to ``fit``, which says what is wrong.
    """
    found = []
    for bank in _banks(estimator):
        if not are_proposed(bank):
            with suppress(MKLKitError):
                found += bind_kernels(bank)
    return found


def _banks(estimator: Any) -> Iterator[Any]:
    if getattr(estimator, "kernels", None) is not None:
        yield estimator.kernels
    grids = getattr(estimator, "param_grid", None)
    for grid in [grids] if isinstance(grids, Mapping) else grids or []:
        yield from grid.get("kernels", ())
    if getattr(estimator, "estimator", None) is not None:
        yield from _banks(estimator.estimator)


def needed_unchanged(kernels: Iterable[BoundKernel]) -> tuple[list[Any], list[Any]]:
    """Return the columns that kernels need as they are, and those of them without gaps.

    Returns
    -------
    as_they_are : list
        Columns as the kernels name them, None for all: of those that do not read numbers.
    imputed : list
        The columns of amounts whose kernels do not leave gaps out.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.kernels import Precomputed
    >>> needed_unchanged(bind_kernels(["rbf@age", ("graph", Precomputed(np.eye(2)), "id")]))
    (['id'], [])
    """
    others = [one for one in kernels if one.reads != "numbers"]
    imputed = [
        one.columns for one in others if one.reads == "amounts" and not one.facts.allows_gaps
    ]
    return [one.columns for one in others], imputed


def text_columns(kernels: Iterable[BoundKernel]) -> list[str]:
    """Return the columns, as names or globs, of kernels that read text.

    Examples
    --------
    >>> text_columns(bind_kernels(["rbf@age", "spectrum@dna"]))
    ['dna']
    """
    named = (one.columns for one in kernels if one.reads == "text")
    return [one for columns in named if isinstance(columns, str) for one in columns.split(",")]


def named_for_numbers(kernels: Iterable[BoundKernel]) -> list[tuple[str, str]]:
    """Return the columns that kernels on numbers name, each after the kernel's label.

    Examples
    --------
    >>> named_for_numbers(bind_kernels(["lab:rbf@age,lab_*", "spectrum@dna", "linear"]))
    [('lab', 'age'), ('lab', 'lab_*')]
    """
    found = []
    for kernel in kernels:
        named = kernel.columns.split(",") if isinstance(kernel.columns, str) else kernel.columns
        if kernel.reads == "numbers" and isinstance(named, list):
            found += [(kernel.label, one.strip()) for one in named if isinstance(one, str)]
    return found


def chosen_columns(selectors: Iterable[Any], names: Sequence[str]) -> set[str]:
    """Return the names of the columns that any of these selects.

    What selects none of them may select columns that are made of them, and is left to the kernels.

    Examples
    --------
    >>> sorted(chosen_columns(["a*", ["c"], "other"], ["a1", "a2", "b", "c"]))
    ['a1', 'a2', 'c']
    """
    found: set[str] = set()
    every = np.asarray(names, dtype=object)
    for selector in selectors:
        with suppress(MKLKitError):
            places = resolve_columns(selector, len(names), names)
            found.update(every if places is None else every[places])
    return found


def passed_on(
    selectors: Sequence[Any], names: Sequence[str], identifiers: Collection[str]
) -> list[str]:
    """Return the columns of a table that kernels need as they are, in their order.

    Identifiers are among them where a kernel names them, or where there are no other columns.

    Examples
    --------
    >>> passed_on(["id"], ["id", "age"], ["id"]), passed_on([None], ["id", "age"], ["id"])
    (['id'], ['age'])
    """
    found = chosen_columns([one for one in selectors if one is not None], names)
    if any(one is None for one in selectors):
        found.update([name for name in names if name not in identifiers] or names)
    return [name for name in names if name in found]
