"""Checks of the columns that kernels ask for, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mklkit.datasets import Table
from mklkit.datasets.numerals import TEXT
from mklkit.errors import DataError, quoted
from mklkit.registry.abilities import kernels_on
from mklkit.registry.composing import are_proposed, bind_kernels

__all__ = ["check_no_identifier", "check_not_left_out"]

LIKE_IDENTIFIERS = "because it has a different value in every row, as identifiers have"


def check_not_left_out(kernels: Sequence[str], table: Table, identifiers: Sequence[str]) -> None:
    """Refuse kernels on a column that is left out, and give the reason.

    Parameters
    ----------
    kernels : sequence of str
        Spec strings.
    table : Table
    identifiers : sequence of str
        The columns that are taken for identifiers, and left out for kernels on numbers.

    Raises
    ------
    DataError
        If a kernel names a column that was dropped, is the target, or holds weights or identifiers.
    """
    for kernel in [] if are_proposed(kernels) else kernels:
        (bound,) = bind_kernels(kernel)
        for part in (bound.columns or "").split(","):
            name, reason = part.strip(), ""
            if name in table.dropped:
                reason = "as asked by --drop"
            elif name == str(table.target.name):
                reason = "because it is the target, which is to be predicted"
            elif table.weights is not None and name == str(table.weights.name):
                reason = "because it holds the weights of the rows"
            elif name in identifiers and bound.reads == "numbers":
                reason = LIKE_IDENTIFIERS
            if reason:
                raise _refusal(kernel, name, reason, table.readings)


def check_no_identifier(
    asked: Sequence[tuple[str, str]], identifiers: Sequence[str], readings: Mapping[str, str]
) -> None:
    """Refuse kernels on numbers that name an identifier.

    Parameters
    ----------
    asked : sequence of (str, str)
        Kernels and columns that they name.
    identifiers : sequence of str
        The columns that are left out.
    readings : mapping of str to str
        How columns of text are read.

    Raises
    ------
    DataError
        If one of the columns is left out.
    """
    for kernel, name in asked:
        if name in identifiers:
            raise _refusal(kernel, name, LIKE_IDENTIFIERS, readings)


def _refusal(kernel: str, name: str, reason: str, readings: Mapping[str, str]) -> DataError:
    # Sequences differ in every row too.
    text = reason == LIKE_IDENTIFIERS and readings.get(name) == TEXT
    other = f", or {kernels_on('text')}" if text else ""
    return DataError(
        f"Kernel {quoted(kernel)}: the column {quoted(name)} is left out, {reason}."
        f" Choose other columns for this kernel{other}."
    )
