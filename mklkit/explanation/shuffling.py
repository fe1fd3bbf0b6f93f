"""Which columns are shuffled: those of each kernel, and those of each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from mklkit.estimators.introspection import split
from mklkit.explanation.column_groups import ColumnGroup, columns_by_kernel, group_columns

__all__ = ["ShufflePlan"]

TOGETHER = (
    "columns of the table are shuffled in the held-out rows, before they are encoded, those of a"
    " group by one permutation and for all kernels that read them; what the model could take from"
    " other columns instead is not lost"
)


@attrs.frozen(eq=False)
class ShufflePlan:
    """The columns to shuffle.

    Attributes
    ----------
    by_kernel : list of (tuple of int or None)
        The places of the columns that each kernel reads; None where they are not known.
    groups : list of ColumnGroup
    of_kernels : list of (tuple of int or None)
        What is shuffled for each kernel; None where nothing is.
    notes : list of str
    """

    by_kernel: list[tuple[int, ...] | None]
    groups: list[ColumnGroup]
    of_kernels: list[tuple[int, ...] | None]
    notes: list[str]

    @classmethod
    def of(cls, model: Any, names: list[str], columns: str | Mapping[str, Any]) -> ShufflePlan:
        """Return the plan for a fitted model; ``columns`` as for :func:`group_columns`."""
        before, classifier = split(model)
        labels = list(classifier.kernel_names_)
        found = columns_by_kernel(before, classifier, names)
        groups, notes = group_columns(columns, names, found, labels)
        notes.insert(0, TOGETHER)
        if found is None:
            notes.append(
                "the steps before the classifier make columns that can't be traced to the table's,"
                " so it is not known which kernel reads which column"
            )
            return cls([None] * len(labels), groups, [None] * len(labels), notes)
        every = set().union(*found)
        sharing = [name for name, seen in zip(labels, found, strict=True) if seen == every]
        if sharing:
            notes.append(
                f"{', '.join(sharing)}: all columns in use are read, and shuffling them would leave"
                " nothing to predict from, so no loss is given"
            )
        placed = [tuple(sorted(seen)) for seen in found]
        shuffled = [None if seen == every else tuple(sorted(seen)) for seen in found]
        notes += _shared_notes(labels, found, every)
        return cls(list(placed), groups, list(shuffled), notes)

    @property
    def keys(self) -> list[tuple[int, ...]]:
        """Every set of columns to shuffle, once."""
        asked = [*(group.columns for group in self.groups), *self.of_kernels]
        return list(dict.fromkeys(key for key in asked if key is not None))


def _shared_notes(labels: list[str], found: list[set[int]], every: set[int]) -> list[str]:
    """Return a note if kernels with columns of their own share some of them with others."""
    sharing = [
        name
        for place, (name, seen) in enumerate(zip(labels, found, strict=True))
        if seen != every and any(seen & other for i, other in enumerate(found) if i != place)
    ]
    if not sharing:
        return []
    return [
        f"{', '.join(sharing)}: columns are shared with other kernels, so the loss by shuffling is"
        " that of the columns in all of them, not of the kernel alone"
    ]
