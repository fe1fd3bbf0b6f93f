"""``kernels="auto"``: a bank of kernels proposed from the training rows and their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from mklkit.display.html import notes, shown
from mklkit.estimators.checking import check_training_data
from mklkit.estimators.column_groups import column_groups
from mklkit.estimators.kernel_summary import KernelSummary
from mklkit.estimators.pruning import LEFT_OUT, Candidate, Truth, pruned
from mklkit.estimators.shared_views import made_once
from mklkit.estimators.training import bind_to_columns
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import Array, Rows
from mklkit.registry.composing import AUTO_KERNELS, are_proposed, bind_kernels, proposed_specs
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.row_parts import rows_at

__all__ = ["KernelBank", "bank_of", "propose_kernels", "shortened"]

MOST_ROWS = 1000
"""Rows on which candidates are compared: more of them hardly change an alignment."""

MOST_CANDIDATES = 40
"""Candidates before pruning; their pairwise products cost the square of their number."""

AUTO = "kernels auto: "
"""How notes on proposed kernels begin."""


@attrs.frozen
class KernelBank:
    """The kernels of an estimator, bound to columns of its training data.

    Attributes
    ----------
    kernels : list of BoundKernel
    notes : tuple of str
        What was taken and left out of what was proposed, and why; of kernels that the user gave,
        what became of gaps in their columns.
    """

    kernels: list[BoundKernel]
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of the kernels, and the notes."""
        table = KernelSummary(self.kernels, len(self.kernels)).html()
        return shown(table, notes("What was taken and left out", self.notes))


def bank_of(
    kernels: Any, estimator: Any, rows: Rows, values: NDArray[Any], numbers: bool = False
) -> KernelBank:
    """Return the kernels that the user gave, or a bank proposed from the training data.

    Candidates are those that registered kernels propose (``KernelFacts.proposed``), for all columns
    and for each group of them (:func:`column_groups`), at most 40; :func:`pruned` takes at most 8.

    Parameters
    ----------
    kernels : None, str, Kernel, or a list of these
        As in :class:`mklkit.MKLClassifier`.
    estimator : MKLClassifier, MKLRegressor or MKLSearchCV
        With ``n_features_in_``, and ``feature_names_in_`` where columns have names.
    rows : ndarray or RowSource of shape (N, d)
    values : ndarray of shape (N,)
        Class numbers, or the numbers to be learned, (N,) or (N, T).
    numbers : bool, default=False
        Which of them.

    Raises
    ------
    DataError
        If no candidate can be fitted to these rows.

    Notes
    -----
    On at most about 1,000 rows, drawn by class; the draw depends on the class numbers alone, or on
    the number of rows.

    References
    ----------
    Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
    JMLR 13 (2012): the alignments, section 2.
    """
    if not are_proposed(kernels):
        reading = estimator._table_reading
        notes = () if reading is None else reading.notes
        return KernelBank(bind_to_columns(kernels, estimator), notes)
    given = getattr(estimator, "feature_names_in_", None)
    names = None if given is None else [str(name) for name in given]
    what = "bank for numbers" if numbers else "bank"
    return made_once(what, rows, values, names, lambda: _proposed(names, rows, values, numbers))


def _proposed(
    names: Sequence[str] | None, rows: Rows, values: NDArray[Any], numbers: bool
) -> KernelBank:
    drawn = drawn_by_class(np.zeros(len(values), np.intp) if numbers else values, MOST_ROWS)
    sample, own = rows_at(rows, drawn), values[drawn]
    truth = Truth.of_numbers(own) if numbers else Truth.of_classes(own)
    taken, notes = pruned(_candidates(names, sample), sample, truth)
    return KernelBank(taken, tuple(f"{AUTO}{note}" for note in notes))


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
    columns = BaseEstimator()
    rows, codes, _ = check_training_data(columns, X, y, "ovo", AUTO_KERNELS)
    return bank_of(AUTO_KERNELS, columns, rows, codes)


def shortened(notes: Sequence[str]) -> list[str]:
    """Return notes with those on kernels that are left out as one line, for a terminal.

    Examples
    --------
    >>> notes = ["kernels auto: left out 2, as they are alike: a, b", "learner svm"]
    >>> shortened(notes)  # doctest: +NORMALIZE_WHITESPACE
    ["kernels auto: left out 2, as they are alike ('mklkit kernels DATA -k auto' names them)",
     'learner svm']
    """
    out = [note for note in notes if note.startswith(AUTO + LEFT_OUT)]
    if not out:
        return list(notes)
    # One that could not be fitted has a note of its own, without a number.
    found = [re.match(r"(\d+), ([^:]*)", note.removeprefix(f"{AUTO}{LEFT_OUT} ")) for note in out]
    reasons = [(int(one[1]), one[2]) if one else (1, "as it can't be fitted") for one in found]
    total = sum(number for number, _ in reasons)
    most, reason = max(reasons)
    share = "" if most == total else f"{most} of them "
    line = f"{AUTO}{LEFT_OUT} {total}, {share}{reason} ('mklkit kernels DATA -k auto' names them)"
    place = notes.index(out[0])
    before, after = notes[:place], notes[place:]
    return [*before, line, *(note for note in after if note not in out)]


def _candidates(names: Sequence[str] | None, sample: Array) -> list[Candidate]:
    """Return the proposed kernels for all columns and each group, the most useful first."""
    groups: list[tuple[str, Any]] = [("", None)]
    groups += [(group.name, group.columns) for group in column_groups(names, sample)]
    found = []
    for spec in proposed_specs():
        for name, columns in groups:
            (bound,) = bind_kernels([(f"{spec}@{name}" if name else spec, spec, columns)])
            found.append(Candidate(bound, name))
    return found[:MOST_CANDIDATES]
