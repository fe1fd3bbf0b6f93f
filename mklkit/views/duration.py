"""The expected computing time of kernels, reported in advance if it is long."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from mklkit.errors import MKLKitError, MKLKitWarning, counted
from mklkit.protocols import Array, TableRows
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.kernel_rows import KernelRows, symmetric_tiles

__all__ = ["WORTH_TIMING", "kernel_minutes", "say_if_long"]

WORTH_TIMING = 1e10
"""Pairs of rows × kernels × features; fewer take seconds and are not worth a trial."""
SAMPLE = 500
WORTH_SAYING = 1.0


def kernel_minutes(kernels: Sequence[BoundKernel], rows: Array | TableRows, pairs: float) -> float:
    """Estimate the minutes that kernels take for this many pairs of rows, by a trial on 500.

    Kernels share computations as in a fit. NaN where kernels fail on the rows of the trial.
    """
    sample = rows[:: max(1, len(rows) // SAMPLE)][:SAMPLE]
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


def say_if_long(kernels: Sequence[BoundKernel], rows: Array | TableRows, pairs: float) -> None:
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
