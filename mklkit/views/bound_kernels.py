"""Kernels bound to columns, fitted to training rows, and their feature maps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from mklkit.errors import DataError, IncompatibleError, MKLKitWarning, plain_message, quoted
from mklkit.numerics.pairwise import TILE_ROWS, row_blocks
from mklkit.numerics.sampling import sampled_places, sampled_rows
from mklkit.protocols import (
    Array,
    FeatureMap,
    FeatureMapFacts,
    FittedKernel,
    FittedMap,
    KernelFacts,
    Reads,
    Rows,
    RowSource,
    facts_of,
)
from mklkit.views.column_cuts import ColumnCuts
from mklkit.views.kernel_rows import is_scalar
from mklkit.views.row_parts import rows_at

__all__ = ["BoundKernel", "fit_kernels", "fit_maps", "warn_of_far_rows"]

FAR = 1e4
"""Ratio of the rows' distance from zero to their spread above which a linear kernel fails."""


@attrs.frozen
class BoundKernel:
    """A kernel with its name in results and the columns that it uses (None for all of them).

    If ``fitted`` is given, it is used instead of fitting the kernel.
    """

    label: str
    kernel: Any
    columns: Any = None
    fitted: FittedKernel | None = None

    @property
    def facts(self) -> KernelFacts:
        """The properties of the kernel."""
        return facts_of(self.kernel, KernelFacts)

    @property
    def reads(self) -> Reads:
        """What its columns hold."""
        return self.facts.reads


def fit_kernels(
    kernels: Sequence[BoundKernel], rows: Rows, row_weights: Array | None = None
) -> tuple[list[FittedKernel], list[Any]]:
    """Return the fitted kernels and each kernel's own columns of the rows (N, d).

    Kernels on the same columns get the same array, by which they share base quantities. To rows
    that are read in parts, kernels are fitted by a seeded sample of them. With weights of rows
    (N,), kernels that can let rows count by them.

    Raises
    ------
    DataError
        If a kernel has values on these rows that are not finite.
    """
    cuts = ColumnCuts(rows)
    own_rows = [cuts.of(bound.columns, bound.reads) for bound in kernels]
    looked_at = ColumnCuts(in_memory(rows))
    counts = row_weights
    if row_weights is not None and isinstance(rows, RowSource):
        counts = row_weights[sampled_places(len(rows))]
    fitted = [
        _fit_kernel(bound, looked_at.of(bound.columns, bound.reads), counts) for bound in kernels
    ]
    return fitted, own_rows


def in_memory(rows: Rows) -> Any:
    """Return the rows, or a seeded sample of those that are read in parts."""
    if not isinstance(rows, RowSource):
        return rows
    sample = sampled_rows(rows)
    if not np.isfinite(sample).all():
        for place in row_blocks(len(rows), TILE_ROWS):
            rows_at(rows, place)  # It names the row.
    return sample


def _fit_kernel(bound: BoundKernel, rows: Array, row_weights: Array | None) -> FittedKernel:
    """Return the fitted kernel; refuse one whose values on these rows are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        fitted = bound.fitted
        if fitted is None:
            kernel = bound.kernel
            fitted = (
                kernel.fit(rows) if row_weights is None else kernel.fit_weighted(rows, row_weights)
            )
        largest = np.abs(fitted.diagonal(rows)).max()
    if not np.isfinite(largest):
        raise _no_numbers(bound, f"{largest}")
    return fitted


def warn_of_far_rows(label: str, fitted: FittedKernel, given: Rows) -> None:
    """Warn if all inner products of the rows are nearly equal."""
    if not (is_scalar(fitted) and fitted.base == "inner_product"):
        return
    rows = in_memory(given)
    # Differences of equal rows by rounding do not count as spread.
    smallest = len(rows) * float(np.finfo(rows.dtype).eps)
    near_one = rows / (np.abs(rows).max(initial=0) or 1)
    distance = float(np.linalg.norm(near_one.mean(axis=0)))
    spread = float(np.linalg.norm(near_one.std(axis=0)))
    if spread > smallest * distance and distance > FAR * spread:
        warnings.warn(
            f"Kernel {label!r} multiplies rows that are {distance / spread:.2g} times as far from"
            " zero as from each other: its values are nearly the same for all of them, and outweigh"
            " other kernels. Scale the data (each column to mean 0 and standard deviation 1, say).",
            MKLKitWarning,
            stacklevel=2,
        )


def fit_maps(
    kernels: Sequence[BoundKernel],
    feature_map: FeatureMap,
    fitted: Sequence[FittedKernel],
    rows: Sequence[Array],
    random_state: np.random.RandomState,
) -> list[FittedMap]:
    """Return each kernel's map, in order; maps may share random draws.

    Raises
    ------
    IncompatibleError
        If the map does not support one of the kernels.
    """
    _refuse_other_kernels(kernels, feature_map)
    _refuse_rows_without_means(kernels, feature_map)
    made: list[FittedMap] = []
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            made.extend(feature_map.fit_all(fitted, rows, random_state))
    except np.linalg.LinAlgError as error:
        raise _no_numbers(kernels[len(made)], plain_message(error)) from error
    return made


def _refuse_other_kernels(kernels: Sequence[BoundKernel], feature_map: FeatureMap) -> None:
    only = facts_of(feature_map, FeatureMapFacts).for_kernels
    others = [bound for bound in kernels if only and bound.kernel.name not in only]
    if others:
        labels = ", ".join(dict.fromkeys(bound.label for bound in others))
        raise IncompatibleError(
            f"The feature map {feature_map.name!r} can't be fitted to {labels}. Kernels that work"
            f" with {feature_map.name}: {', '.join(only)}; or choose another feature map."
        )


def _refuse_rows_without_means(kernels: Sequence[BoundKernel], feature_map: FeatureMap) -> None:
    if not facts_of(feature_map, FeatureMapFacts).needs_mean_rows:
        return
    for bound in kernels:
        what = "gaps" if bound.facts.allows_gaps else bound.reads
        if what not in ("numbers", "amounts"):
            raise IncompatibleError(
                f"This feature map ({feature_map.name}) takes means of rows, and kernel"
                f" {quoted(bound.label)} reads {what}, which have no mean: use landmarks='uniform'"
                " or landmarks='leverage', which are rows."
            )


def _no_numbers(bound: BoundKernel, what: str) -> DataError:
    return DataError(
        f"Kernel {quoted(bound.label)} has values on these data that are not finite"
        f" ({what}): scale the data, or choose a lower degree."
    )
