"""An estimator for sources that become one table, which functions of scikit-learn can split."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.joining import one_table_and_places
from mklkit.estimators.plan import kernels_by_default
from mklkit.estimators.sources import kernels_of_sources


def on_sources(estimator: Any, X: Any, y: Any = None) -> tuple[Any, Any]:
    """Return an estimator for a mapping of sources, and the table that they become.

    Its kernels name the columns that they would read in the mapping, and so do those of an
    estimator in a pipeline or search. What is no mapping is returned with the estimator as it is.

    Parameters
    ----------
    estimator : estimator
        It is not changed.
    X : mapping of str to array-like of shape (N, d), or samples
        The sources by name.
    y : array-like of shape (N,) or (N, T), optional
        The targets, whose index is compared with those of the sources.

    Returns
    -------
    tuple of (estimator, rows)
        The estimator, unfitted, and the table of shape (N, sum of all d).

    Raises
    ------
    DataError
        If sources and targets have different samples.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> sources = {"lab": [[1.0, 2.0], [3.0, 4.0]], "age": [30, 40]}
    >>> changed, table = on_sources(MKLClassifier(["lab:linear", "rbf"]), sources)
    >>> changed.kernels, list(table)
    ([('lab', 'linear', 'lab_*', None), ('rbf', 'rbf', None, None)], ['lab_0', 'lab_1', 'age'])
    """
    table, sources = one_table_and_places(X, y)
    if sources is None:
        return estimator, table
    changed = clone(estimator)
    for part in [changed, *changed.get_params().values()]:
        if isinstance(part, KernelEstimator):
            kernels = kernels_by_default(part, part.kind, table, sources)
            if kernels is not None:
                named = kernels_of_sources(kernels, sources, table.columns.tolist())
                part.set_params(kernels=named)
    return changed, table
