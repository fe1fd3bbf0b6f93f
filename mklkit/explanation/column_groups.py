"""The user's columns, the kernels that read them, and tables with some of them shuffled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from mklkit.errors import SpecError, quoted, suggest
from mklkit.estimators.introspection import KernelModel, column_names
from mklkit.preprocessing import TableEncoder
from mklkit.registry.columns import resolve_columns

__all__ = ["ColumnGroup", "columns_by_kernel", "group_columns", "shuffled"]

MOST_SINGLE = 30
"""Up to this many columns are shuffled one by one where nothing else is asked for."""
WAYS = ("auto", "each", "sources")
NAMES_SHOWN = 2


@attrs.frozen
class ColumnGroup:
    """Columns that are shuffled together, by one permutation of the rows.

    Attributes
    ----------
    columns : tuple of int
        Their places in the user's table.
    kernels : tuple of str
        The kernels that read some of them.
    """

    name: str
    columns: tuple[int, ...]
    kernels: tuple[str, ...]


def columns_by_kernel(
    before: Pipeline | None, classifier: KernelModel, names: Sequence[str]
) -> list[set[int]] | None:
    """Return the places of the user's columns that each kernel reads.

    Parameters
    ----------
    before : Pipeline or None
        The fitted steps before the classifier.
    classifier : KernelModel
        Fitted.
    names : sequence of str
        The user's columns.

    Returns
    -------
    list of M sets, or None
        None if the steps make columns that cannot be traced back, as principal components.
    """
    sources = _sources(before, classifier, names)
    if sources is None:
        return None
    place = {name: number for number, name in enumerate(names)}
    of_input = np.array([place[source] for source in sources])
    return [
        set((of_input if columns is None else of_input[columns]).tolist())
        for columns in classifier.kernel_columns_
    ]


def _sources(
    before: Pipeline | None, classifier: KernelModel, names: Sequence[str]
) -> list[str] | None:
    """Return the user's column from which each of the classifier's columns comes."""
    if before is None:
        return list(names)
    made = [str(name) for name in _names_after(before, classifier, names)]
    first = before[0]
    if isinstance(first, TableEncoder) and made == first.feature_names_out_:
        return list(first.sources_)
    return list(names) if made == list(names) else None


def _names_after(
    before: Pipeline, classifier: KernelModel, names: Sequence[str]
) -> Sequence[Any] | NDArray[Any]:
    own = column_names(classifier)
    if not np.issubdtype(own.dtype, np.integer):
        return own
    try:
        return before.get_feature_names_out(None if hasattr(before, "feature_names_in_") else names)
    except (AttributeError, TypeError, ValueError):
        # A step that does not name its columns, as scikit-learn's FunctionTransformer.
        return []


def group_columns(
    ways: str | Mapping[str, Any],
    names: Sequence[str],
    by_kernel: Sequence[set[int]] | None,
    kernel_names: Sequence[str],
) -> tuple[list[ColumnGroup], list[str]]:
    """Return the groups of columns to shuffle, and notes on the choice.

    Parameters
    ----------
    ways : {"auto", "each", "sources"} or mapping of str to columns
        ``"each"``: every column on its own. ``"sources"``: columns that the same kernels read are
        one group. ``"auto"``: each of up to 30 columns, else sources. A mapping names groups of
        columns: names, globs or positions.
    names : sequence of str
        The user's columns.
    by_kernel : as :func:`columns_by_kernel` returns them
    kernel_names : sequence of str

    Raises
    ------
    SpecError
        If ``ways`` is none of these.
    DataError
        If a column of a mapping does not exist.
    """
    reads: list[set[int]] = [set()] * len(kernel_names) if by_kernel is None else list(by_kernel)
    every = range(len(names)) if by_kernel is None else sorted(set().union(*reads))

    def group(name: str, places: Sequence[int]) -> ColumnGroup:
        wanted = set(places)
        pairs = zip(kernel_names, reads, strict=True)
        return ColumnGroup(name, tuple(places), tuple(own for own, seen in pairs if seen & wanted))

    if isinstance(ways, Mapping):
        return [group(str(name), _places(columns, names)) for name, columns in ways.items()], []
    if ways not in WAYS:
        raise SpecError(
            f"columns must be one of {', '.join(map(repr, WAYS))} or groups by name, as"
            f" {{'lab': 'lab_*'}}; got {quoted(ways)}.{suggest(str(ways), WAYS)}"
        )
    if ways == "each" or (ways == "auto" and len(every) <= MOST_SINGLE):
        return [group(names[place], [place]) for place in every], []
    if by_kernel is None:
        return [], [
            f"{len(every)} columns were not shuffled one by one; columns='each' does so, and a"
            " mapping shuffles groups of them"
        ]
    parts: dict[tuple[bool, ...], list[int]] = {}
    for place in every:
        parts.setdefault(tuple(place in seen for seen in reads), []).append(place)
    if len(parts) == 1:
        return [], [
            f"the kernels share all {len(every)} columns, so there are no groups to shuffle;"
            " columns='each' shuffles each column, and a mapping groups of them"
        ]
    found = [
        group(_group_name(key, places, names, kernel_names, reads), places)
        for key, places in parts.items()
    ]
    return found, []


def _places(columns: Any, names: Sequence[str]) -> list[int]:
    found = resolve_columns(columns, len(names), names)
    return list(range(len(names))) if found is None else found.tolist()


def _group_name(
    key: tuple[bool, ...],
    places: list[int],
    names: Sequence[str],
    kernel_names: Sequence[str],
    reads: Sequence[set[int]],
) -> str:
    """Return the name of the only kernel that reads just these columns, else the columns."""
    own = [
        name
        for name, seen, is_read in zip(kernel_names, reads, key, strict=True)
        if is_read and seen == set(places)
    ]
    if len(own) == 1:
        return own[0]
    shown = ", ".join(names[place] for place in places[:NAMES_SHOWN])
    more = len(places) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def shuffled(rows: pd.DataFrame, places: Sequence[int], order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the rows with the values of some columns in another order, the same for all of them.

    Examples
    --------
    >>> rows = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    >>> shuffled(rows, [0, 1], np.array([1, 0])).to_numpy().tolist()
    [[2, 4, 5], [1, 3, 6]]
    """
    changed = rows.copy(deep=False)
    for place in places:
        changed.isetitem(place, rows.iloc[:, place].array.take(order))
    return changed
