"""Kernels that look rows up by ids: their column is kept from whatever reads features."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, IncompatibleError
from mklkit.protocols import KernelFacts, Views, facts_of
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["feature_columns", "hide_row_ids", "reads_row_ids"]

Columns = NDArray[np.intp] | None


def reads_row_ids(kernel: BoundKernel) -> bool:
    """Return whether a kernel takes ids to look up, not features."""
    return facts_of(kernel.kernel, KernelFacts).reads_row_ids


def hide_row_ids(kernels: list[BoundKernel], n_features: int) -> list[BoundKernel]:
    """Return the kernels, those that name no columns bound to all but columns of row ids.

    In the order of the rows there may be the classes to be learned.

    Raises
    ------
    DataError
        If no columns but those of row ids are left to a kernel of features.

    Examples
    --------
    >>> from mklkit import RBF, Precomputed
    >>> graph = BoundKernel("graph", Precomputed(np.eye(4)), np.array([1]))
    >>> hide_row_ids([graph, BoundKernel("rbf", RBF())], 3)[1].columns
    array([0, 2])
    """
    reading = [kernel for kernel in kernels if reads_row_ids(kernel)]
    features = _without((kernel.columns for kernel in reading), n_features)
    if features is None:
        return kernels
    shown = []
    for kernel in kernels:
        if kernel.columns is not None or reads_row_ids(kernel):
            shown.append(kernel)
            continue
        if not features.size:
            raise DataError(
                f"Kernel {kernel.label!r} is one of features, and the only column holds the row"
                f" ids of {reading[0].label!r}: add feature columns, and bind the kernel of"
                " ids to its own, as in ('graph', Precomputed(K), ['id'])."
            )
        shown.append(attrs.evolve(kernel, columns=features))
    return shown


def feature_columns(views: Views, name: str) -> Columns:
    """Return the columns that hold no row ids, None where all do not; of a combiner's views.

    Raises
    ------
    IncompatibleError
        If there are none, with the combiner's name.
    """
    reading = (view.projector.columns for view in views if view.reads_row_ids)
    features = _without(reading, views.rows.shape[1])
    if features is not None and not features.size:
        raise IncompatibleError(
            f"{name} weighs kernels by a row's features, and these rows are ids of a precomputed"
            " kernel and nothing else: add feature columns, and bind the kernel to the id column as"
            " in ('graph', Precomputed(K), ['id'])."
        )
    return features


def _without(columns_of_ids: Iterable[Columns], n_features: int) -> Columns:
    """Return the columns that are in none of these (None: all), or None where there are none."""
    everything = np.arange(n_features)
    ids = [everything if columns is None else columns for columns in columns_of_ids]
    return np.setdiff1d(everything, np.concatenate(ids)) if ids else None
