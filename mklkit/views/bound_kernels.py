"""Kernels bound to columns, fitted to training samples, and their feature maps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mklkit.display.numbers import significant
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
from mklkit.numerics.sampling import sampled_places
from mklkit.numerics.sparse_rows import squared_lengths
from mklkit.protocols import (
    Array,
    FeatureMap,
    FeatureMapTraits,
    FittedKernel,
    FittedMap,
    KernelTraits,
    Reads,
    Rows,
    Store,
    check_kernel,
    check_map,
    members_with,
    result_of,
    traits_of,
)
from mklkit.views.kernel_rows import KernelRows, is_scalar
from mklkit.views.tiles import symmetric_tiles

WORTH_TIMING = 1e10
"""Pairs of samples × kernels × features: below this, they take seconds and need no trial."""
SAMPLE = 500
WORTH_SAYING = 1.0

FAR = 1e4
"""Ratio of the samples' distance from zero to their spread above which a linear kernel fails."""


@attrs.frozen
class BoundKernel:
    """A kernel with its name in results, its columns (None for all), and its fit, if it has one.

    ``scale`` names what is done to the columns, None if the estimator says; ``scaling`` is that
    fitted to the training samples, None if nothing is done. If it is ``auto``, kernel and scaling
    are chosen from the training samples; before, they are those to read a table with. ``strategy``
    is the one for missing sources that changes it, if one does.
    """

    label: str
    kernel: Any
    columns: Any = None
    fitted: FittedKernel | None = None
    strategy: Any = None
    scale: str | None = None
    scaling: Any = None
    auto: bool = False

    @cached_property
    def traits(self) -> KernelTraits:
        """The properties of the kernel."""
        return traits_of(self.kernel, KernelTraits)

    @cached_property
    def reads(self) -> Reads:
        """The kind of values in its columns."""
        return self.traits.reads

    @property
    def sparse(self) -> bool:
        """Whether it takes sparse columns."""
        return self.traits.sparse and self.strategy is None


def fit_kernels(
    kernels: Sequence[BoundKernel],
    rows: Rows,
    row_weights: Array | None = None,
    tried: bool = False,
) -> list[FittedKernel]:
    """Return the kernels, fitted to what they read in the samples (N, d).

    If samples are in a store, kernels are fitted to a seeded sample of them, and each kernel is
    fitted to the samples that have its source. Raises an error for kernels whose values on these
    samples are not finite. Fitted kernels are tried on a few samples, unless they were ``tried`` on
    those of another problem.
    """
    sample = sampled(rows)
    if row_weights is not None and len(sample) < len(row_weights):
        row_weights = row_weights[sampled_places(len(rows))]
    arrays, missing = sample.arrays_of(kernels), sample.missing_of(kernels)
    fitted: list[FittedKernel] = []
    for place, bound in enumerate(kernels):
        columns = arrays[place]
        weights = row_weights
        members = members_with(None if missing is None else missing[:, place])
        if members is not None:
            columns = columns[members]
            weights = None if weights is None else weights[members]
        with np.errstate(over="ignore", invalid="ignore"):
            kernel = bound.fitted
            if kernel is None:
                kernel = _fitted_kernel(bound, columns, weights, tried)
            fitted.append(kernel)
            _check_finite(bound, kernel, columns)
    return fitted


def _fitted_kernel(
    bound: BoundKernel, columns: Any, weights: Array | None, tried: bool
) -> FittedKernel:
    """Return a kernel fitted to its own columns, as the strategy for missing sources changes it."""
    if weights is None:
        fitted = result_of(bound.kernel, "fit", bound.kernel.fit(columns), FittedKernel)
    else:
        weighted = bound.kernel.fit_weighted(columns, weights)
        fitted = result_of(bound.kernel, "fit_weighted", weighted, FittedKernel)
    if not tried:
        check_kernel(bound.kernel, fitted, columns)
    if bound.strategy is not None:
        changed = bound.strategy.fit(fitted, columns)
        fitted = result_of(bound.strategy, "fit", changed, FittedKernel)
        if not tried:
            check_kernel(bound.strategy, fitted, columns)
    return fitted


def fit_to_parts(
    kernels: Sequence[BoundKernel], rows: Rows, parts: Sequence[NDArray[np.intp]]
) -> list[tuple[FittedKernel, ...]]:
    """Return the kernels fitted to each of several parts of the samples (N, d), which share work.

    No sample may miss a source, and no strategy change a kernel.
    """
    fitted: list[list[FittedKernel]] = []
    for bound, columns in zip(kernels, rows.arrays_of(kernels), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            if bound.fitted is not None:
                of_parts = [bound.fitted] * len(parts)
            else:
                results = bound.kernel.fit_parts(columns, parts)
                of_parts = [result_of(bound.kernel, "fit", each, FittedKernel) for each in results]
                check_kernel(bound.kernel, of_parts[0], columns[parts[0]])
            for kernel, part in zip(of_parts, parts, strict=True):
                _check_finite(bound, kernel, columns[part])
        fitted.append(of_parts)
    return list(zip(*fitted, strict=True))


def _check_finite(bound: BoundKernel, kernel: FittedKernel, columns: Any) -> None:
    """Raise an error if the similarity of a sample (N, d) with itself is not finite."""
    largest = np.abs(kernel.diagonal(columns)).max()
    if not np.isfinite(largest):
        raise _no_numbers(bound, f"{largest}")


def sampled(rows: Rows) -> Rows:
    """Return samples that are in memory, or a seeded sample of those in a store."""
    if rows.in_memory:
        return rows
    sample = rows.numbers[sampled_places(len(rows))]
    if not np.isfinite(sample).all():
        for place in row_blocks(len(rows), TILE_ROWS):
            rows[place]  # Raises an error that names the sample.
    return Rows.of(sample)


def warn_of_far_rows(bound: BoundKernel, fitted: FittedKernel, rows: Rows) -> None:
    """Warn if all inner products of the samples are nearly equal."""
    if not (is_scalar(fitted) and fitted.base == "inner_product"):
        return
    sample = sampled(rows)
    (array,), missing = sample.arrays_of([bound]), sample.missing_of([bound])
    members = members_with(None if missing is None else missing[:, 0])
    array = array if members is None else array[members]
    # Rounding differences between equal samples do not count as spread.
    smallest = array.shape[0] * float(np.finfo(array.dtype).eps)
    largest = np.abs(array.data if issparse(array) else array).max(initial=0)
    near_one = array / (largest or 1)
    distance = float(np.linalg.norm(near_one.mean(axis=0)))
    if issparse(array):
        spread = float(np.sqrt(max(squared_lengths(near_one).mean() - distance**2, 0.0)))
    else:
        spread = float(np.linalg.norm(near_one.std(axis=0)))
    if spread > smallest * distance and distance > FAR * spread:
        times = significant(distance / spread, 2)
        warnings.warn(
            f"Kernel {bound.label!r} multiplies samples that are {times} times as far"
            " from zero as from each other: its values are nearly the same for all of them, and"
            " dominate other kernels. Scale the data (each column to mean 0 and standard deviation"
            " 1, say).",
            MKLKitWarning,
            stacklevel=2,
        )


def fit_maps(
    kernels: Sequence[BoundKernel],
    feature_map: FeatureMap,
    fitted: Sequence[FittedKernel],
    rows: Rows,
    random_state: np.random.RandomState,
    tried: bool = False,
) -> list[FittedMap]:
    """Return each kernel's map, in order; maps may share random draws.

    Features are those of the samples that have a kernel's source: if some miss theirs, only
    kernels on the same columns share draws.
    """
    traits = traits_of(feature_map, FeatureMapTraits)
    if traits.for_kernels or traits.needs_mean_rows:
        _check_supported(kernels, feature_map, traits)
    arrays, missing = rows.arrays_of(kernels), rows.missing_of(kernels)
    sparse = [k.label for k, array in zip(kernels, arrays, strict=True) if issparse(array)]
    if sparse and not traits.sparse:
        raise IncompatibleError(
            f"This feature map ({feature_map.name}) takes no sparse sources, and kernel"
            f" {quoted(sparse[0])} reads one: turn the source into an array with .toarray(), or use"
            " another map or other landmarks."
        )
    groups = [list(range(len(kernels)))]
    if traits.explicit and missing is not None:
        ids = list(map(id, arrays))
        groups = [[k for k, each in enumerate(ids) if each == a] for a in dict.fromkeys(ids)]
        for group in groups:
            members = members_with(missing[:, group[0]])
            present = arrays[group[0]] if members is None else arrays[group[0]][members]
            for k in group:
                arrays[k] = present
    maps: dict[int, FittedMap] = {}
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            for group in groups:
                parts = [fitted[k] for k in group], [arrays[k] for k in group]
                for result in feature_map.fit_all(*parts, random_state):
                    fitted_map = result_of(feature_map, "fit", result, FittedMap)
                    place = group[len(maps.keys() & set(group))]
                    maps[place] = fitted_map
                    if not (tried or isinstance(arrays[place], Store)):
                        check_map(feature_map, fitted_map, arrays[place])
    except np.linalg.LinAlgError as error:
        failed = next(k for group in groups for k in group if k not in maps)
        raise _no_numbers(kernels[failed], plain_message(error)) from error
    return [maps[k] for k in range(len(kernels))]


def _check_supported(
    kernels: Sequence[BoundKernel], feature_map: FeatureMap, traits: FeatureMapTraits
) -> None:
    only = traits.for_kernels
    others = dict.fromkeys(k.label for k in kernels if only and k.kernel.name not in only)
    if others:
        labels = ", ".join(others)
        raise IncompatibleError(
            f"The feature map {feature_map.name!r} can't be fitted to {labels}. Kernels that work"
            f" with {feature_map.name}: {', '.join(only)}; or choose another feature map."
        )
    for bound in kernels if traits.needs_mean_rows else ():
        reads = "gaps" if bound.traits.allows_gaps else bound.reads
        if reads not in ("numbers", "amounts"):
            raise IncompatibleError(
                f"This feature map ({feature_map.name}) takes means of samples, but kernel"
                f" {quoted(bound.label)} reads {reads}, which have no mean: use landmarks that are"
                " samples."
            )


def _no_numbers(bound: BoundKernel, values: str) -> DataError:
    return DataError(
        f"Kernel {quoted(bound.label)} has values on these data that are not finite"
        f" ({values}): scale the data, or choose a lower degree."
    )


def kernel_minutes(kernels: Sequence[BoundKernel], rows: Rows, pairs: float) -> float:
    """Estimate the minutes that kernels take for this many pairs of samples, by a trial on 500.

    Kernels share computations as in a fit. NaN if kernels fail on the samples of the trial.
    """
    sample = rows[:: max(1, len(rows) // SAMPLE)][:SAMPLE]
    seconds = 0.0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            kernel_rows = KernelRows.reading(fit_kernels(kernels, sample), kernels, sample)
            for _ in range(2):  # The first run may compile code.
                start = perf_counter()
                for _, _, tiles in symmetric_tiles(kernel_rows):
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
