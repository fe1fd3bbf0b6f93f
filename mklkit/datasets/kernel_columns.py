"""Columns that kernels name, or need unchanged, neither encoded nor scaled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from mklkit.datasets.notations import TEXT, WRITTEN
from mklkit.datasets.readings import ColumnReading
from mklkit.datasets.table import Table
from mklkit.errors import DataError, MKLKitError, quoted
from mklkit.protocols.component import MISSING_STRATEGY
from mklkit.registry.columns import are_proposed, bind_kernels, proposed_for, resolve_columns
from mklkit.registry.composing import kernels_on
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel


def banks_in(estimator: Any) -> list[Any]:
    """Return everything given to an estimator, search or vote as kernels."""
    parameters = estimator.get_params(deep=False)
    banks = [] if parameters.get("kernels") is None else [parameters["kernels"]]
    grids = parameters.get("param_grid") or []
    for grid in [grids] if isinstance(grids, Mapping) else grids:
        banks += grid.get("kernels", ())
    inner = parameters.get("estimator")
    return banks if inner is None else banks + banks_in(inner)


def kernels_in(estimator: Any) -> list[BoundKernel]:
    """Return the kernels given to an estimator, search or vote, without proposed ones.

    Kernels that can't be made are left to ``fit``, which reports the error.
    """
    kernels = []
    for bank in banks_in(estimator):
        if not are_proposed(bank):
            with suppress(MKLKitError):
                kernels += bind_kernels(bank)
    return kernels


def needed_unchanged(kernels: Iterable[BoundKernel]) -> tuple[list[Any], list[Any]]:
    """Return the columns of kernels not on numbers, and those of them that must have no gaps.

    Both as the kernels name them, None for all columns.

    >>> import numpy as np
    >>> from mklkit.kernels import Precomputed
    >>> needed_unchanged(bind_kernels(["rbf@age", ("graph", Precomputed(np.eye(2)), "id")]))
    (['id'], [])
    """
    unchanged = [kernel for kernel in kernels if kernel.reads != "numbers"]
    amounts = [kernel for kernel in unchanged if kernel.reads == "amounts"]
    imputed = [kernel.columns for kernel in amounts if not kernel.traits.allows_gaps]
    return [kernel.columns for kernel in unchanged], imputed


def named_sources(estimator: Any) -> dict[str, Any]:
    """Return the columns that kernels on numbers or text name, by the kernels' labels.

    >>> from mklkit import MKLClassifier
    >>> named_sources(MKLClassifier(["age:rbf@age", "lab:linear@lab_*", "rbf"]))
    {'age': 'age', 'lab': 'lab_*'}
    """
    parameters = estimator.get_params(deep=False)
    if parameters.get("estimator") is not None:
        return named_sources(parameters["estimator"])
    kernels = [k for k in kernels_in(estimator) if k.reads in ("numbers", "amounts", "text")]
    sources = {source: source for source in proposed_for(parameters.get("kernels")) or ()}
    return {k.label: k.columns for k in kernels if k.columns is not None} | sources


def sources_that_may_lack(estimator: Any) -> list[Any]:
    """Return the columns of :func:`named_sources`, each once; none if all gaps are filled."""
    parameters = estimator.get_params(deep=False)
    strategy = parameters.get("missing", MISSING_STRATEGY)
    with suppress(MKLKitError):
        if get_registry().create("missing", strategy).fills:
            return []
    if parameters.get("estimator") is not None:
        return sources_that_may_lack(parameters["estimator"])
    return list({repr(each): each for each in named_sources(estimator).values()}.values())


def named_columns(kernels: Iterable[BoundKernel], reads: str) -> list[tuple[str, str]]:
    """Return pairs of a kernel's label and a column, by name or glob, for kernels that read this.

    >>> named_columns(bind_kernels(["lab:rbf@age,lab_*", "spectrum@dna", "linear"]), "numbers")
    [('lab', 'age'), ('lab', 'lab_*')]
    """
    pairs = []
    for kernel in kernels:
        names = kernel.columns.split(",") if isinstance(kernel.columns, str) else kernel.columns
        if kernel.reads == reads and isinstance(names, list):
            pairs += [(kernel.label, name.strip()) for name in names if isinstance(name, str)]
    return pairs


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
) -> None:
    """Set NaN where a row lacks all of the encoded columns that a selector chooses.

    Each of these ``names`` was made from one of the ``sources`` in the table ``frame``.
    """
    source_of = dict(zip(names, sources, strict=True))
    for selector in selectors:
        chosen = chosen_columns([selector], list(source_of))
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


def without_unread(
    features: pd.DataFrame, identifiers: Sequence[str], passthrough: Sequence[Any]
) -> pd.DataFrame:
    """Return the columns in use: identifiers only if a kernel names them."""
    read = chosen_columns(passthrough, features.columns.tolist())
    return features.drop(columns=[name for name in identifiers if name not in read])


def check_not_left_out(kernels: Sequence[str], table: Table, identifiers: Sequence[str]) -> None:
    """Refuse kernels on a column that is left out: dropped, the target, weights, or identifiers."""
    reasons = dict.fromkeys(table.dropped, "by --drop")
    if table.weights is not None:
        reasons[str(table.weights.name)] = "because it holds the weights of the rows"
    reasons |= dict.fromkeys(table.target_names, "because it is the target")
    texts = [
        name for name, reading in table.readings.items() if reading.notation in (TEXT, WRITTEN)
    ]
    left = [name for name in texts if name in identifiers]
    for kernel in [] if are_proposed(kernels) else kernels:
        (bound,) = bind_kernels(kernel)
        names = [name.strip() for name in (bound.columns or "").split(",")]
        for name in names:
            if name in reasons:
                raise _refusal(kernel, name, reasons[name])
        if bound.reads == "numbers":
            check_no_identifier([(kernel, name) for name in names], identifiers, table.readings)
        # A kernel without columns reads all that are left, which are not all text.
        more = {*table.features.columns} - {*texts, *identifiers}
        if bound.reads == "text" and bound.columns is None and left and more:
            raise _refusal(kernel, left[0], UNLIKE, f", or name it: '{kernel}@{left[0]}'")


UNLIKE = "because it has a different value in every row, as identifiers have"


def check_no_identifier(
    required: Sequence[tuple[str, str]],
    identifiers: Sequence[str],
    readings: Mapping[str, ColumnReading],
) -> None:
    """Refuse kernels on numbers that name an identifier, each with a column that it names."""
    for kernel, name in required:
        if name in identifiers:
            # Sequences differ in every row too.
            text = name in readings and readings[name].notation == TEXT
            raise _refusal(kernel, name, UNLIKE, f", or {kernels_on('text')}" if text else "")


def _refusal(kernel: str, name: str, reason: str, advice: str = "") -> DataError:
    return DataError(
        f"Kernel {quoted(kernel)}: the column {quoted(name)} is left out, {reason}."
        f" Choose other columns for this kernel{advice}."
    )
