"""Training data: rows, what is to be learned of them, and how much each counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from numbers import Number, Real
from typing import Any, Self

import attrs
import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from mklkit.errors import DataError, SpecError, counted, listed, quoted, suggest
from mklkit.protocols import Array, Rows
from mklkit.views.dask.rows import in_memory
from mklkit.views.rows import is_dask, take_rows

BALANCED = "balanced"


@attrs.frozen(eq=False, slots=False)
class TrainingData:
    """Checked training rows and what is to be learned of them.

    ``values`` are class numbers (N,), or numbers to be learned (N,) or (N, T); zeros where there is
    nothing to learn. ``row_weights`` are above 0; None where all rows count the same. ``whole`` has
    all rows of a search, of which these are those at ``places`` (N,).
    """

    rows: Rows
    values: NDArray[Any]
    row_weights: Array | None = None
    whole: Array | None = None
    places: NDArray[np.intp] | None = None

    def take(self, members: NDArray[np.intp]) -> TrainingData:
        """Return some of the rows, as a part of these."""
        weights = None if self.row_weights is None else self.row_weights[members]
        whole = self.rows if isinstance(self.rows, np.ndarray) else None
        rows = take_rows(self.rows, members)
        return TrainingData(rows, self.values[members], weights, whole, members)

    def counting(self) -> Self:
        """Return the data without rows of weight 0, which are no rows."""
        if self.row_weights is None:
            return self
        kept = np.flatnonzero(self.row_weights)
        weights = _in_range(self.row_weights[kept])
        if len(kept) == len(self.values):
            return self
        of_rows = None if (weights == 1).all() else weights
        return type(self)(take_rows(self.rows, kept), self.values[kept], of_rows)

    def with_class_weights(self, weights: Array) -> Self:
        """Return the data with each row's weight times that of its class (C,)."""
        if (weights == 1).all():
            return self
        of_rows = weights[self.values]
        with np.errstate(over="ignore", under="ignore"):
            joint = of_rows if self.row_weights is None else of_rows * self.row_weights
        return attrs.evolve(self, row_weights=_in_range(joint))

    @cached_property
    def digest(self) -> tuple[Any, ...]:
        """What tells these data from others, where they are in memory."""
        arrays = self.rows, self.values, self.row_weights, self.whole, self.places
        return tuple(map(joblib.hash, arrays))


def _in_range(weights: Array) -> Array:
    """Return weights of rows above 0; refuse those beyond the numbers of float64."""
    with np.errstate(over="ignore"):
        if np.isfinite(weights.sum()) and weights.all():
            return weights
    raise DataError(
        "A weight of a row, with that of its class, or the sum of all is beyond the numbers of"
        " float64: divide them by a power of ten."
    )


def checked_row_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return the weights of rows (N,) in float64; None where all of them are 1."""
    if sample_weight is None:
        return None
    sample_weight = in_memory(sample_weight) if is_dask(sample_weight) else sample_weight
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight)
    try:
        weights = np.asarray(column_or_1d(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Weights of rows must be one number per row, an array of shape ({n_rows},): {error}"
        ) from None
    if len(weights) != n_rows:
        raise DataError(
            f"There must be one weight per row; got {counted(len(weights), 'weight')} for"
            f" {counted(n_rows, 'row')}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"Weights of rows must be finite and not negative; that of row {wrong[0]} (counted"
            f" from 0) is {weights[wrong[0]]:g}."
        )
    if not weights.any():
        raise DataError("All weights of rows are zero, so there is no row to learn from.")
    return None if (weights == 1).all() else weights


def class_weights(
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    row_weights: Array | None = None,
) -> Array:
    """Return the weight of each class (C,), from class numbers (N,) and weights of rows (N,).

    ``"balanced"``: N/(C·n_c) for the n_c rows of a class, so that all classes count the same; rows
    with weights count by them. Classes that a dict does not name have the weight 1.

    >>> codes = np.array([0, 0, 0, 1])
    >>> class_weights("balanced", np.array(["ill", "well"]), codes)
    array([0.66666667, 2.        ])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == BALANCED:
        counts = np.bincount(codes, row_weights, minlength=len(classes)).astype(np.float64)
        return counts.sum() / (len(classes) * np.where(counts > 0, counts, np.inf))
    if not isinstance(class_weight, Mapping):
        raise SpecError(
            f"class_weight must be None, {BALANCED!r}, or a dict of class labels and weights such"
            f" as {{'ill': 5, 'well': 1}}; got {quoted(class_weight)}."
        )
    known = classes.tolist()
    weights = np.ones(len(known))
    for label, weight in class_weight.items():
        if label not in known:
            raise DataError(
                f"class_weight names the class {quoted(label)}, and the classes are"
                f" {listed(known)}.{suggest(str(label), map(str, known))}"
            )
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not (number and 0 < float(weight) < np.inf):
            raise SpecError(
                f"The weight of class {quoted(label)} must be a finite number above 0;"
                f" got {quoted(weight)}."
            )
        weights[known.index(label)] = float(weight)
    return weights
