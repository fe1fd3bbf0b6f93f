"""Which columns of a table each kernel reads, by what it reads and what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from mklkit.errors import DataError, MKLKitError, quoted
from mklkit.registry.columns import resolve_columns
from mklkit.registry.composing import kernels_on
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["WORDS", "Bank", "Holds", "assign_columns", "placed_kernels"]

Holds = Literal["numbers", "text", "dates", "complex numbers", "other values"]
"""What a column holds: only these (dates are also times and durations), or mixtures."""

WORDS = ("text", "categories")
"""What kernels read in columns that need not hold numbers."""

SHARED = ("numbers", "row ids")
"""Kernels on these that name all columns are like those that name none, and share their rows."""

Bank = Sequence[BoundKernel]


def placed_kernels(kernels: Bank, n_columns: int, names: Sequence[str] | None) -> list[BoundKernel]:
    """Return the kernels with their columns as positions.

    Raises
    ------
    DataError
        If a kernel's columns do not exist.
    """
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


def assign_columns(
    kernels: Bank, holds: Sequence[Holds], names: Sequence[str] | None
) -> list[BoundKernel]:
    """Return the kernels, those that name no columns bound to the ones that they can read.

    Columns that a kernel on row ids, amounts, text or categories names are its own: a kernel of
    another kind reads them only if it names them too. The order of the rows, for example, may
    reveal the classes to be learned. A kernel on text has one column. A kernel on categories that
    names none reads the columns that hold no numbers, or all if each does.

    Parameters
    ----------
    kernels : sequence of BoundKernel
        With their columns as positions, None for those that name none.
    holds : sequence of {"numbers", "text", "dates", "complex numbers", "other values"}
        What each column of the training data holds.
    names : sequence of str, optional

    Raises
    ------
    DataError
        If a kernel can't read the columns that it names, or none is left for it.

    Examples
    --------
    >>> from mklkit.kernels import RBF, Precomputed
    >>> graph = BoundKernel("graph", Precomputed(np.eye(4)), np.array([1]))
    >>> assign_columns([graph, BoundKernel("rbf", RBF())], ["numbers"] * 3, None)[1].columns
    array([0, 2])
    """
    if all(kernel.reads == "numbers" for kernel in kernels) and set(holds) == {"numbers"}:
        return list(kernels)
    words = [_on_text(k, holds, names) if k.reads == "text" else k for k in kernels]
    text = [kernel.columns for kernel in words if kernel.reads == "text"]
    no_numbers = np.flatnonzero([value != "numbers" for value in holds])
    left = np.setdiff1d(no_numbers, np.concatenate(text)) if text else no_numbers
    for place, kernel in enumerate(words):
        if left.size and kernel.reads == "categories" and kernel.columns is None:
            words[place] = attrs.evolve(kernel, columns=left)
    return [_settled(kernel, words, holds, names) for kernel in words]


def _settled(
    kernel: BoundKernel, kernels: Bank, holds: Sequence[Holds], names: Sequence[str] | None
) -> BoundKernel:
    """Return a kernel with its columns, where the others name theirs."""
    columns = np.arange(len(holds)) if kernel.columns is None else kernel.columns
    if kernel.columns is None and kernel.reads not in ("row ids", "text"):
        others = [k for k in kernels if k.reads not in ("numbers", kernel.reads)]
        taken = [k.columns for k in others if k.columns is not None]
        columns = np.setdiff1d(columns, np.concatenate(taken)) if taken else columns
        ids = [k for k in others if k.reads == "row ids" and k.columns is None]
        if ids or not columns.size:
            raise DataError(
                f"Kernel {kernel.label!r} needs {kernel.reads}, and all columns are those of other"
                f" kernels, such as {[*ids, *others][0].label!r}: add columns, and bind each kernel"
                " to its own, as in ('graph', Precomputed(K), ['id'])."
            )
        if len(columns) < len(holds):
            kernel = attrs.evolve(kernel, columns=columns)
    unread = [column for column in columns.tolist() if holds[column] != "numbers"]
    if unread and kernel.reads not in WORDS:
        raise _not_read(kernel, unread[0], holds[unread[0]], names)
    return kernel


def _on_text(
    kernel: BoundKernel, holds: Sequence[Holds], names: Sequence[str] | None
) -> BoundKernel:
    """Return a kernel on text with its one column."""
    columns = np.arange(len(holds)) if kernel.columns is None else kernel.columns
    if len(columns) > 1:
        of_text = [column for column in columns.tolist() if holds[column] == "text"]
        place = of_text[0] if of_text else 0
        column = place if names is None else names[place]
        raise DataError(
            f"Kernel {quoted(kernel.label)} reads one column of text, of {len(columns)}: name it,"
            f" as in {quoted(f'{kernel.kernel.name}@{column}')}, and use a kernel for each."
        )
    if holds[int(columns[0])] != "text":
        raise _not_read(kernel, int(columns[0]), holds[int(columns[0])], names)
    return attrs.evolve(kernel, columns=columns)


def _not_read(
    kernel: BoundKernel, column: int, holds: Holds, names: Sequence[str] | None
) -> DataError:
    """Return the error that a kernel can't read a column, with kernels that can."""
    advice = {
        "numbers": "use a kernel on numbers, or turn them into text",
        "complex numbers": "pass real numbers, such as the real and the imaginary part",
        "text": f"{kernels_on('text')}, or {kernels_on('categories')}",
    }.get(holds, kernels_on("categories"))
    if holds in ("text", "dates", "other values"):
        advice += (
            ", or leave the column to TableEncoder, as in make_pipeline(TableEncoder(),"
            " StandardScaler(), MKLClassifier(…))"
        )
    name = column if names is None else quoted(names[column])
    return DataError(
        f"Kernel {quoted(kernel.label)} reads {kernel.reads}, and column {name} holds {holds}:"
        f" {advice}."
    )
