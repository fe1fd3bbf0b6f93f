"""Kernel alignment: the similarity of two kernels on some samples (Wang and Chen 2009, eq. 14).

``kernels`` are as for ``MKLClassifier``, or a fitted estimator with kernels (also a search or a
vote), for which ``X`` has the columns that it was fitted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.errors import DataError, MKLKitError
from mklkit.estimators.binding import bind, header
from mklkit.estimators.introspection import FittedSearch, KernelModel
from mklkit.estimators.joining import one_table_and_places
from mklkit.estimators.plan import check_new_rows
from mklkit.estimators.reading import kept_gaps, medians_of, numbers_in, rows_in, with_gaps
from mklkit.estimators.sources import with_columns_of_labels
from mklkit.numerics.gram_tiles import centered_gram
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Array, FittedKernel, Rows, Schema, members_with
from mklkit.registry.columns import bind_kernels, refuse_auto
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.scaling import scale_of, with_scaling
from mklkit.views.tiles import kernel_products

NEAR_DUPLICATE = 0.99


def kernel_alignment(first: Array, second: Array, centered: bool = False) -> float:
    """Return the alignment of two Gram matrices, ⟨K₁, K₂⟩/(‖K₁‖‖K₂‖).

    It is equation 14 of Wang and Chen 2009.

    Parameters
    ----------
    first, second : ndarray of shape (N, N)
        Gram matrices of the same samples.
    centered : bool, default=False
        Whether both are centred first, K → HKH with H = I − 11ᵀ/N (Cortes et al. 2012).

    Returns
    -------
    float
        Between 0 and 1 for positive semi-definite matrices, between −1 and 1 for others; 0 if a
        matrix is zero.

    Raises
    ------
    DataError
        If the matrices are not square, of one size and finite.

    See Also
    --------
    alignment_matrix : The alignment of every pair of kernels, without Gram matrices.

    References
    ----------
    .. [1] N. Cristianini, J. Shawe-Taylor, A. Elisseeff and J. Kandola, "On kernel-target
       alignment", Advances in Neural Information Processing Systems 14 (2001).
    .. [2] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", Journal of Machine Learning Research 13 (2012), 795–828.

    Examples
    --------
    >>> import numpy as np
    >>> kernel_alignment(np.eye(2), np.ones((2, 2)))  # doctest: +ELLIPSIS
    0.7071...
    >>> kernel_alignment(np.eye(2), 3 * np.eye(2), centered=True)
    1.0
    """
    first, second = checked_gram(first), checked_gram(second)
    if first.shape != second.shape:
        raise DataError(
            "Alignment needs two Gram matrices of the same rows; got shapes"
            f" {first.shape} and {second.shape}."
        )
    if centered:
        first, second = centered_gram(first), centered_gram(second)
    # Scaled first, since the norms of matrices near 1e200 would overflow.
    first, second = (part / (np.abs(part).max(initial=0) or 1) for part in (first, second))
    norms = np.sqrt(np.vdot(first, first) * np.vdot(second, second))
    return float(np.clip(np.vdot(first, second) / norms, -1, 1)) if norms > 0 else 0.0


def checked_gram(gram: Any) -> Array:
    """Return a square matrix of finite numbers, or raise a DataError."""
    refuse_sparse(gram, "The Gram matrix")
    gram = np.asarray(gram, dtype=float)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not np.isfinite(gram).all():
        raise DataError(
            "Expected a square Gram matrix of finite numbers, without NaN or infinity; got shape"
            f" {gram.shape}."
        )
    return gram


def alignment_matrix(
    kernels: Any, X: Any, centered: bool = False, scale: str | None = None
) -> pd.DataFrame:
    """Return the alignment of every pair of kernels on the same samples.

    Parameters
    ----------
    kernels : str, Kernel, list of these, or estimator
        As for :class:`mklkit.MKLClassifier`; or a fitted estimator, for its kernels.
    X : array-like or DataFrame of shape (N, d)
        The samples, as numbers; a DataFrame's column names are used by kernels bound to columns.
    centered : bool, default=False
        Whether kernels are centred first, as for :func:`kernel_alignment`.
    scale : str, optional
        What is done to the columns of kernels that do not say, as for
        :class:`mklkit.MKLClassifier`.

    Returns
    -------
    DataFrame of shape (M, M)
        The alignments, with the kernels' names as labels.

    Raises
    ------
    DataError
        If X is not a table of at least two samples of finite numbers.
    ValueError
        If X has other columns than those that the estimator was fitted on.

    See Also
    --------
    kernel_alignment : The alignment of two Gram matrices.

    Notes
    -----
    Tile by tile: O(N²(d + M²)) time, M tiles of memory and no Gram matrix; two passes if centred.

    References
    ----------
    .. [1] N. Cristianini, J. Shawe-Taylor, A. Elisseeff and J. Kandola, "On kernel-target
       alignment", Advances in Neural Information Processing Systems 14 (2001).
    .. [2] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", Journal of Machine Learning Research 13 (2012), 795–828.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).randn(20, 3)
    >>> table = alignment_matrix(["linear", "polynomial(degree=1, coef0=0)", "rbf(sigma=1)"], X)
    >>> table.round(2).iloc[0].tolist()
    [1.0, 1.0, 0.47]
    """
    bank = FittedBank.fitted(kernels, X, scale)
    table = kernel_products(bank.rows, centered=centered).alignments()
    return pd.DataFrame(table, index=bank.labels, columns=bank.labels)


def self_similarity(kernels: Any, X: Any) -> pd.Series:
    """Return the mean of k(x, x) over the samples of X, per kernel.

    It is 1 for normalised kernels and Gaussians. Weights of kernels with different means are not
    comparable: a kernel ten times as large acts like one with ten times the weight.

    Parameters
    ----------
    kernels, X : as for :func:`alignment_matrix`

    Examples
    --------
    >>> self_similarity(["linear", "rbf(sigma=1)"], [[1.0, 2.0], [3.0, 0.0]]).tolist()
    [7.0, 1.0]
    """
    bank = FittedBank.fitted(kernels, X)
    rows, sizes = bank.rows, []
    for place, (kernel, columns) in enumerate(zip(rows.kernels, rows.rows, strict=True)):
        members = members_with(rows.missing_of(place))
        present = columns if members is None else columns[members]
        sizes.append(float(np.mean(kernel.diagonal(present))))
    return pd.Series(sizes, index=bank.labels)


def near_duplicates(table: pd.DataFrame) -> list[tuple[str, str, float]]:
    """Return the pairs of kernels with an alignment above 0.99.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["a", "b"]
    >>> near_duplicates(pd.DataFrame([[1, 0.995], [0.995, 1]], index=names, columns=names))
    [('a', 'b', 0.995)]
    """
    pairs = combinations([str(label) for label in table.index], 2)
    alignments = table.to_numpy(dtype=float)[np.triu_indices(len(table), 1)].tolist()
    return [
        (*pair, value)
        for pair, value in zip(pairs, alignments, strict=True)
        if value > NEAR_DUPLICATE
    ]


@attrs.frozen(eq=False)
class FittedBank:
    """Kernels fitted to a table, with their columns.

    Attributes
    ----------
    bound : sequence of BoundKernel
        The kernels with their labels, columns and scalings.
    kernels : sequence of FittedKernel
    schema : Schema
        The table's.
    table : Rows
    """

    bound: Sequence[BoundKernel]
    kernels: Sequence[FittedKernel]
    schema: Schema
    table: Rows

    @property
    def labels(self) -> list[str]:
        """The kernels' labels."""
        return [bound.label for bound in self.bound]

    @property
    def rows(self) -> KernelRows:
        """The kernels with what they read in the table."""
        return KernelRows.reading(self.kernels, self.bound, self.table)

    def on(self, X: Any) -> KernelRows:
        """Return the kernels with what they read in other samples with the same columns."""
        table = self.table
        # New samples may have gaps although the table has none.
        fills = medians_of(self.schema, table.numbers) if table.medians is None else table.medians
        rows = _rows_of(self.schema.with_fills(fills), X)
        return KernelRows.reading(self.kernels, self.bound, rows)

    @classmethod
    def fitted(cls, kernels: Any, X: Any, scale: str | None = None) -> FittedBank:
        """Return kernels fitted to a table; ``scale`` is for the columns of those that do not say.

        A ``DataError`` is raised for fewer than two samples, and numbers that are not finite.
        """
        X, sources = one_table_and_places(X)
        bank = bind_kernels(_kernels_of(kernels, X))
        refuse_auto(bank, "there are none here")
        try:
            bank = with_columns_of_labels(bank, header(X)[1], sources)
            schema, (bound,) = bind(X, bank)
            rows = _rows_of(schema, X)
        except MKLKitError:
            raise
        except (TypeError, ValueError) as error:
            raise DataError(f"Kernels are compared on a table of numbers: {error}.") from None
        if len(rows) < 2:
            raise DataError("Kernels are compared on a table of at least two rows; got one.")
        bound = with_scaling(bound, rows, scale)
        return cls(bound, fit_kernels(bound, rows), schema, rows)


def _rows_of(schema: Schema, X: Any) -> Rows:
    """Return what kernels read in a table, with values for gaps if there are any."""
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(
            np.asarray(X, dtype=np.float64) if schema.plain else numbers_in(schema, X)
        )
    allowed = ~np.isinf(numbers)
    if numbers.ndim != 2 or not len(numbers) or not allowed.all():
        raise DataError(
            "Kernels are compared on a table of at least two rows of finite numbers; got shape"
            f" {numbers.shape}{'' if allowed.all() else ' with infinity'}."
        )
    rows = Rows.of(numbers) if schema.plain else rows_in(schema, X, numbers)
    gaps = (np.isnan(numbers) & ~kept_gaps(schema, numbers)).any()
    return with_gaps(schema, rows) if gaps else rows


def _kernels_of(kernels: Any, X: Any) -> Any:
    """Return the kernels of a fitted estimator with their columns; anything else unchanged.

    Kernels of an estimator have positions of columns, so samples with other columns raise an error.
    """
    estimator = kernels.best_estimator_ if isinstance(kernels, FittedSearch) else kernels
    if not isinstance(estimator, KernelModel):
        return kernels
    check_new_rows(estimator, X)
    return [
        (bound.label, bound.kernel, bound.columns, scale_of(bound))
        for bound in estimator.bound_kernels_
    ]
