"""The scored samples, and the columns to permute: those of each kernel and of each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from mklkit.datasets.columns import without_value
from mklkit.datasets.encoder import TableEncoder
from mklkit.datasets.pipeline import encoder_in
from mklkit.errors import DataError, SpecError, counted, named, quoted, suggest
from mklkit.estimators.introspection import KernelModel, column_names, split
from mklkit.estimators.joining import one_table
from mklkit.estimators.training_data import checked_groups, checked_row_weights
from mklkit.numerics.sparse import refuse_sparse, without_values
from mklkit.protocols import Array, Rows, RowSource, Task
from mklkit.protocols.splits.making import HoldOut
from mklkit.registry.columns import resolve_columns
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.rows import is_dask

MOST_SINGLE = 30
"""Up to this many columns are permuted one by one by default."""
WAYS = ("auto", "each", "sources")
MOST_MEASURED = 200
"""Of kernels with more columns, each fit measures those that a screen selects."""
NAMES_SHOWN = 2
TOGETHER = (
    "columns of the table are permuted in the held-out samples, before they are encoded, those of a"
    " group by one permutation and for all kernels that read them; the models stay as they are, so"
    " columns that hold the same information may each cost accuracy, although a refit would not"
    " need both; their intervals of 95 % are not adjusted for the number of columns"
)
UNTRACED = (
    "the columns after the steps before the classifier can't be traced to those of the table, so"
    " it is unknown which kernel reads which column"
)

Places = tuple[int, ...]
"""Positions of columns in the user's table."""


@attrs.frozen(eq=False)
class ShufflePlan:
    """The columns to permute.

    ``names`` are the user's columns, ``reads`` those that each kernel reads (None if they can't
    be traced), ``groups`` the columns to permute together, by the name of the group, and
    ``screened`` those that are permuted in the fits whose screen selects them.
    """

    names: list[str]
    reads: dict[str, Places | None]
    groups: dict[str, Places] = attrs.field(factory=dict)
    notes: list[str] = attrs.field(factory=list)
    screened: set[int] = attrs.field(factory=set)

    @classmethod
    def of(
        cls,
        model: Any,
        kernels: Sequence[BoundKernel],
        names: list[str],
        ways: str | Mapping[str, Any],
    ) -> Self:
        """Return the plan for the kernels of a fitted model, and for sources that it dropped.

        ``ways`` is as ``columns`` of :func:`mklkit.explain`.
        """
        before, last = split(model)
        reads: dict[str, Places | None] = dict.fromkeys(kernel.label for kernel in kernels)
        sources = input_columns_of(before, last, names)
        if sources is not None:
            places = places_of(sources, names)
            for kernel in kernels:
                read = places if kernel.columns is None else places[kernel.columns]
                reads[kernel.label] = tuple(np.unique(read).tolist())
        plan = cls(names, reads)
        if isinstance(ways, Mapping):
            plan.groups.update({str(name): _resolved(ways[name], names) for name in ways})
        elif ways in WAYS:
            plan._group(ways)
        else:
            raise SpecError(
                f"columns must be one of {', '.join(map(repr, WAYS))} or groups by name, like"
                f" {{'lab': 'lab_*'}}; got {quoted(ways)}.{suggest(str(ways), WAYS)}"
            )
        plan._note_what_is_shared()
        if plan.keys or plan.screened:
            plan.notes.insert(0, TOGETHER)
        return plan

    @property
    def traced(self) -> bool:
        """Whether it is known which columns the kernels read."""
        return None not in self.reads.values()

    @property
    def used(self) -> Places:
        """The columns that some kernel reads; all if that is unknown."""
        if not self.traced:
            return tuple(range(len(self.names)))
        return tuple(sorted(set().union(*(places or () for places in self.reads.values()))))

    @property
    def wide(self) -> list[str]:
        """The kernels whose columns are screened, because they are many."""
        return [name for name, read in self.reads.items() if len(read or ()) > MOST_MEASURED]

    def readers(self, places: Iterable[int]) -> tuple[str, ...]:
        """Return the kernels that read some of these columns."""
        among = {*places}
        return tuple(name for name, read in self.reads.items() if not among.isdisjoint(read or ()))

    def of_kernel(self, name: str) -> Places | None:
        """Return the columns to permute for a kernel; None if unknown or if all columns are."""
        return None if self.reads[name] == self.used else self.reads[name]

    @property
    def keys(self) -> list[Places]:
        """Every set of columns to permute, once."""
        sets = [*self.groups.values(), *map(self.of_kernel, self.reads)]
        return list(dict.fromkeys(places for places in sets if places is not None))

    def _group(self, ways: str) -> None:
        """Group columns one by one, or by which kernels read them."""
        if ways == "each" or (ways == "auto" and len(self.used) <= MOST_SINGLE):
            apart = [self.reads[name] or () for name in self.reads if name not in self.wide]
            narrow = set().union(*apart) if self.traced else {*self.used}
            self.screened.update({*self.used} - narrow)
            singles = [place for place in self.used if place in narrow]
            self.groups.update({self.names[place]: (place,) for place in singles})
            return
        readers: dict[int, list[str]] = {place: [] for place in self.used}
        for name, read in self.reads.items():
            for place in read or ():
                readers[place].append(name)
        sources: dict[tuple[str, ...], list[int]] = {}
        for place, names in readers.items():
            sources.setdefault(tuple(names), []).append(place)
        if self.traced and len(sources) > 1:
            for source, places in sources.items():
                self.groups[self._group_name(source, tuple(places))] = tuple(places)
        else:
            self.notes.append(
                f"the kernels' {len(self.used)} columns form no groups by the kernels that read"
                " them; columns='each' permutes each column, and a mapping defines groups"
            )

    def _group_name(self, readers: tuple[str, ...], places: Places) -> str:
        """Return the name of the only kernel that reads just these columns, else the columns."""
        alone = [name for name in readers if self.reads[name] == places]
        if len(alone) == 1:
            return alone[0]
        shown = ", ".join(self.names[place] for place in places[:NAMES_SHOWN])
        more = len(places) - NAMES_SHOWN
        return f"{shown} and {more} more" if more > 0 else shown

    def _note_what_is_shared(self) -> None:
        """Report which kernels read all columns, and which share theirs."""
        if not self.traced:
            self.notes.append(UNTRACED)
            return
        whole = [name for name in self.reads if self.of_kernel(name) is None]
        shared = [name for name in self.reads if len(self.readers(self.reads[name] or ())) > 1]
        partly = [name for name in shared if name not in whole]
        if whole:
            self.notes.append(
                f"{', '.join(whole)}: all columns in use are read; permuting them would leave"
                " nothing to predict from, so no loss is given"
            )
        if partly:
            self.notes.append(
                f"{', '.join(partly)}: columns are shared with other kernels, so the loss by"
                " permuting is that of the columns in all these kernels, not of the kernel alone"
            )


@attrs.frozen(eq=False)
class ScoredRows:
    """A table (N, d) with the user's columns, and the targets, (N,) or (N, T).

    ``as_array`` says whether the model was fitted on samples without column names; ``groups`` (N,)
    which samples belong together, and ``row_weights`` (N,) how much each counts in a fit.
    """

    table: pd.DataFrame
    targets: NDArray[Any]
    as_array: bool
    groups: NDArray[np.intp] | None = None
    row_weights: Array | None = None

    @classmethod
    def of(
        cls, model: Any, task: Task, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Return checked samples, with the columns that the model was fitted on, in their order."""
        X = one_table(X, y)
        refuse_sparse(y, "y")
        if isinstance(X, RowSource) or is_dask(X):
            raise DataError("Explaining needs samples in memory: pass some of them.")
        names, encoder = column_names(model), encoder_in(model)
        as_array = bool(np.issubdtype(names.dtype, np.integer))
        if isinstance(X, pd.DataFrame) and not as_array:
            columns = [str(name) for name in X.columns]
            known = {*columns}
            missing = [name for name in names.tolist() if name not in known]
            if missing:
                raise DataError(
                    f"The data lack {named(missing)} of the model.{suggest(missing[0], columns)}"
                )
            table = X[names.tolist()]
            # Each prediction goes through all names, which takes longer if they are in Arrow.
            table = table.set_axis(table.columns.astype(object), axis=1)
        else:
            table = pd.DataFrame(X if isinstance(X, pd.DataFrame) else np.asarray(X))
            if table.shape[1] != len(names):
                raise DataError(
                    f"The model was fitted on {counted(len(names), 'column')}; the data have shape"
                    f" {table.shape}."
                )
            table = table if as_array else table.set_axis(names, axis=1)
        table = without_value(table, None if encoder is None else encoder.schema_.missing_value)
        n_rows = len(table)
        joined = checked_groups(groups, n_rows), checked_row_weights(sample_weight, n_rows)
        return cls(table, task.checked(y, n_rows), as_array, *joined)

    def missing_sources(self, reads: Iterable[Places | None]) -> NDArray[np.bool_]:
        """Return which samples lack all columns that each kernel reads, if these are known."""
        missing = [
            without_values(self.table.iloc[:, [*(read or ())]]) & bool(read) for read in reads
        ]
        return np.column_stack(missing)

    def as_fitted(self, table: pd.DataFrame) -> Any:
        """Return rows of the table in the form that the model was fitted on."""
        return table.to_numpy() if self.as_array else table

    def sampled(self, task: Task, most: int | None, seed: int) -> tuple[Self, list[str]]:
        """Return a sample of at most ``max_rows`` samples, and a note if there are more."""
        n_rows = len(self.table)
        if most is None or n_rows <= most:
            return self, []
        # Half a sample less, since the number is rounded up.
        request = HoldOut((n_rows - most - 0.5) / n_rows)
        drawn = task.splits(self.targets, request, seed, self.groups)
        kept = drawn[0].train
        groups = None if self.groups is None else self.groups[kept]
        row_weights = None if self.row_weights is None else self.row_weights[kept]
        note = f"{len(kept):,} samples of {n_rows:,}, drawn {drawn.description}"
        targets = self.targets[kept]
        table = self.table.iloc[kept]
        return attrs.evolve(
            self, table=table, targets=targets, groups=groups, row_weights=row_weights
        ), [note]


def shuffled(rows: pd.DataFrame, places: Sequence[int], order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the samples with some columns permuted, all in the same order.

    Examples
    --------
    >>> rows = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    >>> shuffled(rows, [0, 1], np.array([1, 0])).to_numpy().tolist()
    [[2, 4, 5], [1, 3, 6]]
    """
    changed = rows.copy(deep=False)
    present = ~without_values(rows.iloc[:, list(places)])
    if not present.all():  # Samples that lack them all keep their gaps; the others exchange values.
        among = order[present[order]]
        order = np.arange(len(rows))
        order[present] = among
    for place in places:
        changed.isetitem(place, rows.iloc[:, place].array.take(order))
    return changed


def exchanged(
    rows: Rows, copies: Sequence[Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]]
) -> Rows:
    """Return encoded samples (n, d) once per copy, each with its own changes, below each other.

    A change names the positions of columns, and the samples (n,) that they get their values from.

    Examples
    --------
    >>> rows, last = Rows(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([1])
    >>> exchanged(rows, [[], [(last, np.array([1, 0]))]]).numbers.tolist()
    [[1.0, 2.0], [3.0, 4.0], [1.0, 4.0], [3.0, 2.0]]
    """
    size = len(rows)
    every = np.tile(np.arange(size), len(copies))
    numbers = rows.numbers[every]
    others = {key: values[every] for key, values in rows.others.items()}
    for copy, changes in enumerate(copies):
        part = slice(copy * size, (copy + 1) * size)
        for places, order in changes:
            numbers[part, places] = rows.numbers[np.ix_(order, places)]
            for (reads, place), values in rows.others.items():
                if place in places:
                    others[reads, place][part] = values[order]
    return Rows(numbers, others, rows.medians)


def input_columns_of(
    before: Pipeline | None, model: KernelModel, names: list[str]
) -> list[str] | None:
    """Return the user's column of each encoded one; None if unknown, as after a PCA."""
    if before is None:
        return names
    encoded: Any = column_names(model)
    if np.issubdtype(encoded.dtype, np.integer):
        try:
            encoded = before.get_feature_names_out(names)
        except (AttributeError, TypeError, ValueError):
            # A step that does not name its columns, such as scikit-learn's FunctionTransformer.
            return None
    encoded = list(map(str, encoded))
    first = before[0]
    if isinstance(first, TableEncoder):
        sources = dict(zip(first.feature_names_out_, first.sources_, strict=True))
        if sources.keys() >= {*encoded}:
            return [sources[name] for name in encoded]
    return names if encoded == names else None


def places_of(columns: Sequence[str], names: Sequence[str]) -> NDArray[np.intp]:
    """Return the positions of columns among the names of all."""
    known = {name: place for place, name in enumerate(names)}
    return np.array([known[column] for column in columns], np.intp)


def _resolved(columns: Any, names: Sequence[str]) -> Places:
    places = resolve_columns(columns, len(names), names)
    return tuple(range(len(names))) if places is None else tuple(places.tolist())
