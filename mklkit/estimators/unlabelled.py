"""Training rows without labels, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklkit.errors import DataError, SpecError
from mklkit.estimators.checking import check_new_rows
from mklkit.estimators.proposing import KernelBank, bank_of
from mklkit.protocols import Rows
from mklkit.registry.composing import are_proposed

__all__ = ["bank_without_labels", "check_rows_alone", "refuse_proposed"]


def check_rows_alone(estimator: Any, X: Any) -> Rows:
    """Return checked training rows; sets scikit-learn's own attributes of the estimator.

    Raises
    ------
    ValueError
        For data that scikit-learn refuses.
    DataError
        For NaN, repeated column names, columns that a kernel can't read, or one row only.
    """
    rows = check_new_rows(estimator, X, estimator.kernels)
    if len(rows) < 2:
        raise DataError("There is only one sample (row), and at least 2 are needed to learn from.")
    return rows


def bank_without_labels(kernels: Any, estimator: Any, rows: Rows) -> KernelBank:
    """Return the kernels that the user gave, on columns of the training rows.

    Raises
    ------
    SpecError
        If kernels are to be proposed, which needs class labels.
    """
    refuse_proposed(kernels)
    return bank_of(kernels, estimator, rows, np.zeros(len(rows), np.intp))


def refuse_proposed(kernels: Any) -> None:
    """Raise a ``SpecError`` if kernels are to be proposed, which needs class labels."""
    if are_proposed(kernels):
        raise SpecError(
            "kernels='auto' proposes kernels by their alignment with class labels, and there are"
            " none: name the kernels, or leave them out for the default ones."
        )
