"""Kernels bound to columns, fitted to training rows, and their feature maps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

import attrs
import numpy as np

from mklkit.errors import (
    DataError,
    IncompatibleError,
    MKLKitError,
    MKLKitWarning,
    counted,
    plain_message,
    quoted,
)
from mklkit.numerics.pairwise import TILE_ROWS, row_blocks
from mklkit.numerics.sampling import sampled_places, sampled_rows
from mklkit.protocols import (
    Array,
    FeatureMap,
    FeatureMapFacts,
    FittedKernel,
    FittedMap,
    KernelFacts,
    Projector,
    Reads,
    Rows,
    RowSource,
    SourceRows,
    check_kernel,
    check_map,
    facts_of,
    result_of,
)
from mklkit.views.kernel_rows import KernelRows, is_scalar
from mklkit.views.rows import ColumnCuts, rows_at
from mklkit.views.tiles import symmetric_tiles

WORTH_TIMING = 1e10
"""Pairs of rows × kernels × features: below this, they take seconds and need no trial."""
SAMPLE = 500
WORTH_SAYING = 1.0

FAR = 1e4
"""Ratio of the rows' distance from zero to their spread above which a linear kernel fails."""


@attrs.frozen
class BoundKernel:
    """A kernel with its name in results, its columns (None for all), and its fit, if it has one.

    ``missing`` is the strategy that changes it, if one does.
    """

    label: str
    kernel: Any
    columns: Any = None
    fitted: FittedKernel | None = None
    missing: Any = None

    @cached_property
    def facts(self) -> KernelFacts:
        """The properties of the kernel."""
        return facts_of(self.kernel, KernelFacts)

    @cached_property
    def reads(self) -> Reads:
        """The kind of values in its columns."""
        return self.facts.reads


def fit_kernels(
    kernels: Sequence[BoundKernel], rows: Rows, row_weights: Array | None = None
) -> tuple[list[FittedKernel], list[Any]]:
    """Return the fitted kernels and each kernel's own columns of the rows (N, d).

    Kernels on the same columns get the same array, so that they share base quantities. If rows are
    read in parts, kernels are fitted to a seeded sample of them. Refuses kernels whose values on
    these rows are not finite. Rows that lack a kernel's source do not count.
    """
    own_rows = sample = own_columns(kernels, rows)
    if isinstance(rows, RowSource):
        sample = own_columns(kernels, in_memory(rows))
        if row_weights is not None:
            row_weights = row_weights[sampled_places(len(rows))]
    fitted: list[FittedKernel] = []
    for bound, source in zip(kernels, sample, strict=True):
        columns, weights = source, row_weights
        if isinstance(source, SourceRows):
            columns = source.present
            if weights is not None and len(columns) < len(source):
                weights = weights[~source.lacks]
        with np.errstate(over="ignore", invalid="ignore"):
            kernel = bound.fitted
            if kernel is None:
                kernel = _fitted_kernel(bound, columns, weights)
            fitted.append(kernel)
            largest = np.abs(kernel.diagonal(columns)).max()
        if not np.isfinite(largest):
            raise _no_numbers(bound, f"{largest}")
    return fitted, own_rows


def _fitted_kernel(bound: BoundKernel, columns: Any, weights: Array | None) -> FittedKernel:
    """Return a kernel fitted to its own columns, as the strategy for missing sources changes it."""
    if weights is None:
        fitted = result_of(bound.kernel, "fit", bound.kernel.fit(columns), FittedKernel)
    else:
        weighted = bound.kernel.fit_weighted(columns, weights)
        fitted = result_of(bound.kernel, "fit_weighted", weighted, FittedKernel)
    check_kernel(bound.kernel, fitted, columns)
    if bound.missing is not None:
        changed = bound.missing.fit(fitted, columns)
        fitted = result_of(bound.missing, "fit", changed, FittedKernel)
        check_kernel(bound.missing, fitted, columns)
    return fitted


def own_columns(kernels: Sequence[BoundKernel | Projector], rows: Any) -> list[Any]:
    """Return each kernel's own columns of the rows; the same columns are one array."""
    cuts = ColumnCuts(rows)
    return [cuts.of(kernel.columns, kernel.reads) for kernel in kernels]


def in_memory(rows: RowSource) -> Array:
    """Return a seeded sample of rows that are read in parts."""
    sample = sampled_rows(rows)
    if not np.isfinite(sample).all():
        for place in row_blocks(len(rows), TILE_ROWS):
            rows_at(rows, place)  # Raises an error that names the row.
    return sample


def warn_of_far_rows(label: str, fitted: FittedKernel, own_rows: Rows) -> None:
    """Warn if all inner products of the rows are nearly equal."""
    if not (is_scalar(fitted) and fitted.base == "inner_product"):
        return
    rows: Any = in_memory(own_rows) if isinstance(own_rows, RowSource) else own_rows
    rows = rows.present if isinstance(rows, SourceRows) else rows
    # Rounding differences between equal rows do not count as spread.
    smallest = len(rows) * float(np.finfo(rows.dtype).eps)
    near_one = rows / (np.abs(rows).max(initial=0) or 1)
    distance = float(np.linalg.norm(near_one.mean(axis=0)))
    spread = float(np.linalg.norm(near_one.std(axis=0)))
    if spread > smallest * distance and distance > FAR * spread:
        warnings.warn(
            f"Kernel {label!r} multiplies rows that are {distance / spread:.2g} times as far from"
            " zero as from each other: its values are nearly the same for all of them, and dominate"
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

    Features are those of the rows that have a kernel's source: if some rows lack theirs, only
    kernels on the same columns share draws.
    """
    facts = facts_of(feature_map, FeatureMapFacts)
    if facts.for_kernels or facts.needs_mean_rows:
        _check_supported(kernels, feature_map, facts)
    groups = [list(range(len(rows)))]
    if facts.explicit and any(isinstance(columns, SourceRows) for columns in rows):
        arrays = list(map(id, rows))
        groups = [[k for k, each in enumerate(arrays) if each == a] for a in dict.fromkeys(arrays)]
        sources: Sequence[Any] = rows
        of_source = {id(r): r.present if isinstance(r, SourceRows) else r for r in sources}
        rows = [of_source[each] for each in arrays]
    maps: dict[int, FittedMap] = {}
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            for group in groups:
                parts = [fitted[k] for k in group], [rows[k] for k in group]
                for result in feature_map.fit_all(*parts, random_state):
                    fitted_map = result_of(feature_map, "fit", result, FittedMap)
                    place = group[len(maps.keys() & set(group))]
                    maps[place] = fitted_map
                    if isinstance(rows[place], np.ndarray):
                        check_map(feature_map, fitted_map, rows[place])
    except np.linalg.LinAlgError as error:
        failed = next(k for group in groups for k in group if k not in maps)
        raise _no_numbers(kernels[failed], plain_message(error)) from error
    return [maps[k] for k in range(len(rows))]


def _check_supported(
    kernels: Sequence[BoundKernel], feature_map: FeatureMap, facts: FeatureMapFacts
) -> None:
    only = facts.for_kernels
    others = dict.fromkeys(k.label for k in kernels if only and k.kernel.name not in only)
    if others:
        labels = ", ".join(others)
        raise IncompatibleError(
            f"The feature map {feature_map.name!r} can't be fitted to {labels}. Kernels that work"
            f" with {feature_map.name}: {', '.join(only)}; or choose another feature map."
        )
    for bound in kernels if facts.needs_mean_rows else ():
        reads = "gaps" if bound.facts.allows_gaps else bound.reads
        if reads not in ("numbers", "amounts"):
            raise IncompatibleError(
                f"This feature map ({feature_map.name}) takes means of rows, but kernel"
                f" {quoted(bound.label)} reads {reads}, which have no mean: use landmarks that are"
                " rows."
            )


def _no_numbers(bound: BoundKernel, values: str) -> DataError:
    return DataError(
        f"Kernel {quoted(bound.label)} has values on these data that are not finite"
        f" ({values}): scale the data, or choose a lower degree."
    )


def kernel_minutes(kernels: Sequence[BoundKernel], rows: Rows, pairs: float) -> float:
    """Estimate the minutes that kernels take for this many pairs of rows, by a trial on 500.

    Kernels share computations as in a fit. NaN if kernels fail on the rows of the trial.
    """
    sample: Any = rows[:: max(1, len(rows) // SAMPLE)][:SAMPLE]
    seconds = 0.0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fitted, own_rows = fit_kernels(kernels, sample)
            for _ in range(2):  # The first run may compile code.
                start = perf_counter()
                for _, _, tiles in symmetric_tiles(KernelRows.of(fitted, own_rows)):
                    for _ in tiles:
                        pass
                seconds = perf_counter() - start
        except MKLKitError:
            return float("nan")
    return seconds / len(sample) ** 2 * pairs / 60


def say_if_long(kernels: Sequence[BoundKernel], rows: Rows, pairs: float) -> None:
    """Report the expected computing time of the kernels if it is a minute or more."""
    if pairs * len(kernels) * rows.shape[1] < WORTH_TIMING:
        return
    minutes = kernel_minutes(kernels, rows, pairs)
    if minutes >= WORTH_SAYING:
        # One digit only: more digits would differ between folds and repeat the warning.
        unit, amount = ("hour", minutes / 60) if minutes >= 90 else ("minute", minutes)
        shown = counted(int(float(f"{amount:.1g}")), unit)
        warnings.warn(
            f"Computing the kernels of a fit will take about {shown};"
            " learning takes additional time.",
            MKLKitWarning,
            stacklevel=2,
        )
