"""``kernels="auto"``: a bank of kernels proposed from the training rows and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from mklkit.display.html import notes, shown
from mklkit.display.numbers import number, percentage
from mklkit.errors import DataError, MKLKitError, counted
from mklkit.estimators.binding import bind
from mklkit.estimators.reading import as_source, read_rows
from mklkit.estimators.showing import KernelSummary
from mklkit.estimators.sources import inferred_sources, kernels_by_kind
from mklkit.estimators.training_data import TrainingData, check_training
from mklkit.numerics.ridge import leave_one_out_error
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import TWO_CLASSES, Array, FittedKernel, Rows, Target, TargetKind
from mklkit.protocols.splits.making import make_splits
from mklkit.registry.columns import proposed_for
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.kernel_rows import InnerProduct, KernelRows
from mklkit.views.sides import GramSide
from mklkit.views.tiles import kernel_products

MOST_ROWS = 1000
"""Rows on which candidates are compared: more of them hardly change an alignment."""

MOST_CANDIDATES = 40
"""Candidates before pruning; their pairwise products cost the square of their number."""

ALIKE = 0.99
"""Of two kernels with a larger centred alignment, only one is kept."""

WEAK = 0.3
"""A kernel with less than this share of the best alignment with the labels is left out."""

MOST_COMPARED = 12
"""The most kernels whose even sums are compared."""

MOST_TAKEN = 8
"""The most kernels to take."""

WORTH = 0.01
"""A kernel must lower the error by this share."""

LEFT_OUT = "left out"
"""The beginning of notes on kernels that were left out."""

ROWS_OF_SUMS = 400
"""Rows on which even sums are compared; an eigendecomposition takes the cube of their number."""

MOST_OF_RIDGE = 2000
"""With more rows the learner is not chosen: ridge regression takes the cube of their number."""

AUTO = "kernels auto: "
"""The beginning of notes on proposed kernels."""


Candidate = tuple[BoundKernel, str]
"""A candidate kernel and the name of its group of columns."""


@attrs.frozen
class KernelBank:
    """The kernels of an estimator, bound to columns of its training data.

    ``learner`` is the one that is better with them; None if none were compared.
    ``notes`` tell which candidates were taken and left out, and why.
    """

    kernels: list[BoundKernel]
    notes: tuple[str, ...] = ()
    learner: Any = None

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of the kernels, and the notes."""
        table = KernelSummary(self.kernels).html()
        return shown(table, notes("What was taken and left out", self.notes))


def proposed_bank(
    names: Sequence[str] | None,
    data: TrainingData,
    kind: TargetKind,
    sources: Sequence[str] = (),
    learners: Sequence[Any] = (),
    read_by: Sequence[BoundKernel] = (),
) -> KernelBank:
    """Return a bank proposed from training data, for classes or other targets.

    ``sources`` are the columns of each source; if empty, sources are recognised by name.
    The learner is the one of ``learners`` that predicts more rows in three folds. ``read_by`` are
    the kernels for which the rows were read, none if all columns are numbers.

    Candidates come from registered kernels (``KernelTraits.proposed``), for all numbers
    and for each source (:func:`inferred_sources`), at most 40; pruning takes at most 8.
    They are compared on about 1,000 rows at most, drawn by class; the draw depends only on the
    class numbers, or on the number of rows.

    Alignments: Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered
    alignment", JMLR 13 (2012), section 2.
    """
    codes = data.values if kind.of_classes else np.zeros(len(data.values), np.intp)
    drawn = drawn_by_class(codes, MOST_ROWS)
    sample, values = data.rows[drawn], data.values[drawn]
    if kind.of_classes:
        targets = (values[:, None] == np.unique(values)).astype(np.float64)
    else:
        response = kind.response(values)
        targets = StandardScaler().fit_transform(response.reshape(len(values), -1))
    parts = inferred_sources(read_by, names, data.rows.shape[1], sources)
    of_rows = None if data.groups is None else data.groups[drawn]
    ranks = zip_longest(*([(bound, part.name) for bound in part.kernels()] for part in parts))
    candidates = [pair for rank in ranks for pair in rank if pair is not None][:MOST_CANDIDATES]
    kernels, notes = _pruned(candidates, sample, targets, codes[drawn], of_rows)
    if sources or len(parts) > 1 or parts[0].reads != "numbers":
        told = ", ".join(str(part) for part in parts if part.name)
        notes.insert(0, f"sources {'given' if sources else 'found'}: {told}")
    learner = None
    if learners and len(np.unique(codes)) < len(codes) <= MOST_OF_RIDGE:
        learner, note = _better_learner(learners, kernels, sample, codes[drawn], of_rows)
        notes.append(note)
    return KernelBank(kernels, tuple(f"{AUTO}{note}" for note in notes), learner)


def propose_kernels(
    X: Any, y: Any, kernels: Any = "auto", kind: TargetKind = TWO_CLASSES
) -> KernelBank:
    """Return the kernels that ``MKLClassifier(kernels="auto")`` takes on these training samples.

    Parameters
    ----------
    X : DataFrame, array-like, StoredRows or Dask rows of shape (N, d)
        The training samples. Columns are grouped by the names of a DataFrame.
    y : array-like of shape (N,)
        Their class labels, or what the ``kind`` reads.
    kernels : str or list of str, default="auto"
        ``"auto"``, or ``"auto@columns"`` for each source, as in ``["auto@mrna_*",
        "auto@age,sex"]``.
    kind : TargetKind, default=TWO_CLASSES
        The kind of the target; several classes are two classes too.

    Returns
    -------
    KernelBank
        With ``kernels``, bound to columns, and ``notes``, which tell what was taken and left out
        and why; a table in a notebook.

    Raises
    ------
    ValueError
        For data that a classifier does not accept.
    DataError
        If no candidate can be fitted to these samples.

    See Also
    --------
    MKLClassifier : The estimator with ``kernels="auto"``.

    References
    ----------
    .. [1] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", Journal of Machine Learning Research 13 (2012), 795–828.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> bank = propose_kernels(*load_iris(return_X_y=True))
    >>> print(bank.notes[1])
    kernels auto: took rbf(sigma='median/2') (alignment 0.79)
    """
    X = as_source(X)
    estimator = BaseEstimator()
    schema, (read_by,) = bind(X, kernels_by_kind(X))
    rows = read_rows(estimator, schema, X, first=True)
    data = check_training(estimator, kind, rows, y)
    sources = proposed_for(kernels) or ()
    return proposed_bank(schema.names, data, kind, sources, (), read_by)


def _pruned(
    candidates: Sequence[Candidate],
    rows: Rows,
    targets: Array,
    codes: NDArray[np.intp],
    groups: NDArray[np.intp] | None,
) -> tuple[list[BoundKernel], list[str]]:
    """Return the kernels to take, and notes on which were taken and left out.

    First by centred alignment: in the order of their alignment with the targets (the best of each
    group first), up to 12 candidates are kept, except weak ones and near copies of one kept.
    Then by the leave-one-out error of kernel ridge regression on the even sum of kernels: the best
    single kernel, then repeatedly the one that lowers the error most, while it falls by one per
    cent. Rows of the same group in ``groups`` (n,) are left out together.

    ``targets`` (n, q) are the regression targets: a column per class with 1 for its rows, or
    numbers of deviation 1; their inner products are the kernel for the alignment.

    O(n²(d + M²)) tile by tile for the alignments of M candidates; then at most 12 Gram matrices of
    400 rows (15 MB), and about 50 eigendecompositions of this size.
    """
    able, kernels, own_rows, notes = _fitted(candidates, rows)
    with_target = KernelRows.of([*kernels, InnerProduct()], [*own_rows, targets])
    with np.errstate(over="ignore", invalid="ignore"):
        alignments = np.nan_to_num(kernel_products(with_target).alignments())
    kept, like = _not_alike(alignments, [group for _, group in able])
    taken = _better_together(KernelRows.of(kernels, own_rows), kept, targets, codes, groups)
    labels = [bound.label for bound, _ in able]
    said = [
        f"{label} (alignment {number(value, 2)})"
        for label, value in zip(labels, alignments[:-1, -1], strict=True)
    ]
    alike = [
        f"{labels[i]} ({number(alignments[i, j], 3)} with {labels[j]})" for i, j in like.items()
    ]
    no_better = [said[place] for place in kept if place not in taken]
    order = np.argsort(np.round(-alignments[:-1, -1], 9), kind="stable").tolist()
    rest = [said[place] for place in order if place not in kept and place not in like]
    first = (
        f"{counted(len(taken), 'kernel')} of {len(candidates)} candidates, by the leave-one-out"
        f" error of their even sum; alignments are centred, with the target of {len(rows)} rows"
    )
    reasons = {
        "similar to one taken": alike,
        "no gain from adding it": no_better,
        "others are better aligned": rest,
    }
    notes = [first, *notes, *(f"took {said[place]}" for place in taken)]
    for reason, names in reasons.items():
        if names:
            notes.append(f"{LEFT_OUT} {len(names)}, {reason}: {', '.join(names)}")
    return [able[place][0] for place in taken], notes


def _fitted(
    candidates: Sequence[Candidate], rows: Rows
) -> tuple[list[Candidate], list[FittedKernel], list[Array], list[str]]:
    """Return the fitted candidates with finite values, their rows, and notes on the others."""
    able, kernels, own_rows, notes = [], [], [], []
    for bound, group in candidates:
        try:
            (kernel,) = fit_kernels([bound], rows)
        except MKLKitError as error:
            notes.append(f"{LEFT_OUT} {bound.label}: {error}")
            continue
        able.append((bound, group))
        kernels.append(kernel)
        own_rows += rows.arrays_of([bound])
    if not able:
        raise DataError(f"No kernel can be proposed for these rows: {'; '.join(notes)}")
    return able, kernels, own_rows, notes


def _not_alike(alignments: Array, groups: Sequence[str]) -> tuple[list[int], dict[int, int]]:
    """Return the places of kernels to keep, and of each near copy with the one that it copies."""
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
    kernel_rows: KernelRows,
    places: list[int],
    targets: Array,
    codes: NDArray[np.intp],
    groups: NDArray[np.intp] | None,
) -> list[int]:
    """Return the places of kernels whose even sum has a low leave-one-out error."""
    drawn = drawn_by_class(codes, ROWS_OF_SUMS)
    some = kernel_rows.take(drawn)
    groups = None if groups is None else groups[drawn]
    grams = {place: some.kernels[place](some.rows[place], some.rows[place]) for place in places}
    taken: list[int] = []
    total = np.zeros((len(drawn), len(drawn)))
    error = np.inf
    while len(taken) < min(MOST_TAKEN, len(places)):
        others = [place for place in places if place not in taken]
        sums = ((total + grams[place]) / (len(taken) + 1) for place in others)
        errors = [leave_one_out_error(gram, targets[drawn], groups=groups) for gram in sums]
        best = int(np.argmin(np.round(errors, 9)))
        if taken and errors[best] > (1 - WORTH) * error:
            break
        error = errors[best]
        taken.append(others[best])
        total = total + grams[others[best]]
    return taken


def _better_learner(
    learners: Sequence[Any],
    kernels: Sequence[BoundKernel],
    rows: Rows,
    codes: NDArray[np.intp],
    groups: NDArray[np.intp] | None,
) -> tuple[Any, str]:
    """Return the learner that predicts more rows in three folds on the even sum, and a note.

    Ties go to the first. Several classes are predicted one against the rest.
    """
    drawn = drawn_by_class(codes, ROWS_OF_SUMS)
    some, codes = rows[drawn], codes[drawn]
    groups = None if groups is None else groups[drawn]
    pairs = zip(fit_kernels(kernels, some), some.arrays_of(kernels), strict=True)
    gram = np.sum([kernel(columns, columns) for kernel, columns in pairs], axis=0)
    classes = np.unique(codes)
    sides = classes[1:] if len(classes) == 2 else classes
    splits = make_splits(codes, 3, groups=groups)
    shares = np.zeros(len(learners))
    for train, test in splits:
        side = GramSide(gram[np.ix_(train, train)])
        between = gram[np.ix_(test, train)]
        for place, learner in enumerate(learners):
            signs = (np.where(codes[train] == code, 1.0, -1.0) for code in sides)
            fits = (learner.fit(side, Target.two_classes(labels)) for labels in signs)
            values = [fitted_learner.decide(between) for fitted_learner in fits]
            answers = np.argmax([-values[0], *values] if len(sides) == 1 else values, axis=0)
            shares[place] += (classes[answers] == codes[test]).sum() / sum(map(len, splits.tests))
    told = zip(learners, shares.tolist(), strict=True)
    said = ", ".join(f"{learner.name} {percentage(share)}" for learner, share in told)
    best = learners[int(np.argmax(shares.round(9)))]
    return best, f"took learner {best.name}: right in three folds of {len(codes)} rows: {said}"
