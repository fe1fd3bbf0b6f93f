"""Weights of rows and of classes: checked, joined, and rows that do not count left out."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from mklkit.errors import DataError, SpecError, counted, listed, quoted, suggest
from mklkit.protocols import Array, Rows
from mklkit.views.dask.predicting import in_memory
from mklkit.views.dask.recognising import is_dask
from mklkit.views.row_parts import take_rows

__all__ = ["checked_row_weights", "class_weights", "counting_rows", "joint_weights"]

BALANCED = "balanced"


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


def counting_rows(
    X: Rows, values: NDArray[Any], weights: Array | None
) -> tuple[Rows, NDArray[Any], Array | None]:
    """Return rows, values and weights without rows of weight 0, which are no rows."""
    if weights is None or weights.all():
        return X, values, weights
    kept = np.flatnonzero(weights)
    left = weights[kept]
    return take_rows(X, kept), values[kept], None if (left == 1).all() else left


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
        found = np.bincount(codes, row_weights, minlength=len(classes)).astype(np.float64)
        return found.sum() / (len(classes) * np.where(found > 0, found, np.inf))
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


def joint_weights(
    of_classes: Array, codes: NDArray[np.intp], row_weights: Array | None
) -> Array | None:
    """Return the weight of each row times that of its class (N,); None where all are 1.

    Raises
    ------
    DataError
        If a product is above or below all numbers.

    Examples
    --------
    >>> joint_weights(np.array([1.0, 3.0]), np.array([0, 1]), np.array([2.0, 2.0]))
    array([2., 6.])
    """
    if (of_classes == 1).all():
        return row_weights
    if row_weights is None:
        return of_classes[codes]
    with np.errstate(over="ignore", under="ignore"):
        weights = of_classes[codes] * row_weights
    wrong = np.flatnonzero(~np.isfinite(weights) | ((weights == 0) & (row_weights > 0)))
    if len(wrong):
        raise DataError(
            f"The weight of row {wrong[0]} (counted from 0), {row_weights[wrong[0]]:g}, times that"
            f" of its class, {of_classes[codes[wrong[0]]]:g}, is beyond the numbers of float64:"
            " divide one of them by a power of ten."
        )
    return weights
