"""Which columns of a table each kernel reads, by what it reads and what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np

from mklkit.errors import DataError, quoted
from mklkit.registry.composing import kernels_on
from mklkit.views.bound_kernels import BoundKernel

Holds = Literal["numbers", "text", "dates", "complex numbers", "other values"]
"""What a column holds: only these (dates are also times and durations), or mixtures."""

WORDS = ("text", "categories")
"""What kernels read in columns that need not hold numbers."""

Bank = Sequence[BoundKernel]


def assign_columns(
    kernels: Bank, holds: Sequence[Holds], names: Sequence[str] | None
) -> list[BoundKernel]:
    """Return the kernels, those that name no columns bound to the ones that they can read.

    Columns named by a kernel on row ids, amounts, text or categories, or with a fixed share, are
    reserved for it: another kernel reads them only if it names them too. Row ids, for example, may
    reveal the classes. A kernel on text has one column. A kernel on categories that names none
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
    """Refuse columns that a kernel can't read, with kernels that can."""
    readable = {"text": ("text",), "categories": holds}.get(kernel.reads, ("numbers",))
    place = next((place for place in columns.tolist() if holds[place] not in readable), None)
    if kernel.reads == "text" and len(columns) > 1:
        place = next((place for place in columns.tolist() if holds[place] == "text"), 0)
        name = place if names is None else names[place]
        raise DataError(
            f"Kernel {quoted(kernel.label)} reads one column of text, of {len(columns)}: name it,"
            f" as in {quoted(f'{kernel.kernel.name}@{name}')}, and use a kernel for each."
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
