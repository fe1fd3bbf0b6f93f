"""The columns to shuffle: those of each kernel, and those of each group that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from mklkit.datasets.encoder import TableEncoder
from mklkit.errors import SpecError, quoted, suggest
from mklkit.estimators.introspection import KernelModel, column_names, split
from mklkit.registry.columns import resolve_columns

__all__ = ["ColumnGroup", "ShufflePlan", "shuffled"]

MOST_SINGLE = 30
"""Up to this many columns are shuffled one by one where nothing else is asked for."""
WAYS = ("auto", "each", "sources")
NAMES_SHOWN = 2
TOGETHER = (
    "columns of the table are shuffled in the held-out rows, before they are encoded, those of a"
    " group by one permutation and for all kernels that read them; what the model could take from"
    " other columns instead is not lost"
)

Places = tuple[int, ...]
"""Of columns in the user's table."""


@attrs.frozen
class ColumnGroup:
    """Columns that are shuffled together, with the names of the kernels that read some of them."""

    name: str
    columns: Places
    kernels: tuple[str, ...]


@attrs.frozen(eq=False)
class ShufflePlan:
    """The columns to shuffle.

    Attributes
    ----------
    by_kernel : list of (tuple of int or None)
        The places of the columns that each kernel reads; None where they are not known.
    groups : list of ColumnGroup
    notes : list of str
    """

    by_kernel: list[Places | None]
    groups: list[ColumnGroup]
    notes: list[str]

    @classmethod
    def of(cls, model: Any, names: list[str], ways: str | Mapping[str, Any]) -> Self:
        """Return the plan for a fitted model.

        Parameters
        ----------
        model : estimator
        names : list of str
            The user's columns.
        ways : {"auto", "each", "sources"} or mapping of str to columns
            ``"each"``: every column on its own. ``"sources"``: columns that the same kernels read
            are one group. ``"auto"``: each of up to 30 columns, else sources. A mapping names
            groups of columns: names, globs or positions.

        Raises
        ------
        SpecError
            If ``ways`` is none of these.
        DataError
            If a column of a mapping does not exist.
        """
        before, last = split(model)
        reads, notes = _columns_by_kernel(before, last, names), [TOGETHER]
        kernels = dict(zip(last.kernel_names_, reads or [set()] * len(last.kernels_), strict=True))
        known = set(range(len(names))) if reads is None else set().union(*reads)
        parts = _groups(ways, names, kernels, sorted(known), reads is not None, notes)
        groups = [
            ColumnGroup(name, tuple(places), _readers(kernels, places))
            for name, places in parts.items()
        ]
        if reads is None:
            notes.append(
                "the steps before the classifier make columns that can't be traced to the table's,"
                " so it is not known which kernel reads which column"
            )
            return cls([None] * len(kernels), groups, notes)
        plan = cls([tuple(sorted(columns)) for columns in reads], groups, notes)
        notes += _sharing(kernels, plan.read_by_any)
        return plan

    @property
    def read_by_any(self) -> Places:
        """The columns that some kernel reads."""
        return tuple(sorted(set().union(*(places or () for places in self.by_kernel))))

    def of_kernel(self, kernel: int) -> Places | None:
        """Return what is shuffled for a kernel; None where that is not known, or all there is."""
        places = self.by_kernel[kernel]
        return None if places == self.read_by_any else places

    @property
    def keys(self) -> list[Places]:
        """Every set of columns to shuffle, once."""
        of_kernels = [self.of_kernel(kernel) for kernel in range(len(self.by_kernel))]
        sets = [*(group.columns for group in self.groups), *of_kernels]
        return list(dict.fromkeys(places for places in sets if places is not None))


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


def _columns_by_kernel(
    before: Pipeline | None, model: KernelModel, names: list[str]
) -> list[set[int]] | None:
    """Return the places of the user's columns that each kernel reads.

    None if the steps before make columns that cannot be traced back, as principal components.
    """
    sources = names
    if before is not None:
        encoded = [str(name) for name in _names_after(before, model, names)]
        first = before[0]
        if isinstance(first, TableEncoder) and encoded == first.feature_names_out_:
            sources = list(first.sources_)
        elif encoded != names:
            return None
    place = {name: number for number, name in enumerate(names)}
    places = np.array([place[source] for source in sources])
    return [
        set((places if columns is None else places[columns]).tolist())
        for columns in model.kernel_columns_
    ]


def _names_after(before: Pipeline, model: KernelModel, names: list[str]) -> Sequence[Any]:
    encoded: Any = column_names(model)
    if not np.issubdtype(encoded.dtype, np.integer):
        return list(encoded)
    try:
        named = hasattr(before, "feature_names_in_")
        return list(before.get_feature_names_out(None if named else names))
    except (AttributeError, TypeError, ValueError):
        # A step that does not name its columns, as scikit-learn's FunctionTransformer.
        return []


def _groups(
    ways: str | Mapping[str, Any],
    names: list[str],
    kernels: Mapping[str, set[int]],
    places: list[int],
    traced: bool,
    notes: list[str],
) -> dict[str, list[int]]:
    """Return the groups of columns by name; a note says why there are none."""
    if isinstance(ways, Mapping):
        return {str(name): _resolved(columns, names) for name, columns in ways.items()}
    if ways not in WAYS:
        raise SpecError(
            f"columns must be one of {', '.join(map(repr, WAYS))} or groups by name, as"
            f" {{'lab': 'lab_*'}}; got {quoted(ways)}.{suggest(str(ways), WAYS)}"
        )
    if ways == "each" or (ways == "auto" and len(places) <= MOST_SINGLE):
        return {names[place]: [place] for place in places}
    sources: dict[tuple[str, ...], list[int]] = {}
    for place in places:
        sources.setdefault(_readers(kernels, [place]), []).append(place)
    if not traced or len(sources) == 1:
        notes.append(
            f"the kernels' {len(places)} columns are in no groups by which kernels read them;"
            " columns='each' shuffles each column, and a mapping groups of them"
        )
        return {}
    return {
        _group_name(group, readers, names, kernels): group for readers, group in sources.items()
    }


def _readers(kernels: Mapping[str, set[int]], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(name for name, columns in kernels.items() if columns & set(places))


def _resolved(columns: Any, names: Sequence[str]) -> list[int]:
    places = resolve_columns(columns, len(names), names)
    return list(range(len(names))) if places is None else places.tolist()


def _group_name(
    places: list[int],
    readers: tuple[str, ...],
    names: Sequence[str],
    kernels: Mapping[str, set[int]],
) -> str:
    """Return the name of the only kernel that reads just these columns, else the columns."""
    alone = [name for name in readers if kernels[name] == set(places)]
    if len(alone) == 1:
        return alone[0]
    shown = ", ".join(names[place] for place in places[:NAMES_SHOWN])
    more = len(places) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _sharing(kernels: Mapping[str, set[int]], places: Places) -> list[str]:
    """Return notes on kernels that read all columns, and on those that share theirs."""
    whole = [name for name, columns in kernels.items() if columns == set(places)]
    partly = [
        name
        for name, columns in kernels.items()
        if name not in whole and len(_readers(kernels, sorted(columns))) > 1
    ]
    notes = []
    if whole:
        notes.append(
            f"{', '.join(whole)}: all columns in use are read, and shuffling them would leave"
            " nothing to predict from, so no loss is given"
        )
    if partly:
        notes.append(
            f"{', '.join(partly)}: columns are shared with other kernels, so the loss by shuffling"
            " is that of the columns in all of them, not of the kernel alone"
        )
    return notes
