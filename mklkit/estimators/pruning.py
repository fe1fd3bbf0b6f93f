"""Which of many candidate kernels to take: not alike, aligned with the labels, better together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, MKLKitError, counted
from mklkit.numerics.ridge import leave_one_out_error
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import Array, FittedKernel
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.kernel_rows import InnerProduct, KernelRows
from mklkit.views.rows import ColumnCuts
from mklkit.views.tiles import kernel_products

__all__ = ["AlignmentTarget", "Candidate", "pruned"]

ALIKE = 0.99
"""Of two kernels with a larger centred alignment only one is taken."""

WEAK = 0.3
"""A kernel with less than this share of the best alignment with the labels is left out."""

MOST_COMPARED = 12
"""Kernels whose even sums are compared."""

MOST_TAKEN = 8
"""Kernels that are taken."""

WORTH = 0.01
"""A kernel must lower the error by this share of it."""

LEFT_OUT = "left out"
"""How notes on what is not taken begin."""

MOST_ROWS = 400
"""Rows on which even sums are compared, as an eigendecomposition costs the cube of them."""


@attrs.frozen
class Candidate:
    """A kernel that may be taken, and the name of its group of columns."""

    bound: BoundKernel
    group: str


@attrs.frozen
class _SameClass(FittedKernel):
    """The label kernel: 1 for rows of the same class, else 0."""

    def __call__(self, a: Array, b: Array) -> Array:
        return (a == b.T).astype(np.float64)

    def diagonal(self, a: Array) -> Array:
        return np.ones(len(a))


@attrs.frozen(eq=False)
class AlignmentTarget:
    """What the kernels are to be aligned with.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class numbers, by which rows are drawn; zeros for numbers.
    columns : ndarray of shape (n, T)
        The columns on which ``kernel`` is computed.
    kernel : FittedKernel
        The target's own kernel.
    targets : ndarray of shape (n, q)
        What is regressed on: a column per class, or numbers with deviation 1.
    name : str
    """

    codes: NDArray[np.intp]
    columns: Array
    kernel: FittedKernel
    targets: Array
    name: str

    @classmethod
    def of_classes(cls, codes: NDArray[np.intp]) -> AlignmentTarget:
        """Return the label kernel of class numbers (n,)."""
        column = np.ascontiguousarray(codes[:, None], dtype=np.float64)
        targets = (codes[:, None] == np.unique(codes)).astype(np.float64)
        return cls(codes, column, _SameClass(), targets, "labels")

    @classmethod
    def of_numbers(cls, values: Array) -> AlignmentTarget:
        """Return the inner product of numbers, (n,) or (n, T), with mean 0 and deviation 1."""
        columns = values[:, None] if values.ndim == 1 else values
        spread = columns.std(axis=0)
        scaled = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1)
        codes = np.zeros(len(values), np.intp)
        return cls(codes, np.ascontiguousarray(scaled), InnerProduct(), scaled, "target")


@attrs.frozen(eq=False)
class _Measured:
    """Candidates, and their centred alignments with the labels (M,) and each other (M, M)."""

    candidates: list[Candidate]
    seen: KernelRows
    with_labels: Array
    alike: Array

    def label(self, place: int) -> str:
        return self.candidates[place].bound.label

    def said(self, place: int) -> str:
        return f"{self.label(place)} (alignment {self.with_labels[place]:.2f})"


def pruned(
    candidates: Sequence[Candidate], rows: Array, target: AlignmentTarget
) -> tuple[list[BoundKernel], list[str]]:
    """Return the kernels that are taken, and notes on what was taken and left out.

    First by centred alignment: in the order of their alignment with the labels (the best of each
    group first), candidates are kept unless they are alike one that is kept, or weak, up to 12.
    Then by the leave-one-out error of kernel ridge regression on the even sum of kernels: the best
    single kernel, and as long as the error falls by one per cent, the kernel that lowers it most.

    Parameters
    ----------
    candidates : sequence of Candidate
        M of them.
    rows : ndarray of shape (n, d)
    target : AlignmentTarget
        The labels or numbers of these rows.

    Raises
    ------
    DataError
        If no candidate can be fitted to these rows.

    Notes
    -----
    O(n²(d + M²)) tile by tile for the alignments; then at most 12 Gram matrices of 400 rows (15
    MB), and some 50 eigendecompositions of such.
    """
    measured, notes = _measured(candidates, rows, target)
    order = np.argsort(np.round(-measured.with_labels, 9), kind="stable").tolist()
    kept, alike, rest = _not_alike(measured, order)
    taken = _better_together(measured.seen, kept, target)
    notes += [f"took {measured.said(place)}" for place in taken]
    if alike:
        notes.append(f"{LEFT_OUT} {len(alike)}, as one like it is there: {', '.join(alike)}")
    others = [measured.said(place) for place in kept if place not in taken]
    if others:
        notes.append(
            f"{LEFT_OUT} {len(others)}, as the sum is no better with it: {', '.join(others)}"
        )
    if rest:
        notes.append(f"{LEFT_OUT} {len(rest)}, as others are better aligned: {', '.join(rest)}")
    first = (
        f"{counted(len(taken), 'kernel')} of {len(candidates)} candidates, by the leave-one-out"
        f" error of their even sum; alignments are centred, with the {target.name} of {len(rows)}"
        " rows"
    )
    return [measured.candidates[place].bound for place in taken], [first, *notes]


def _measured(
    candidates: Sequence[Candidate], rows: Array, target: AlignmentTarget
) -> tuple[_Measured, list[str]]:
    """Return the candidates that have finite values on the rows, and a note on each other."""
    cuts = ColumnCuts(rows)
    kept: list[Candidate] = []
    kernels: list[FittedKernel] = []
    own_rows, notes = [], []
    for candidate in candidates:
        columns = cuts.of(candidate.bound.columns)
        try:
            (fitted,), _ = fit_kernels([attrs.evolve(candidate.bound, columns=None)], columns)
        except MKLKitError as error:
            notes.append(f"{LEFT_OUT} {candidate.bound.label}: {error}")
            continue
        kept.append(candidate)
        kernels.append(fitted)
        own_rows.append(columns)
    if not kept:
        raise DataError(f"No kernel can be proposed for these rows: {'; '.join(notes)}")
    with_target = KernelRows.of([*kernels, target.kernel], [*own_rows, target.columns])
    with np.errstate(over="ignore", invalid="ignore"):
        alignments = np.nan_to_num(kernel_products(with_target).alignments())
    kernel_rows = KernelRows.of(kernels, own_rows)
    return _Measured(kept, kernel_rows, alignments[:-1, -1], alignments[:-1, :-1]), notes


def _not_alike(measured: _Measured, order: list[int]) -> tuple[list[int], list[str], list[str]]:
    """Return the places that are kept, those alike one of them, and the rest, as words."""
    least = WEAK * measured.with_labels[order[0]]
    first_of_group = {measured.candidates[place].group: place for place in reversed(order)}
    firsts = [place for place in order if place in first_of_group.values()]
    kept: list[int] = []
    alike, rest = [], []
    for place in [*firsts, *(place for place in order if place not in firsts)]:
        nearest = max(kept, key=lambda place_kept: measured.alike[place, place_kept], default=place)
        if kept and measured.alike[place, nearest] > ALIKE:
            value = measured.alike[place, nearest]
            alike.append(f"{measured.label(place)} ({value:.3f} with {measured.label(nearest)})")
        elif measured.with_labels[place] < least or len(kept) == MOST_COMPARED:
            rest.append(measured.said(place))
        else:
            kept.append(place)
    return kept, alike, rest


def _better_together(
    kernel_rows: KernelRows, places: list[int], target: AlignmentTarget
) -> list[int]:
    """Return the places of kernels whose even sum has a low leave-one-out error."""
    drawn = drawn_by_class(target.codes, MOST_ROWS)
    some = kernel_rows.take(drawn)
    rows = some.rows
    targets = target.targets[drawn]
    grams = {place: some.kernels[place](rows[place], rows[place]) for place in places}
    taken: list[int] = []
    total, error = np.zeros((len(drawn), len(drawn))), np.inf
    while len(taken) < min(MOST_TAKEN, len(places)):
        others = [place for place in places if place not in taken]
        sums = ((total + grams[place]) / (len(taken) + 1) for place in others)
        errors = [leave_one_out_error(gram, targets) for gram in sums]
        best = int(np.argmin(np.round(errors, 9)))
        if taken and errors[best] > (1 - WORTH) * error:
            break
        error = errors[best]
        taken.append(others[best])
        total = total + grams[others[best]]
    return taken
