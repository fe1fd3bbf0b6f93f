"""``kernels="auto"``: a bank of kernels proposed from the training rows and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sklearn.base import BaseEstimator

from mklkit.errors import DataError, MKLKitError
from mklkit.estimators.checking import check_training_data
from mklkit.estimators.column_groups import column_groups
from mklkit.estimators.training import bind_to_columns
from mklkit.numerics.sampling import own_stream
from mklkit.protocols import Array, Rows
from mklkit.registry.composing import AUTO_KERNELS, are_proposed, bind_kernels, proposed_specs
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.column_cuts import ColumnCuts
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.row_parts import rows_at
from mklkit.views.tiles import kernel_products

__all__ = ["KernelBank", "bank_of", "propose_kernels"]

MOST_ROWS = 1000
"""Rows on which candidates are compared: more of them hardly change an alignment."""

MOST_CANDIDATES = 40
"""Candidates before pruning; their pairwise products cost the square of their number."""

MOST_KERNELS = 8
"""Kernels that are taken."""

ALIKE = 0.97
"""Of two kernels with a larger centred alignment only one is taken."""

WEAK = 0.3
"""A kernel with less than this share of the best alignment with the labels is left out."""


@attrs.frozen
class KernelBank:
    """The kernels of an estimator, bound to columns of its training data.

    Attributes
    ----------
    kernels : list of BoundKernel
    notes : tuple of str
        One sentence per kernel that was proposed or left out; none where the user gave kernels.
    """

    kernels: list[BoundKernel]
    notes: tuple[str, ...] = ()


def bank_of(kernels: Any, estimator: Any, rows: Rows, codes: NDArray[np.intp]) -> KernelBank:
    """Return the kernels that the user gave, or a bank proposed from the training data.

    Candidates are those that registered kernels propose (``KernelFacts.proposed``), for all columns
    and for each group of them (:func:`column_groups`), at most 40. Of candidates with a centred
    alignment above 0.97 the one with the larger centred alignment with the labels is kept, and
    those with less than 0.3 of the largest alignment with the labels are left out. The best of each
    group comes first, then the best of all, up to 8.

    Parameters
    ----------
    kernels : None, str, Kernel, or a list of these
        As in :class:`mklkit.MKLClassifier`.
    estimator : MKLClassifier or MKLSearchCV
        With ``n_features_in_``, and ``feature_names_in_`` where columns have names.
    rows : ndarray or RowSource of shape (N, d)
    codes : ndarray of shape (N,)
        Class numbers.

    Raises
    ------
    DataError
        If no candidate can be fitted to these rows.

    Notes
    -----
    On at most 1,000 rows n, drawn by class: O(n²(d + M²)) for M candidates, tile by tile, and no
    Gram matrix. The draw depends on the class numbers alone.

    References
    ----------
    Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
    JMLR 13 (2012): the alignments, section 2.
    """
    if not are_proposed(kernels):
        return KernelBank(bind_to_columns(kernels, estimator))
    drawn = drawn_by_class(codes)
    sample = rows_at(rows, drawn)
    names = getattr(estimator, "feature_names_in_", None)
    candidates = _candidates(None if names is None else [str(name) for name in names], sample)
    return _pruned(candidates, sample, codes[drawn])


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
    >>> print(bank.notes[0])
    """
    columns = BaseEstimator()
    rows, codes = check_training_data(columns, X, y, "ovo")
    return bank_of(AUTO_KERNELS, columns, rows, codes)


def drawn_by_class(codes: NDArray[np.intp], most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Return the places of at most about ``most`` rows, in order: an equal share of each class.

    A class with at least one row has at least one in the sample, and two where it has two.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.repeat([0, 1], [80, 20])
    >>> np.bincount(codes[drawn_by_class(codes, most=10)]).tolist()
    [8, 2]
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    draw = own_stream(len(codes))
    share = most / len(codes)
    parts = []
    for number in np.unique(codes):
        members = np.flatnonzero(codes == number)
        count = min(len(members), max(2, round(share * len(members))))
        parts.append(draw.choice(members, count, replace=False, shuffle=False))
    return np.sort(np.concatenate(parts))


@attrs.frozen
class _Candidate:
    bound: BoundKernel
    group: str


def _candidates(names: Sequence[str] | None, sample: Array) -> list[_Candidate]:
    """Return the proposed kernels for all columns and each group, the most useful first."""
    groups: list[tuple[str, Any]] = [("", None)]
    groups += [(group.name, group.columns) for group in column_groups(names, sample)]
    found = []
    for spec in proposed_specs():
        for name, columns in groups:
            (bound,) = bind_kernels([(f"{spec}@{name}" if name else spec, spec, columns)])
            found.append(_Candidate(bound, name))
    return found[:MOST_CANDIDATES]


@attrs.frozen
class _SameClass:
    """The label kernel: 1 for rows of the same class, else 0."""

    def __call__(self, a: Array, b: Array) -> Array:
        return (a == b.T).astype(np.float64)

    def diagonal(self, a: Array) -> Array:
        return np.ones(len(a))


@attrs.frozen(eq=False)
class _Measured:
    """Candidates with their centred alignments with the labels (M,) and each other (M, M)."""

    candidates: list[_Candidate]
    with_labels: Array
    alike: Array


def _measured(
    candidates: Sequence[_Candidate], sample: Array, codes: NDArray[np.intp]
) -> tuple[_Measured, list[str]]:
    """Return the candidates that have finite values on the sample, and a note on each other."""
    cuts = ColumnCuts(sample)
    kept, kernels, rows, notes = [], [], [], []
    for candidate in candidates:
        own = cuts.of(candidate.bound.columns)
        try:
            (fitted,), _ = fit_kernels([attrs.evolve(candidate.bound, columns=None)], own)
        except MKLKitError as error:
            notes.append(f"auto: left out {candidate.bound.label}: {error}")
            continue
        kept.append(candidate)
        kernels.append(fitted)
        rows.append(own)
    if not kept:
        raise DataError(f"No kernel can be proposed for these rows. {' '.join(notes)}")
    seen = KernelRows.of(
        [*kernels, _SameClass()], [*rows, np.ascontiguousarray(codes[:, None], dtype=np.float64)]
    )
    with np.errstate(over="ignore", invalid="ignore"):
        found = kernel_products(seen).alignments()
    found = np.nan_to_num(found)
    return _Measured(kept, found[:-1, -1], found[:-1, :-1]), notes


def _pruned(
    candidates: Sequence[_Candidate], sample: Array, codes: NDArray[np.intp]
) -> KernelBank:
    """Return the kernels that are taken, and a note on each candidate."""
    found, notes = _measured(candidates, sample, codes)
    order = np.argsort(-found.with_labels, kind="stable").tolist()
    least = WEAK * found.with_labels[order[0]]
    first_of_group = {found.candidates[place].group: place for place in reversed(order)}
    taken: list[int] = []
    for place in [*(p for p in order if p in first_of_group.values()), *order]:
        if place in taken or len(taken) == MOST_KERNELS or found.with_labels[place] < least:
            continue
        if not taken or found.alike[place, taken].max() <= ALIKE:
            taken.append(place)
    said = [_said(found, place) for place in taken]
    for place in order:
        if place not in taken:
            notes.append(f"{_said(found, place)}: {_why_not(found, place, taken, least)}")
    kernels = [found.candidates[place].bound for place in taken]
    return KernelBank(
        kernels,
        (
            f"kernels auto: {len(kernels)} of {len(candidates)} candidates, by centred alignment"
            f" with the labels on {len(sample)} rows",
            *(f"auto: took {text}" for text in said),
            *(f"auto: left out {text}" for text in notes),
        ),
    )


def _said(found: _Measured, place: int) -> str:
    return f"{found.candidates[place].bound.label} (alignment {found.with_labels[place]:.2f})"


def _why_not(found: _Measured, place: int, taken: list[int], least: float) -> str:
    if found.with_labels[place] < least:
        return f"below {WEAK:g} of the best"
    nearest = max(taken, key=lambda other: found.alike[place, other])
    if found.alike[place, nearest] > ALIKE:
        label = found.candidates[nearest].bound.label
        return f"alike {label} ({found.alike[place, nearest]:.2f})"
    return f"{MOST_KERNELS} are enough"
