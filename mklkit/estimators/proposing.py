"""``kernels="auto"``: a bank of kernels proposed from the training rows and their labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from mklkit.display.html import notes, shown
from mklkit.errors import DataError, MKLKitError, counted
from mklkit.estimators.showing import KernelSummary
from mklkit.estimators.table_reading import read_table
from mklkit.estimators.training_data import TrainingData, as_source, check_training
from mklkit.numerics.ridge import leave_one_out_error
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import Array, FittedKernel, Task
from mklkit.registry.columns import bind_kernels, proposed_specs
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.kernel_rows import InnerProduct, KernelRows
from mklkit.views.rows import ColumnCuts, rows_at
from mklkit.views.tiles import kernel_products

MOST_ROWS = 1000
"""Rows on which candidates are compared: more of them hardly change an alignment."""

MOST_CANDIDATES = 40
"""Candidates before pruning; their pairwise products cost the square of their number."""

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

ROWS_OF_SUMS = 400
"""Rows on which even sums are compared, as an eigendecomposition costs the cube of them."""

AUTO = "kernels auto: "
"""How notes on proposed kernels begin."""


Candidate = tuple[BoundKernel, str]
"""A kernel that may be taken, and the name of its group of columns."""


@attrs.frozen
class KernelBank:
    """The kernels of an estimator, bound to columns of its training data.

    ``notes`` tell what was taken and left out of what was proposed, and why.
    """

    kernels: list[BoundKernel]
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of the kernels, and the notes."""
        table = KernelSummary(self.kernels).html()
        return shown(table, notes("What was taken and left out", self.notes))


def proposed_bank(names: Sequence[str] | None, data: TrainingData, task: Task) -> KernelBank:
    """Return a bank proposed from training data, for classes or for numbers.

    Candidates are those that registered kernels propose (``KernelFacts.proposed``), for all columns
    and for each group of them (:func:`column_groups`), at most 40; pruning takes at most 8.
    They are compared on at most about 1,000 rows, drawn by class; the draw depends on the class
    numbers alone, or on the number of rows.

    Alignments: Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered
    alignment", JMLR 13 (2012), section 2.
    """
    numbers = task == "numbers"
    codes = np.zeros(len(data.values), np.intp) if numbers else data.values
    drawn = drawn_by_class(codes, MOST_ROWS)
    sample, values = rows_at(data.rows, drawn), data.values[drawn]
    if numbers:
        targets = StandardScaler().fit_transform(values.reshape(len(values), -1))
    else:
        targets = (values[:, None] == np.unique(values)).astype(np.float64)
    kernels, notes = _pruned(_candidates(names, sample), sample, targets, codes[drawn])
    return KernelBank(kernels, tuple(f"{AUTO}{note}" for note in notes))


def propose_kernels(X: Any, y: Any) -> KernelBank:
    """Return the bank that ``MKLClassifier(kernels="auto")`` takes on these training rows.

    Parameters
    ----------
    X : DataFrame, array-like, RowSource or Dask rows of shape (N, d)
        Columns are grouped by the names of a DataFrame.
    y : array-like of shape (N,)
        Class labels.

    Raises
    ------
    ValueError
        For data that a classifier refuses.
    DataError
        If no candidate can be fitted to these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> bank = propose_kernels(*load_iris(return_X_y=True))
    >>> print(bank.notes[1])
    kernels auto: took rbf(sigma='median/2') (alignment 0.79)
    """
    X = as_source(X)
    reading, _ = read_table(X, [bind_kernels(None)])
    data = check_training(BaseEstimator(), "two classes", reading, X, y)
    return proposed_bank(reading.names, data, "two classes")


def _candidates(names: Sequence[str] | None, sample: Array) -> list[Candidate]:
    """Return the proposed kernels for all columns and each group, the most useful first."""
    groups: dict[str, Any] = {"": None, **column_groups(names, sample)}
    candidates: list[Candidate] = []
    for spec in proposed_specs():
        for name, columns in groups.items():
            (bound,) = bind_kernels([(f"{spec}@{name}" if name else spec, spec, columns)])
            candidates.append((bound, name))
    return candidates[:MOST_CANDIDATES]


SEPARATED = re.compile(r"(.+[_.:/|-])[^_.:/|-]+")
"""A prefix up to the last separator, and the rest of a name."""

MOST_GROUPS = 8
"""Larger numbers of groups would leave fewer than five candidates to each of them."""


def column_groups(names: Sequence[str] | None, rows: Array) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the columns of each group, by the common beginning of their names.

    A beginning ends with the last separator of a name (one of ``_ . : / | -``), and makes a group
    if several columns have it; one that continues another, as ``clin_site_`` does ``clin_``,
    belongs to that. Indicator columns of a single text column (as ``rows`` show) are no source
    of their own. They, columns without a group, and the smallest of more than eight groups are one
    group, ``others``. There are at least two groups of at least two columns each (except
    ``others``), or none at all.

    >>> rows = np.arange(12.0).reshape(2, 6)
    >>> names = ["mrna_1", "mrna_2", "clin.age", "clin.bmi", "dose", "img:1"]
    >>> {name: columns.tolist() for name, columns in column_groups(names, rows).items()}
    {'mrna_*': [0, 1], 'clin.*': [2, 3], 'others': [4, 5]}
    """
    by_beginning: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names or ()):
        match = SEPARATED.fullmatch(name)
        if match is not None:
            by_beginning[match.group(1)].append(place)
    several = {beginning for beginning, places in by_beginning.items() if len(places) > 1}
    joined: dict[str, list[int]] = defaultdict(list)
    for beginning, places in by_beginning.items():
        shorter = (prefix for prefix in several if beginning.startswith(prefix))
        joined[min(shorter, key=len, default=beginning)] += places
    sources = {
        f"{beginning}*": np.sort(places)
        for beginning, places in joined.items()
        if len(places) > 1 and not _are_indicators(rows[:, np.sort(places)])
    }
    if len(sources) < 2:
        return {}
    largest = sorted(sources, key=lambda beginning: -len(sources[beginning]))[:MOST_GROUPS]
    groups = {name: columns for name, columns in sources.items() if name in largest}
    rest = np.setdiff1d(np.arange(rows.shape[1]), np.concatenate(list(groups.values())))
    return {**groups, "others": rest} if len(rest) else groups


def _are_indicators(rows: Array) -> bool:
    """Return whether exactly one column is high in each row and all columns have two values."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    two_valued = ((rows == low) | (rows == high)).all()
    # A rare value may be absent from these rows.
    is_high = (rows == high) & (low < high)
    return bool(two_valued and (is_high.sum(axis=1) == 1).all())


def _pruned(
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
    drawn = drawn_by_class(codes, ROWS_OF_SUMS)
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
