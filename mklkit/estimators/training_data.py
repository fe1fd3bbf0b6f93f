"""Training data: rows, what is to be learned of them, and how much each counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from numbers import Number, Real
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from mklkit.errors import DataError, SpecError, counted, listed, quoted, suggest
from mklkit.protocols import Array, Rows, TableRows
from mklkit.views.dask.rows import in_memory
from mklkit.views.rows import is_dask, take_rows

__all__ = ["TrainingData", "checked_row_weights", "class_weights", "digest_of"]

BALANCED = "balanced"


@attrs.frozen(eq=False, slots=False)
class TrainingData:
    """Checked training rows and what is to be learned of them.

    Attributes
    ----------
    rows : ndarray, TableRows or RowSource of shape (N, d)
    values : ndarray of shape (N,) or (N, T)
        Class numbers, or numbers to be learned; zeros where there is nothing to learn.
    row_weights : ndarray of shape (N,), optional
        How much each row counts, above 0; None where all count the same.
    whole : ndarray of shape (T, d), optional
        All rows of a search, of which these are those at ``places`` (N,).
    """

    rows: Rows
    values: NDArray[Any]
    row_weights: Array | None = attrs.field(default=None)
    whole: Array | None = None
    places: NDArray[np.intp] | None = None

    @row_weights.validator
    def _check_sum(self, _: Any, weights: Array | None) -> None:
        with np.errstate(over="ignore"):
            finite = weights is None or np.isfinite(weights.sum())
        if not finite:
            raise DataError(
                "The weights of the rows, with those of their classes, have a sum beyond the"
                " numbers of float64: divide them by a power of ten."
            )

    def take(self, members: NDArray[np.intp]) -> TrainingData:
        """Return some of the rows, as a part of these."""
        weights = None if self.row_weights is None else self.row_weights[members]
        whole = self.rows if isinstance(self.rows, np.ndarray) else None
        rows = take_rows(self.rows, members)
        return TrainingData(rows, self.values[members], weights, whole, members)

    def counting(self) -> Self:
        """Return the data without rows of weight 0, which are no rows."""
        weights = self.row_weights
        if weights is None or weights.all():
            return self
        kept = np.flatnonzero(weights)
        weights = None if (weights[kept] == 1).all() else weights[kept]
        return type(self)(take_rows(self.rows, kept), self.values[kept], weights)

    def with_class_weights(self, weights: Array) -> Self:
        """Return the data with each row's weight times that of its class (C,).

        Raises
        ------
        DataError
            If a product is above or below all numbers.

        Examples
        --------
        >>> data = TrainingData(np.eye(2), np.array([0, 1]), np.array([2.0, 2.0]))
        >>> data.with_class_weights(np.array([1.0, 3.0])).row_weights
        array([2., 6.])
        """
        if (weights == 1).all():
            return self
        of_rows = weights[self.values]
        if self.row_weights is None:
            return attrs.evolve(self, row_weights=of_rows)
        with np.errstate(over="ignore", under="ignore"):
            joint = of_rows * self.row_weights
        wrong = np.flatnonzero(~np.isfinite(joint) | ((joint == 0) & (self.row_weights > 0)))
        if len(wrong):
            raise DataError(
                f"The weight of row {wrong[0]} (counted from 0), {self.row_weights[wrong[0]]:g},"
                f" times that of its class, {of_rows[wrong[0]]:g}, is beyond the numbers of"
                " float64: divide one of them by a power of ten."
            )
        return attrs.evolve(self, row_weights=joint)

    @cached_property
    def digest(self) -> tuple[Any, ...]:
        """What tells these data from others, where they are in memory."""
        arrays = self.rows, self.values, self.row_weights, self.whole, self.places
        return tuple(map(digest_of, arrays))


def digest_of(array: Any) -> Any:
    """Return what tells arrays of other content apart."""
    if array is None:
        return None
    if isinstance(array, TableRows):
        return tuple(map(digest_of, array.parts)), *array.texts, *array.categories
    content = blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
    return array.shape, array.dtype.str, content


def checked_row_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return the weights of rows (N,) in float64; None where all of them are 1.

    Parameters
    ----------
    sample_weight : None, number, or array-like of shape (N,)
    n_rows : int

    Raises
    ------
    DataError
        If there are not as many weights as rows, or one is negative, NaN or infinite, or all are 0.

    Examples
    --------
    >>> checked_row_weights([1, 2], 2)
    array([1., 2.])
    >>> checked_row_weights([1, 1], 2) is None
    True
    """
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
    """Return the weight of each class (C,).

    Parameters
    ----------
    class_weight : None, "balanced", or dict of class label to number
        ``"balanced"``: N/(C·n_c) for the n_c rows of a class, so that all classes count the same;
        rows with weights count by them. Classes that a dict does not name have the weight 1.
    classes : ndarray of shape (C,)
    codes : ndarray of shape (N,)
        Class numbers.
    row_weights : ndarray of shape (N,), optional

    Raises
    ------
    SpecError
        If it is none of these, or a weight is not a finite number above 0.
    DataError
        If the dict names a class that does not occur.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 1])
    >>> class_weights("balanced", np.array(["ill", "well"]), codes)
    array([0.66666667, 2.        ])
    >>> class_weights({"well": 5}, np.array(["ill", "well"]), codes)
    array([1., 5.])
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
