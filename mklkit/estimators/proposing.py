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
from mklkit.estimators.checking import as_source, check_training
from mklkit.estimators.pruning import Candidate, pruned
from mklkit.estimators.showing import KernelSummary
from mklkit.estimators.table_reading import read_table
from mklkit.estimators.training_data import TrainingData
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import Array, Task
from mklkit.registry.columns import bind_kernels, proposed_specs
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.rows import rows_at

MOST_ROWS = 1000
"""Rows on which candidates are compared: more of them hardly change an alignment."""

MOST_CANDIDATES = 40
"""Candidates before pruning; their pairwise products cost the square of their number."""

AUTO = "kernels auto: "
"""How notes on proposed kernels begin."""


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
    and for each group of them (:func:`column_groups`), at most 40; :func:`pruned` takes at most 8.
    They are compared on at most about 1,000 rows, drawn by class; the draw depends on the class
    numbers alone, or on the number of rows.

    References
    ----------
    Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
    JMLR 13 (2012): the alignments, section 2.
    """
    numbers = task == "numbers"
    codes = np.zeros(len(data.values), np.intp) if numbers else data.values
    drawn = drawn_by_class(codes, MOST_ROWS)
    sample, values = rows_at(data.rows, drawn), data.values[drawn]
    if numbers:
        targets = StandardScaler().fit_transform(values.reshape(len(values), -1))
    else:
        targets = (values[:, None] == np.unique(values)).astype(np.float64)
    kernels, notes = pruned(_candidates(names, sample), sample, targets, codes[drawn])
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
