"""Which columns each kernel reads, by what it reads and what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, quoted
from mklkit.estimators.column_kinds import Holds
from mklkit.protocols import Reads
from mklkit.registry.composing import kernels_on
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["own_columns"]


@attrs.frozen
class _Columns:
    """The columns of the training data."""

    holds: Sequence[Holds]
    names: Sequence[str] | None

    def of_text(self) -> NDArray[np.intp]:
        """Return the positions of the columns of text."""
        return np.flatnonzero([kind == "text" for kind in self.holds])

    def of_no_numbers(self) -> NDArray[np.intp]:
        """Return the positions of all columns but those of numbers."""
        return np.flatnonzero([kind != "numbers" for kind in self.holds])

    def named(self, column: int) -> str:
        """Return how a message names a column."""
        return f"column {column if self.names is None else quoted(self.names[column])}"


def own_columns(
    kernels: Sequence[BoundKernel], holds: Sequence[Holds], names: Sequence[str] | None
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
    >>> own_columns([graph, BoundKernel("rbf", RBF())], ["numbers"] * 3, None)[1].columns
    array([0, 2])
    """
    columns = _Columns(holds, names)
    named = [_on_text(one, columns) if one.reads == "text" else one for one in kernels]
    other = np.setdiff1d(columns.of_no_numbers(), _named_by(named, "text"))
    if other.size:
        named = [
            attrs.evolve(one, columns=other)
            if one.reads == "categories" and one.columns is None
            else one
            for one in named
        ]
    return [_settled(kernel, named, columns) for kernel in named]


def _named_by(kernels: Sequence[BoundKernel], *reads: Reads) -> NDArray[np.intp]:
    """Return the columns that kernels on these name."""
    found = [one.columns for one in kernels if one.reads in reads and one.columns is not None]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


def _settled(kernel: BoundKernel, kernels: Sequence[BoundKernel], columns: _Columns) -> BoundKernel:
    """Return a kernel with its columns, where the others name theirs."""
    everything = np.arange(len(columns.holds))
    chosen = everything if kernel.columns is None else kernel.columns
    if kernel.columns is None and kernel.reads not in ("row ids", "text"):
        theirs = [one for one in kernels if one.reads not in ("numbers", kernel.reads)]
        chosen = np.setdiff1d(everything, _named_by(theirs, *get_args(Reads)))
        ids = [one for one in theirs if one.reads == "row ids" and one.columns is None]
        if ids or not chosen.size:
            raise _nothing_left(kernel, [*ids, *theirs][0])
        if len(chosen) < len(everything):
            kernel = attrs.evolve(kernel, columns=chosen)
    if kernel.reads not in ("text", "categories"):
        _check_numbers(kernel, chosen, columns)
    return kernel


def _nothing_left(kernel: BoundKernel, other: BoundKernel) -> DataError:
    needed = "features" if kernel.reads == "numbers" else kernel.reads
    taken = f"all columns are those of other kernels, such as {other.label!r}"
    if other.reads == "row ids":
        taken = f"the only column holds the row ids of {other.label!r}"
    return DataError(
        f"Kernel {kernel.label!r} needs {needed}, and {taken}: add columns, and bind each kernel"
        " to its own, as in ('graph', Precomputed(K), ['id'])."
    )


def _on_text(kernel: BoundKernel, columns: _Columns) -> BoundKernel:
    """Return a kernel on text with its one column."""
    chosen = np.arange(len(columns.holds)) if kernel.columns is None else kernel.columns
    if len(chosen) > 1:
        found = columns.of_text()
        if kernel.columns is None:
            name = int(found[0]) if len(found) else "column"
            if columns.names is not None and len(found):
                name = columns.names[int(found[0])]
            raise DataError(
                f"Kernel {quoted(kernel.label)} reads one column of text: name it, as in"
                f" {quoted(f'{kernel.kernel.name}@{name}')}."
            )
        raise DataError(
            f"Kernel {quoted(kernel.label)} reads one column of text, and has {len(chosen)}: use a"
            " kernel for each."
        )
    column = int(chosen[0])
    if columns.holds[column] != "text":
        advice = "use a kernel on numbers, such as 'rbf', or turn them into text"
        if columns.holds[column] != "numbers":
            advice = f"{kernels_on('categories')}, or turn them into text"
        raise DataError(
            f"Kernel {quoted(kernel.label)} reads text, and {columns.named(column)} holds"
            f" {columns.holds[column]}: {advice}."
        )
    return attrs.evolve(kernel, columns=np.array([column]))


def _check_numbers(kernel: BoundKernel, chosen: NDArray[np.intp], columns: _Columns) -> None:
    """Refuse columns of other values for a kernel on numbers, amounts or row ids."""
    wrong = [int(column) for column in chosen if columns.holds[column] != "numbers"]
    if not wrong:
        return
    held = columns.holds[wrong[0]]
    if held == "complex numbers":
        raise DataError(
            f"Kernel {quoted(kernel.label)} reads {kernel.reads}, and {columns.named(wrong[0])}"
            " holds complex numbers: pass real numbers, such as the real and the imaginary part as"
            " two columns."
        )
    use = kernels_on("categories")
    if held == "text":
        use = f"{kernels_on('text')}, or on categories{use.partition('on categories')[2]}"
    what = "text, dates or categories" if held == "other values" else held
    more, hold = (f" and {len(wrong) - 1} more", "hold") if len(wrong) > 1 else ("", "holds")
    raise DataError(
        f"Kernel {quoted(kernel.label)} reads {kernel.reads}, and {columns.named(wrong[0])}{more}"
        f" {hold} {what}: {use}, or leave the column"
        f"{'s' * bool(more)} to TableEncoder, as in make_pipeline(TableEncoder(),"
        " StandardScaler(), MKLClassifier(…))."
    )
