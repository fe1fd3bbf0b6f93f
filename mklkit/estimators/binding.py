"""A table's schema, and kernels bound to the columns that they can read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from mklkit.errors import DataError, MKLKitError, counted, quoted
from mklkit.estimators.joining import SparseTable, dense_columns
from mklkit.protocols import Columns, Gaps, Holds, RowSource, Schema
from mklkit.registry.columns import resolve_columns
from mklkit.registry.composing import kernels_on
from mklkit.registry.readings import MISSING_CATEGORY
from mklkit.views.bound_kernels import BoundKernel

SHARED = ("numbers", "row ids")
"""Kernels on these that name all columns act like those that name none, and share their samples."""

DATES = (date, timedelta, np.datetime64, np.timedelta64, pd.Period)
"""Dates, times and durations; pandas' own are subclasses."""

WORDS = ("text", "categories")
"""What kernels read in columns that need not hold numbers."""

Bank = Sequence[BoundKernel]


def bind(X: Any, *banks: Bank) -> tuple[Schema, list[list[BoundKernel]]]:
    """Return the schema of a table, and each list of kernels bound to its columns.

    A search may have several lists. Before, the kernels have columns as the user named them.
    """
    n_columns, names = header(X)
    placed = [placed_kernels(bank, n_columns, names) for bank in banks]
    kernels = [kernel for bank in placed for kernel in bank]
    in_parts = isinstance(X, RowSource)
    on_text = [kernel.label for kernel in kernels if kernel.reads == "text"]
    if in_parts and on_text:
        raise DataError(
            f"Kernel {quoted(on_text[0])} reads text, and samples read in parts (files, Dask,"
            " memory maps) hold numbers only: pass a DataFrame."
        )
    if in_parts or not _differ(kernels, X):
        if any(kernel.reads != "numbers" or kernel.traits.share for kernel in kernels):
            placed = [assign_columns(bank, ["numbers"] * n_columns, names) for bank in placed]
        return Schema.of_numbers(names, n_columns), placed
    frame, places = dense_columns(as_table(X))
    holds = _all_held(frame, places, n_columns, kernels)
    bound = [assign_columns(bank, holds, names) for bank in placed]
    n_gaps = np.zeros(n_columns, int)
    n_gaps[places] = frame.isna().sum()
    readers: list[list[BoundKernel]] = [[] for _ in holds]
    for kernel in (kernel for bank in bound for kernel in bank):
        for place in range(n_columns) if kernel.columns is None else kernel.columns.tolist():
            readers[place].append(kernel)
    columns = Columns.named(
        [None] * n_columns if names is None else names,
        holds=list(holds),
        reads=[tuple(dict.fromkeys(kernel.reads for kernel in of_column)) for of_column in readers],
        gaps=[_gaps_for(of_column) for of_column in readers],
        n_gaps=n_gaps,
    )
    return Schema(columns), bound


def _differ(kernels: Bank, X: Any) -> bool:
    """Return whether kernels need more of a table than numbers without gaps, or it has more."""
    if isinstance(X, pd.DataFrame | SparseTable) and (
        not only_numbers(X)
        # A gap there is an error that names the sample.
        or any(kernel.reads == "row ids" for kernel in kernels)
    ):
        return True
    # scikit-learn detects text in arrays.
    words = WORDS if only_numbers(X) and not _holds_objects(X) else (*WORDS, "row ids")
    return any(kernel.reads in words or kernel.traits.allows_gaps for kernel in kernels)


def _holds_objects(X: Any) -> bool:
    """Return whether an array has a type of text or of any values."""
    return not isinstance(X, pd.DataFrame | SparseTable) and np.asarray(X).dtype.kind in "OUS"


def only_numbers(X: Any) -> bool:
    """Return whether all columns of a table have a type of numbers; an array may hold anything."""
    if not isinstance(X, pd.DataFrame | SparseTable):
        return True
    frame, _ = dense_columns(X)
    return all(is_numeric_dtype(kind) for kind in {*frame.dtypes})


def _gaps_for(kernels: Bank) -> Gaps:
    """Return what the gaps of a column become, for the kernels that read it."""
    on_categories = [kernel for kernel in kernels if kernel.reads == "categories"]
    if not all(kernel.traits.allows_gaps for kernel in on_categories):
        return "category"
    skipped = all(kernel.traits.allows_gaps or kernel.reads in WORDS for kernel in kernels)
    return "kept" if on_categories or (kernels and skipped) else "median"


def notes_on_gaps(schema: Schema) -> list[str]:
    """Return a sentence for each column with gaps in training that are not filled by a median."""
    fates: dict[Gaps, str] = {
        "category": f"read as a category of their own, {MISSING_CATEGORY!r}",
        "kept": "dropped by its kernel",
    }
    columns = schema.columns
    with_gaps = columns.values("n_gaps").astype(bool)
    of_text = columns.are(reads="text")
    notes = []
    for gaps, fate in fates.items():
        told = with_gaps & columns.are(gaps=gaps) & ((gaps == "category") | ~of_text)
        for place in np.flatnonzero(told).tolist():
            column = columns[place]
            name = quoted(str(place if column.name is None else column.name))
            notes.append(f"{counted(column.n_gaps, 'gap')} in column {name} {fate}")
    return notes


def placed_kernels(kernels: Bank, n_columns: int, names: Sequence[str] | None) -> list[BoundKernel]:
    """Return the kernels with their columns as positions; a ``DataError`` names missing columns."""
    placed = []
    for kernel in kernels:
        if kernel.columns is None:
            placed.append(kernel)
            continue
        try:
            columns = resolve_columns(kernel.columns, n_columns, names)
        except MKLKitError as error:
            raise DataError(f"Kernel {quoted(kernel.label)}: {error}") from None
        if columns is None and kernel.reads not in SHARED:
            columns = np.arange(n_columns)
        placed.append(attrs.evolve(kernel, columns=columns))
    return placed


def header(X: Any) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of a table's columns and their names, None if it has none."""
    if isinstance(X, SparseTable):
        return X.shape[1], tuple(X.columns)
    if isinstance(X, RowSource):
        return X.shape[1], None if X.column_names is None else tuple(X.column_names)
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise DataError(
            f"Column names must be unique, and {quoted(str(repeated))} occurs"
            f" {int((X.columns == repeated).sum())} times: rename the columns."
        )
    table = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    shape = table.shape
    if len(shape) == 1 and table.dtype.kind in "OU":
        raise DataError(
            "X has values and no columns: pass a DataFrame with one column, such as"
            " pd.DataFrame({'text': X})."
        )
    if len(shape) != 2 or not shape[1]:
        check_array(X)  # It reports what is wrong.
    names = _get_feature_names(X)
    return shape[1], None if names is None else tuple(names)


def column_holds(column: pd.Series) -> Holds:
    """Return what a column holds; one without values counts as numbers, unless its type differs."""
    kind = column.dtype
    if is_complex_dtype(kind):
        return "complex numbers"
    if is_numeric_dtype(kind):
        return "numbers"
    if kind.kind in "mM" or isinstance(kind, pd.PeriodDtype):
        return "dates"
    known = column.dropna()
    if is_object_dtype(kind) and all(isinstance(value, Number) for value in known):
        real = all(isinstance(value, Real | Decimal) for value in known)
        return "numbers" if real else "complex numbers"
    if len(known) and all(isinstance(value, DATES) for value in known):
        return "dates"
    return "text" if all(isinstance(value, str) for value in known) else "other values"


def _all_held(
    frame: pd.DataFrame, places: NDArray[np.intp], n_columns: int, kernels: Bank
) -> tuple[Holds, ...]:
    """Return what each column holds: numbers if it is sparse, else as the frame (N, k) says.

    A column without values holds text if kernels read it as text.
    """
    words: set[int] = set()
    others: set[int] = set()
    for kernel in kernels:
        if kernel.reads == "text" and kernel.columns is None:
            words |= set(range(n_columns))
        elif kernel.columns is not None:
            (words if kernel.reads in WORDS else others).update(kernel.columns.tolist())
    every: list[Holds] = ["numbers"] * n_columns
    for place, (_, column) in zip(places.tolist(), frame.items(), strict=True):
        holds = column_holds(column)
        empty = holds == "numbers" and bool(column.isna().all())
        every[place] = "text" if empty and place in words - others else holds
    return tuple(every)


def as_table(X: Any) -> Any:
    """Return a table as a DataFrame, or as it is if some of its columns are sparse."""
    if isinstance(X, pd.DataFrame | SparseTable):
        return X
    rows = np.asarray(X)
    return pd.DataFrame(rows).infer_objects() if rows.dtype == object else pd.DataFrame(rows)


def assign_columns(
    kernels: Bank, holds: Sequence[Holds], names: Sequence[str] | None
) -> list[BoundKernel]:
    """Return the kernels, those that name no columns bound to the ones that they can read.

    Columns named by a kernel on sample ids, amounts, text or categories, or with a fixed share, are
    reserved for it: another kernel reads them only if it names them too. Sample ids, for example,
    may reveal the classes. A kernel on text has one column. A kernel on categories that names none
    reads the columns that hold no numbers, or all columns if each holds numbers.

    >>> from mklkit.kernels import RBF, Precomputed
    >>> graph = BoundKernel("graph", Precomputed(np.eye(4)), np.array([1]))
    >>> assign_columns([graph, BoundKernel("rbf", RBF())], ["numbers"] * 3, None)[1].columns
    array([0, 2])
    """
    every = np.arange(len(holds))
    words = {place for place in every.tolist() if holds[place] != "numbers"}
    for kernel in kernels:
        if kernel.reads == "text":
            words -= set((every if kernel.columns is None else kernel.columns).tolist())
    of_kind = {"text": every, "categories": np.array(sorted(words)) if words else None}
    named = [
        attrs.evolve(kernel, columns=of_kind.get(kernel.reads))
        if kernel.columns is None
        else kernel
        for kernel in kernels
    ]
    bound = []
    for kernel in named:
        columns = every if kernel.columns is None else kernel.columns
        if kernel.columns is None and kernel.reads != "row ids":
            others = [
                k
                for k in named
                if k.reads not in ("numbers", kernel.reads) or (k.traits.share and k is not kernel)
            ]
            taken = [
                every if k.columns is None else k.columns
                for k in others
                if k.columns is not None or k.reads == "row ids"
            ]
            columns = np.setdiff1d(every, np.concatenate(taken)) if taken else every
            if not columns.size:
                raise DataError(
                    f"Kernel {kernel.label!r} needs {kernel.reads}, and all columns belong to"
                    f" other kernels, such as {others[0].label!r}: add columns, and bind each"
                    " kernel to its own, as in ('graph', Precomputed(K), ['id'])."
                )
        _check_columns(kernel, columns, holds, names)
        every_column = kernel.columns is None and len(columns) == len(holds)
        bound.append(kernel if every_column else attrs.evolve(kernel, columns=columns))
    return bound


def _check_columns(
    kernel: BoundKernel, columns: Any, holds: Sequence[Holds], names: Sequence[str] | None
) -> None:
    """Raise an error for columns that a kernel can't read, with kernels that can."""
    readable = {
        "text": ("text",),
        "categories": holds,
        "row ids": ("numbers", "text", "other values"),
    }.get(kernel.reads, ("numbers",))
    place = next((place for place in columns.tolist() if holds[place] not in readable), None)
    if kernel.reads == "text" and len(columns) > 1:
        place = next((place for place in columns.tolist() if holds[place] == "text"), 0)
        name = place if names is None else names[place]
        raise DataError(
            f"Kernel {quoted(kernel.label)} reads one column of text, of {len(columns)}: name it,"
            f" as in {quoted(f'{kernel.kernel.name}@{name}')}, and use a kernel for each."
        )
    if kernel.reads == "row ids" and len(columns) > 1:
        name = columns[0] if names is None else names[columns[0]]
        raise DataError(
            f"Kernel {quoted(kernel.label)} takes one column of ids, of {len(columns)}: bind it"
            f" to the one that identifies samples, as in ('graph', Precomputed(K), [{name!r}]), or"
            f" {f'{kernel.label}@{name}'!r} on the command line."
        )
    if place is None:
        return
    advice = "use a kernel on numbers, real ones, or turn them into text"
    if holds[place] not in ("numbers", "complex numbers"):
        advice = (
            f"{kernels_on('text')}, or {kernels_on('categories')}, or leave the column to"
            " TableEncoder, as in make_pipeline(TableEncoder(), StandardScaler(), MKLClassifier(…))"
        )
    name = place if names is None else quoted(names[place])
    raise DataError(
        f"Kernel {quoted(kernel.label)} reads {kernel.reads}, and column {name} holds"
        f" {holds[place]}: {advice}."
    )
