"""The columns that can be compared as numbers, whatever kernel reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.protocols import Projector, Views

__all__ = ["feature_columns"]


def feature_columns(views: Views, name: str) -> NDArray[np.intp] | None:
    """Return the columns of numbers of a combiner's views, None if all are.

    Not among them are columns in which a kernel reads row ids, text or categories, and those that
    may have gaps.

    Raises
    ------
    IncompatibleError
        If there are no such columns; the message names the combiner.
    """
    everything = np.arange(views.rows.shape[1])
    others = [
        everything if view.projector.columns is None else view.projector.columns
        for view in views
        if not _reads_features(view.projector)
    ]
    if not others:
        return None
    features = np.setdiff1d(everything, np.concatenate(others))
    if not features.size:
        raise IncompatibleError(
            f"{name} computes weights from a row's features, but these rows contain only columns of"
            " row ids, text, categories or gaps: add columns of numbers, and bind other kernels to"
            " their own columns, as in ('graph', Precomputed(K), ['id'])."
        )
    return features


def _reads_features(projector: Projector) -> bool:
    return projector.reads in ("numbers", "amounts") and not projector.allows_gaps
