"""What is done to the columns of a kernel before it: scaling by columns or samples, and roots.

Two kernels may read the same columns differently, so a scaling belongs to a kernel and not to a
table. It is fitted to the training samples that have the kernel's source.

The ``scale`` of a ``BoundKernel`` is the name that the user or a candidate gave, and its
``scaling`` is what was fitted; model files and projectors keep it. ``Rows`` apply it where a
kernel's columns are read, once for all kernels with the same columns and scaling. The ``scale`` of
an estimator is for kernels on numbers that name none; ``build_pipeline`` sets it, and adds
scikit-learn's scaler as a step only before estimators without kernels. On samples in a file, one
more pass gives the means, standard deviations and ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from mklkit.errors import DataError, SpecError, counted, quoted, suggest
from mklkit.protocols import Array, Rows
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.engines import engine_of

MANY_ZEROS = 0.25
"""The share of zeros above which amounts are like counts of words."""

MOST_DENSE = 20_000_000
"""The most values, zeros too, of sparse columns that are made dense to try a representation."""


@attrs.frozen(eq=False)
class Scaling:
    """A way to scale the columns of a kernel.

    ``elementwise`` changes each value, before a ``scaler`` of scikit-learn is fitted; ``amounts``
    says that values must not be negative. ``by_moments``: the scaler depends on the mean, standard
    deviation and range of each column, which can be those of samples that are read in parts.
    """

    name: str
    words: str
    elementwise: Callable[[Any], Any] | None = None
    scaler: Callable[[], Any] | None = None
    amounts: bool = False
    by_moments: bool = False

    def suits(self, columns: Any, n_rows: int) -> bool:
        """Return whether it may represent N training samples, for the columns (n, k) of some.

        Those for amounts need values of 0 and above; TF-IDF many zeros too; and those that leave no
        zeros, columns that fit into memory without them.
        """
        if self.by_moments and sparse.issparse(columns) and not fits_dense(columns, n_rows):
            return False
        if self.amounts and not least(columns) >= 0:
            return False
        return self.scaler is not TF_IDF or share_of_zeros(columns) > MANY_ZEROS


def fits_dense(columns: Any, n_rows: int) -> bool:
    """Return whether sparse columns (N, k) of N samples may be made dense without being asked for.

    ``columns`` (n, k) are those of some of the samples.
    """
    return n_rows * int(columns.shape[1]) <= MOST_DENSE


def least(columns: Any) -> float:
    """Return the least value (n, k), at most 0; gaps are omitted."""
    values = columns.data if sparse.issparse(columns) else columns.ravel()
    return float(np.fmin.reduce(values, initial=0))


def share_of_zeros(columns: Any) -> float:
    """Return the share of zeros among all values (n, k) that are no gaps."""
    if sparse.issparse(columns):
        n_gaps = np.count_nonzero(np.isnan(columns.data))
        return 1 - (columns.nnz - n_gaps) / max(1, columns.shape[0] * columns.shape[1] - n_gaps)
    known = columns.size - np.count_nonzero(np.isnan(columns))
    return np.count_nonzero(columns == 0) / known if known else 0.0


def _root(columns: Any) -> Any:
    """Return the roots of amounts; new samples may have negative ones, taken as 0."""
    return _amounts(columns).sqrt() if sparse.issparse(columns) else np.sqrt(_amounts(columns))


def _log(columns: Any) -> Any:
    """Return log(1 + x) of amounts."""
    return _amounts(columns).log1p() if sparse.issparse(columns) else np.log1p(_amounts(columns))


def _amounts(columns: Any) -> Any:
    """Return amounts, with negative ones of new samples as 0."""
    return columns.maximum(0) if sparse.issparse(columns) else np.maximum(columns, 0)


TF_IDF = partial(TfidfTransformer, norm=None)
"""Amounts times log((1 + N)/(1 + n_j)) + 1, for n_j of N samples in which column j is not 0."""

SCALINGS: dict[str, Scaling] = {
    scaling.name: scaling
    for scaling in (
        Scaling("none", "as they are"),
        Scaling(
            "standard", "standardised (mean 0, variance 1)", None, StandardScaler, by_moments=True
        ),
        Scaling(
            "minmax",
            "scaled to [-1, 1]",
            None,
            partial(MinMaxScaler, feature_range=(-1, 1)),
            by_moments=True,
        ),
        Scaling("unit", "in samples of length 1", None, Normalizer),
        Scaling("roots", "as roots", _root, amounts=True),
        Scaling("tf-idf", "as TF-IDF", _amounts, TF_IDF, amounts=True),
        Scaling("log-tf-idf", "as log TF-IDF", _log, TF_IDF, amounts=True),
    )
}
"""All scalings by name: what ``scale`` and ``[...]`` in a kernel's spec string may be."""


def scaling_named(name: object, of_kernel: str = "") -> Scaling:
    """Return the scaling of a name; a ``SpecError`` names the kernel, if any, and all names."""
    if isinstance(name, str) and name in SCALINGS:
        return SCALINGS[name]
    hint = suggest(str(name), SCALINGS)
    known = ", ".join(SCALINGS)
    raise SpecError(f"The scale{of_kernel} must be one of {known}; got {quoted(name)}.{hint}")


def scale_of(bound: BoundKernel) -> str:
    """Return the name of what is done to the columns of a fitted kernel."""
    return "none" if bound.scaling is None else str(bound.scaling.name)


def scaling_with(scaler: Any) -> Scaling:
    """Return the scaling that has a scaler of scikit-learn, fitted or not."""
    kinds = {type(s.scaler()): s for s in SCALINGS.values() if s.scaler and not s.elementwise}
    return kinds[type(scaler)]


@attrs.frozen(eq=False)
class FittedScaling:
    """A scaling fitted to the columns of a kernel in the training samples.

    Attributes
    ----------
    name : str
        That of the scaling.
    scaler : object, optional
        The fitted scaler of scikit-learn, if it has one.
    """

    name: str = attrs.field()
    scaler: Any = None

    def transform(self, columns: Any) -> Any:
        """Return columns (n, k), an array or a sparse one, as the kernel gets them: O(nk)."""
        scaling = SCALINGS[self.name]
        if scaling.elementwise is not None:
            columns = scaling.elementwise(columns)
        if self.scaler is None:
            return columns
        if scaling.scaler is TF_IDF:  # The scaler itself would make a sparse array of any.
            weights = self.scaler.idf_.astype(columns.dtype)
            return (
                columns.multiply(weights).tocsr() if sparse.issparse(columns) else columns * weights
            )
        if scaling.by_moments and sparse.issparse(columns):
            columns = columns.toarray()
        return self.scaler.transform(columns)


def with_scaling(
    kernels: Sequence[BoundKernel], rows: Rows, scale: str | None = None
) -> list[BoundKernel]:
    """Return kernels with the scalings of their columns, fitted to training samples (N, d).

    ``scale`` is the name of that for kernels on numbers that do not say theirs. Kernels with the
    same columns and scaling share it, and so what they read. A kernel whose scaling is fitted
    already keeps it. O(Nk) for each.
    """
    usual = None if scale is None else scaling_named(scale).name
    fitted: dict[tuple[bytes, str], FittedScaling | None] = {}
    scaled = []
    for bound in kernels:
        name = bound.scale or (usual if bound.reads == "numbers" else None)
        if bound.scale not in (None, "none") and bound.reads not in ("numbers", "amounts"):
            raise SpecError(
                f"Kernel {quoted(bound.label)} reads {bound.reads}, which can't be scaled:"
                f" leave out [{bound.scale}]."
            )
        if name is None or bound.scaling is not None:
            scaled.append(bound)
            continue
        key = b"" if bound.columns is None else bound.columns.tobytes(), name
        if key not in fitted:
            fitted[key] = fit_scaling(name, bound, rows)
        scaled.append(attrs.evolve(bound, scaling=fitted[key]))
    return scaled


def fit_scaling(name: str, bound: BoundKernel, rows: Rows) -> FittedScaling | None:
    """Return the scaling of a kernel's columns, fitted to the training samples, if there is any.

    Gaps are omitted. Of samples in a store, means, standard deviations and ranges are those of all
    samples. A ``DataError`` is raised for negative values for a scaling of amounts.
    """
    scaling = SCALINGS[name]
    if scaling.scaler is None and scaling.elementwise is None:
        return None
    columns: Any = rows.unfilled(bound) if rows.in_memory else None
    if scaling.amounts and rows.in_memory:
        _refuse_negative(scaling, bound.label, columns)
    if scaling.scaler is None:
        return FittedScaling(name)
    if scaling.scaler is Normalizer:  # It learns nothing from samples.
        width = rows.shape[1] if bound.columns is None else len(bound.columns)
        return FittedScaling(name, Normalizer().fit(np.ones((1, width))))
    if not rows.in_memory:
        return FittedScaling(name, _fitted_in_parts(scaling, bound, rows))
    if scaling.amounts and sparse.issparse(columns):
        columns = columns.copy()
        columns.data = np.nan_to_num(columns.data)
    elif scaling.amounts:
        present = ~np.isnan(columns).all(axis=1)
        columns = np.nan_to_num(columns[present] if present.any() else columns)
    if scaling.elementwise is not None:
        columns = scaling.elementwise(columns)
    if scaling.by_moments:
        columns = columns.toarray() if sparse.issparse(columns) else columns
        empty = np.isnan(columns).all(axis=0)  # Gaps become 0 in a column without values.
        columns = np.where(empty, 0, columns) if empty.any() else columns
    return FittedScaling(name, scaling.scaler().fit(columns))


def is_fitted_to_all(bound: BoundKernel, rows: Rows) -> bool:
    """Return whether a kernel's scaling can be fitted to all samples, which may be in a store."""
    scaling = SCALINGS[scale_of(bound)]
    return rows.in_memory or scaling.by_moments or scaling.scaler in (None, Normalizer)


def _refuse_negative(scaling: Scaling, label: str, columns: Any) -> None:
    values = columns.data if sparse.issparse(columns) else columns
    negative = int((values < 0).sum())
    if negative:
        raise DataError(
            f"Kernel {quoted(label)} reads its columns {scaling.words}, which is for values of 0"
            f" and above, and {counted(negative, 'value')} of the training samples"
            f" {'is' if negative == 1 else 'are'} below: use another scaling, such as 'standard'."
        )


def _fitted_in_parts(scaling: Scaling, bound: BoundKernel, rows: Rows) -> Any:
    """Return the scaler of a scaling fitted to all samples in a store, in one pass."""
    if not scaling.by_moments:
        raise DataError(
            f"The scaling {scaling.name!r} needs samples in memory: use 'standard', 'minmax',"
            " 'unit' or 'roots' for samples that are read in parts."
        )
    parts = list(engine_of(rows).each(partial(_moments, bound.columns), rows, []))
    count, mean, scatter, low, high = parts[0]
    for more, mean_more, scatter_more, low_more, high_more in parts[1:]:
        total = count + more
        apart = mean_more - mean
        scatter = scatter + scatter_more + np.square(apart) * (count * more / total)
        mean = mean + apart * (more / total)
        count = total
        low, high = np.fmin(low, low_more), np.fmax(high, high_more)
    # Two samples with the moments of all: the scaler is scikit-learn's own.
    deviation = np.sqrt(scatter / count)
    ends = [low, high] if scaling.name == "minmax" else [mean - deviation, mean + deviation]
    assert scaling.scaler is not None
    return scaling.scaler().fit(np.array(ends))


def _moments(columns: Any, rows: Any) -> tuple[int, Array, Array, Array, Array]:
    """Return the number, mean, scatter, minimum and maximum of a part of the samples by column."""
    numbers = np.asarray(rows, np.float64)
    numbers = numbers if columns is None else numbers[:, columns]
    mean = numbers.mean(axis=0)
    scatter = np.square(numbers - mean).sum(axis=0)
    return len(numbers), mean, scatter, numbers.min(axis=0), numbers.max(axis=0)
