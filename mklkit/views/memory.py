"""The memory that Gram matrices need, reported before they are computed.

Before a Gram matrix of a gigabyte or more is computed, its size is reported. A matrix that does not
fit into memory raises an error, whose message suggests a feature map instead.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from mklkit.display.numbers import significant
from mklkit.errors import DataError, MKLKitWarning, SpecError, quoted
from mklkit.numerics.class_moments import CHUNK_ROWS, chunk_rows
from mklkit.numerics.threads import n_threads, results_in_flight
from mklkit.protocols.component import FOR_LARGE_DATA, LARGE_DATA_OPTIONS, LARGE_LEARNER, is_whole

REMEDY = (
    "Use fewer samples, or learn from features of a subset, which need no such matrix:"
    f" {LARGE_DATA_OPTIONS}, in Python {FOR_LARGE_DATA}."
)
WORTH_SAYING = 2**30
SMALL_BYTES, CHEAP_COLUMNS = 2**26, 32
"""Features up to this size, times the columns of the samples over 32, are kept for all passes if
``max_memory`` allows: with few columns, recomputing larger ones takes no longer than reading."""
ALWAYS_FREE = 2**28
"""A size that fits into any memory."""
COPIES = 4
"""Copies of a block's features in half of the bytes: similarities, features, temporaries."""
MEMORY_INFO = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup")


def available_memory(memory_info: Path = MEMORY_INFO, container: Path = CONTAINER) -> int | None:
    """Return the available memory in bytes, as reported by Linux; None on other systems.

    ``memory_info`` is the file on the computer's memory, ``container`` the folder of the limits of
    a control group.
    """
    amounts = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = memory_info.read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        amounts.append(1024 * int(line.split()[1]))
    # A container may have less memory than the computer; "max" is not a number.
    with contextlib.suppress(OSError, ValueError):
        limit, used = (
            int((container / name).read_text()) for name in ("memory.max", "memory.current")
        )
        amounts.append(max(limit - used, 0))
    return min(amounts) if amounts else None


UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
LEAST = 2**20
AMOUNT = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT]?)(i?B)?", re.IGNORECASE)


def memory_limit(amount: int | str | None) -> int | None:
    """Return a limit on memory in bytes: as given, or half of the free memory; None if unknown."""
    if amount is not None:
        return memory_given(amount)
    free = available_memory()
    return None if free is None else free // 2


def memory_given(amount: int | str) -> int:
    """Return an amount of memory in bytes, at least a megabyte.

    >>> memory_given("4GB"), memory_given("500 MiB"), memory_given(2_000_000)
    (4294967296, 524288000, 2000000)
    """
    match = AMOUNT.fullmatch(amount.strip()) if isinstance(amount, str) else None
    if match:
        size = float(match["number"]) * UNITS[match["unit"].upper()]
    else:
        size = float(amount) if is_whole(amount) else 0.0
    if size < LEAST:
        raise SpecError(
            f"max_memory must be an amount of at least a megabyte, such as '4GB', '500MB' or a"
            f" number of bytes; got {quoted(amount)}."
        )
    return int(size)


def check_features_fit(n_rows: int, size: int, max_memory: int | None) -> None:
    """Raise an error for features of all samples that don't fit into memory as one array."""
    _check_fits(
        size,
        max_memory,
        f"The features of {n_rows} samples take",
        "may be used. Use fewer landmarks, a larger max_memory, or a learner that reads samples in"
        f" blocks: {LARGE_LEARNER}.",
    )


def check_sums_fit(widths: Sequence[int], n_classes: int, max_memory: int | None) -> None:
    """Raise an error for class moments of features that don't fit into ``max_memory``."""
    of_products = n_classes * (results_in_flight() + 1) * sum(width**2 for width in widths)
    rows = chunk_rows(sum(widths), max_memory) + COPIES * CHUNK_ROWS // 2
    size = 8 * (of_products + n_threads() * rows * sum(widths))
    _check_fits(
        size,
        max_memory,
        f"Sums over {' and '.join(map(str, widths))} features take",
        "may be used: use fewer landmarks or kernels, or a larger max_memory.",
    )


def check_gram_fits(n_rows: int, itemsize: int, rows: str = "samples") -> None:
    """Warn about a Gram matrix of a gigabyte or more; reject one that exceeds the free memory.

    ``rows`` names the samples.
    """
    size = n_rows * n_rows * itemsize
    if size < WORTH_SAYING:
        return
    refuse_large_gram(n_rows, itemsize, available_memory(), "are free", rows)
    warnings.warn(
        f"A Gram matrix of {n_rows} {rows} takes {_shown(size)} of memory, some methods need"
        f" several, and learning takes minutes or hours. {REMEDY}",
        MKLKitWarning,
        stacklevel=2,
    )


def refuse_large_gram(
    n_rows: int, itemsize: int, limit: int | None, there: str, rows: str = "samples"
) -> None:
    """Raise a DataError if a Gram matrix exceeds a limit; ``there`` describes the limit."""
    size = n_rows * n_rows * itemsize
    _check_fits(size, limit, f"A Gram matrix of {n_rows} {rows} takes", f"{there}. {REMEDY}")


def _check_fits(size: int, limit: int | None, takes: str, remedy: str) -> None:
    """Raise an error for a size above the limit, by default half of the free memory."""
    if limit is None and size > ALWAYS_FREE:
        limit = memory_limit(None)
    if limit is not None and size > limit:
        raise DataError(f"{takes} {_shown(size)} of memory, and {_shown(limit)} {remedy}")


def _shown(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{significant(size / 2**20, 3)} MiB"
