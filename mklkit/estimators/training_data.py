"""Training data and new samples, checked before anything is computed, and sample weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from numbers import Number, Real
from typing import Any, Self

import attrs
import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from mklkit.errors import DataError, SpecError, counted, listed, quoted, suggest
from mklkit.numerics.sparse import refuse_sparse
from mklkit.protocols import Array, Rows, TargetKind
from mklkit.views.dask.rows import in_memory
from mklkit.views.rows import is_dask

BALANCED = "balanced"
LEAST_WEIGHT, MOST_WEIGHT, MOST_UNEQUAL = 1e-12, 1e9, 1e12
"""Sample weights outside of this range leave no digits: beside larger ones, the regularisation of a
learner is lost in rounding, and decisions would depend on how samples are divided into blocks."""
FLOATS = [np.float64, np.float32]


@attrs.frozen(eq=False, slots=False)
class TrainingData:
    """Checked training samples and their targets.

    ``values`` are class numbers (N,), or numbers to be learned (N,) or (N, T); zeros without a
    target. ``row_weights`` are above 0, and ``groups`` numbers of groups; None if all samples have
    the same weight, or each is a group. ``whole`` has all samples of a search; these are its
    samples at ``places`` (N,). ``notes`` tell which samples miss sources.
    """

    rows: Rows
    values: NDArray[Any]
    row_weights: Array | None = None
    whole: Rows | None = None
    places: NDArray[np.intp] | None = None
    groups: NDArray[np.intp] | None = None
    notes: tuple[str, ...] = ()

    def take(self, members: NDArray[np.intp]) -> TrainingData:
        """Return some of the samples, as a part of these."""
        weights, groups = self.beside(members)
        whole = self.rows if self.rows.plain else None
        rows = self.rows.take(members)
        return TrainingData(rows, self.values[members], weights, whole, members, groups)

    def beside(self, members: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return the weights and the groups of some samples, None if there are none."""
        parts = self.row_weights, self.groups
        weights, groups = (None if part is None else part[members] for part in parts)
        return weights, groups

    def counting(self) -> Self:
        """Return the data without samples of weight 0, which do not count."""
        if self.row_weights is None:
            return self
        kept = np.flatnonzero(self.row_weights)
        weights, groups = self.beside(kept)
        weights_in_range(weights)
        if len(kept) == len(self.values):
            return self
        of_rows = None if (weights == 1).all() else weights
        return type(self)(self.rows.take(kept), self.values[kept], of_rows, groups=groups)

    def with_class_weights(self, weights: Array) -> Self:
        """Return the data with each sample's weight times that of its class (C,)."""
        if (weights == 1).all():
            return self
        of_rows = weights[self.values]
        with np.errstate(over="ignore", under="ignore"):
            joint = of_rows if self.row_weights is None else of_rows * self.row_weights
        return attrs.evolve(self, row_weights=weights_in_range(joint))

    @cached_property
    def digest(self) -> tuple[Any, ...]:
        """A key that identifies these data if they are in memory."""
        rows = self.rows.digest
        whole = None if self.whole is None else self.whole.digest
        values, row_weights, places, groups = map(
            joblib.hash, (self.values, self.row_weights, self.places, self.groups)
        )
        return rows, values, row_weights, whole, places, groups


def weights_in_range(weights: Array) -> Array:
    """Return sample weights above 0; a ``DataError`` for those too large, small or unequal."""
    least, most = float(weights.min()), float(weights.max())
    if least >= LEAST_WEIGHT and most <= MOST_WEIGHT and most <= MOST_UNEQUAL * least:
        return weights
    raise DataError(
        f"Sample weights (times those of their classes) must be from {LEAST_WEIGHT:g} to"
        f" {MOST_WEIGHT:g}, or 0, and the largest at most {MOST_UNEQUAL:g} times the smallest above"
        f" 0; they range from {least:g} to {most:g}. Divide all by their mean, and set negligible"
        " ones to 0."
    )


def checked_row_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return the sample weights (N,) in float64; None if all of them are 1."""
    if sample_weight is None:
        return None
    refuse_sparse(sample_weight, "sample_weight")
    sample_weight = in_memory(sample_weight) if is_dask(sample_weight) else sample_weight
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight)
    try:
        weights = np.asarray(column_or_1d(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Sample weights must be one number per sample, an array of shape ({n_rows},): {error}"
        ) from None
    if len(weights) != n_rows:
        raise DataError(
            f"There must be one weight per sample; got {counted(len(weights), 'weight')} for"
            f" {counted(n_rows, 'sample')}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"Sample weights must be finite and not negative; that of sample {wrong[0]} (counted"
            f" from 0) is {weights[wrong[0]]:g}."
        )
    if not weights.any():
        raise DataError("All sample weights are zero, so there is no sample to learn from.")
    return None if (weights == 1).all() else weights


def checked_groups(groups: Any, n_rows: int) -> NDArray[np.intp] | None:
    """Return the number of each sample's group (N,); a DataError if a sample has none."""
    if groups is None:
        return None
    names = pd.Series(in_memory(groups) if is_dask(groups) else np.asarray(groups).ravel())
    if len(names) != n_rows or names.isna().any():
        raise DataError(
            f"Expected a group for each of {counted(n_rows, 'sample')}, such as its patient; got"
            f" {len(names)}, of which {int(names.isna().sum())} are missing."
        )
    codes = pd.factorize(names)[0]
    if codes.max(initial=0) == 0:
        raise DataError("All samples belong to one group: learning by groups needs at least two.")
    return codes.astype(np.intp)


def class_weights(
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    row_weights: Array | None = None,
) -> Array:
    """Return the weight of each class (C,), from class numbers (N,) and sample weights (N,).

    ``"balanced"``: N/(C·n_c) for a class of n_c samples, so that all classes count equally;
    weighted samples count by their weights. Classes missing from a dict have weight 1.

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


def check_training(
    estimator: Any,
    kind: TargetKind,
    rows: Rows,
    y: Any = None,
    row_weights: Array | None = None,
    groups: NDArray[np.intp] | None = None,
) -> TrainingData:
    """Return checked samples, their targets and their weights.

    Targets are class numbers, numbers in float64, (N,) or (N, T), or zeros without labels. Sets
    scikit-learn's own attributes, and ``classes_`` for classes. Samples of weight 0 are omitted.
    Samples that are read in parts are checked when they are read. Bad data raise a ``ValueError``
    if scikit-learn rejects them too, else a ``DataError``.
    """
    if len(rows) < 2:
        raise DataError("There is only one sample, and at least 2 are needed to learn from.")
    if kind.is_empty:
        return TrainingData(rows, np.zeros(len(rows)), row_weights, groups=groups).counting()
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    refuse_sparse(y, "y")
    y = in_memory(y) if is_dask(y) else y
    values = kind.read(y)
    if len(values) != len(rows):
        raise DataError(
            f"The target must have a value per sample; it has {len(values)} for {len(rows)}."
        )
    data = TrainingData(rows, values, row_weights, groups=groups).counting()
    if not kind.of_classes:
        return data
    estimator.classes_, codes = np.unique(data.values, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise DataError(
            "A classifier needs samples of at least two classes; there is only one class,"
            f" {estimator.classes_.tolist()[0]!r}"
            f"{'.' if len(data.values) == len(values) else ' (samples of weight 0 do not count).'}"
        )
    return attrs.evolve(data, values=codes)
