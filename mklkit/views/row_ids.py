"""Kernels that look rows up by ids, whose column must not be used as a feature."""

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
    """Return whether a kernel takes row ids to look up instead of features."""
    return facts_of(kernel.kernel, KernelFacts).reads == "row ids"


def hide_row_ids(kernels: list[BoundKernel], n_features: int) -> list[BoundKernel]:
    """Return the kernels, with those that name no columns bound to all except columns of row ids.

    The order of the rows may reveal the classes to be learned.

    Raises
    ------
    DataError
        If only columns of row ids are left for a kernel on features.

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
                f"Kernel {kernel.label!r} needs features, and the only column holds the row"
                f" ids of {reading[0].label!r}: add feature columns, and bind the kernel on"
                " ids to its own column, as in ('graph', Precomputed(K), ['id'])."
            )
        shown.append(attrs.evolve(kernel, columns=features))
    return shown


def feature_columns(views: Views, name: str) -> Columns:
    """Return the feature columns of a combiner's views, None if no column holds row ids.

    Raises
    ------
    IncompatibleError
        If there are no feature columns; the message names the combiner.
    """
    reading = (view.projector.columns for view in views if view.reads_row_ids)
    features = _without(reading, views.rows.shape[1])
    if features is not None and not features.size:
        raise IncompatibleError(
            f"{name} computes weights from a row's features, but these rows contain only ids of a"
            " precomputed kernel: add feature columns, and bind the kernel to the id column as"
            " in ('graph', Precomputed(K), ['id'])."
        )
    return features


def _without(columns_of_ids: Iterable[Columns], n_features: int) -> Columns:
    """Return the columns that are in none of these; None if these are empty."""
    everything = np.arange(n_features)
    ids = [everything if columns is None else columns for columns in columns_of_ids]
    return np.setdiff1d(everything, np.concatenate(ids)) if ids else None
