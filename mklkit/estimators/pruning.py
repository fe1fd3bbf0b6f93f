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

Candidate = tuple[BoundKernel, str]
"""A kernel that may be taken, and the name of its group of columns."""


def pruned(
    candidates: Sequence[Candidate], rows: Array, targets: Array, codes: NDArray[np.intp]
) -> tuple[list[BoundKernel], list[str]]:
    """Return the kernels that are taken, and notes on what was taken and left out.

    First by centred alignment: in the order of their alignment with the targets (the best of each
    group first), candidates are kept unless they are alike one that is kept, or weak, up to 12.
    Then by the leave-one-out error of kernel ridge regression on the even sum of kernels: the best
    single kernel, and as long as the error falls by one per cent, the kernel that lowers it most.

    ``targets`` (n, q) are regressed on: a column per class with 1 for its rows, or numbers with
    deviation 1; their inner products are the kernel to be aligned with.

    O(n²(d + M²)) tile by tile for the alignments of M candidates; then at most 12 Gram matrices of
    400 rows (15 MB), and some 50 eigendecompositions of such.
    """
    able, kernels, own_rows, notes = _fitted(candidates, rows)
    with_target = KernelRows.of([*kernels, InnerProduct()], [*own_rows, targets])
    with np.errstate(over="ignore", invalid="ignore"):
        alignments = np.nan_to_num(kernel_products(with_target).alignments())
    kept, like = _not_alike(alignments, [group for _, group in able])
    taken = _better_together(KernelRows.of(kernels, own_rows), kept, targets, codes)
    labels = [bound.label for bound, _ in able]
    said = [
        f"{label} (alignment {value:.2f})"
        for label, value in zip(labels, alignments[:-1, -1], strict=True)
    ]
    alike = [f"{labels[i]} ({alignments[i, j]:.3f} with {labels[j]})" for i, j in like.items()]
    no_better = [said[place] for place in kept if place not in taken]
    order = np.argsort(np.round(-alignments[:-1, -1], 9), kind="stable").tolist()
    rest = [said[place] for place in order if place not in kept and place not in like]
    first = (
        f"{counted(len(taken), 'kernel')} of {len(candidates)} candidates, by the leave-one-out"
        f" error of their even sum; alignments are centred, with the target of {len(rows)} rows"
    )
    reasons = {
        "as one like it is there": alike,
        "as the sum is no better with it": no_better,
        "as others are better aligned": rest,
    }
    notes = [first, *notes, *(f"took {said[place]}" for place in taken)]
    for reason, names in reasons.items():
        if names:
            notes.append(f"{LEFT_OUT} {len(names)}, {reason}: {', '.join(names)}")
    return [able[place][0] for place in taken], notes


def _fitted(
    candidates: Sequence[Candidate], rows: Array
) -> tuple[list[Candidate], list[FittedKernel], list[Array], list[str]]:
    """Return those with finite values on the rows, fitted, their rows, and a note on each other."""
    cuts = ColumnCuts(rows)
    able, kernels, own_rows, notes = [], [], [], []
    for bound, group in candidates:
        columns = cuts.of(bound.columns)
        try:
            (kernel,), _ = fit_kernels([attrs.evolve(bound, columns=None)], columns)
        except MKLKitError as error:
            notes.append(f"{LEFT_OUT} {bound.label}: {error}")
            continue
        able.append((bound, group))
        kernels.append(kernel)
        own_rows.append(columns)
    if not able:
        raise DataError(f"No kernel can be proposed for these rows: {'; '.join(notes)}")
    return able, kernels, own_rows, notes


def _not_alike(alignments: Array, groups: Sequence[str]) -> tuple[list[int], dict[int, int]]:
    """Return the places of kernels that are kept, and of those alike one of them with that one."""
    with_target = alignments[:-1, -1]
    order = np.argsort(np.round(-with_target, 9), kind="stable").tolist()
    firsts = list({groups[place]: place for place in reversed(order)}.values())
    order.sort(key=lambda place: place not in firsts)
    kept: list[int] = []
    like: dict[int, int] = {}
    for place in order:
        nearest = max(kept, key=lambda taken: alignments[place, taken], default=place)
        if kept and alignments[place, nearest] > ALIKE:
            like[place] = nearest
        elif with_target[place] >= WEAK * with_target.max() and len(kept) < MOST_COMPARED:
            kept.append(place)
    return kept, like


def _better_together(
    kernel_rows: KernelRows, places: list[int], targets: Array, codes: NDArray[np.intp]
) -> list[int]:
    """Return the places of kernels whose even sum has a low leave-one-out error."""
    drawn = drawn_by_class(codes, MOST_ROWS)
    some = kernel_rows.take(drawn)
    grams = {place: some.kernels[place](some.rows[place], some.rows[place]) for place in places}
    taken: list[int] = []
    total, error = np.zeros((len(drawn), len(drawn))), np.inf
    while len(taken) < min(MOST_TAKEN, len(places)):
        others = [place for place in places if place not in taken]
        sums = ((total + grams[place]) / (len(taken) + 1) for place in others)
        errors = [leave_one_out_error(gram, targets[drawn]) for gram in sums]
        best = int(np.argmin(np.round(errors, 9)))
        if taken and errors[best] > (1 - WORTH) * error:
            break
        error = errors[best]
        taken.append(others[best])
        total = total + grams[others[best]]
    return taken
