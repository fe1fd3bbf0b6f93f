"""The memory that Gram matrices need, reported before they are computed."""

from __future__ import annotations

import contextlib
import re
import warnings
from pathlib import Path

from mklkit.errors import DataError, MKLKitWarning, SpecError, quoted
from mklkit.protocols.component import is_whole

__all__ = ["REMEDY", "available_memory", "check_gram_fits", "memory_limit"]

REMEDY = (
    "Use fewer rows, or learn from features of a subset, which need no such matrix:"
    " --map 'empirical(subset=1000)' --learner mhks, in Python"
    " feature_map='empirical(subset=1000)', learner='mhks'."
)
WORTH_SAYING = 2**30
MEMORY_INFO = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the available memory in bytes, as reported by Linux; None on other systems."""
    found = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = MEMORY_INFO.read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(1024 * int(line.split()[1]))
    # A container may have less memory than the computer; "max" is not a number.
    with contextlib.suppress(OSError, ValueError):
        limit, used = (
            int((CONTAINER / name).read_text()) for name in ("memory.max", "memory.current")
        )
        found.append(max(limit - used, 0))
    return min(found) if found else None


UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
LEAST = 2**20
AMOUNT = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT]?)(i?B)?", re.IGNORECASE)


def memory_limit(given: int | str | None) -> int | None:
    """Return a limit on memory in bytes: as given, or half of what is free; None if unknown.

    Raises
    ------
    SpecError
        If it is not an amount of memory of a megabyte or more.

    Examples
    --------
    >>> memory_limit("4GB"), memory_limit("500 MiB"), memory_limit(2_000_000)
    (4294967296, 524288000, 2000000)
    """
    if given is None:
        free = available_memory()
        return None if free is None else free // 2
    found = AMOUNT.fullmatch(given.strip()) if isinstance(given, str) else None
    if found:
        size = float(found["number"]) * UNITS[found["unit"].upper()]
    else:
        size = float(given) if is_whole(given) else 0.0
    if size < LEAST:
        raise SpecError(
            f"max_memory must be an amount of at least a megabyte, such as '4GB', '500MB' or a"
            f" number of bytes; got {quoted(given)}."
        )
    return int(size)


def check_gram_fits(n_rows: int, itemsize: int, what: str = "rows") -> None:
    """Warn about the size of a Gram matrix of so many rows, if it is a gigabyte or more.

    ``what`` says which rows they are.

    Raises
    ------
    DataError
        If one matrix alone takes more memory than is available.
    """
    size = n_rows * n_rows * itemsize
    if size < WORTH_SAYING:
        return
    free = available_memory()
    needed = f"A Gram matrix of {n_rows} {what} takes {size / 2**30:.1f} GiB of memory"
    if free is not None and size > free:
        raise DataError(f"{needed}, and {free / 2**30:.1f} GiB are free. {REMEDY}")
    warnings.warn(
        f"{needed}, some methods need several, and learning takes minutes or hours. {REMEDY}",
        MKLKitWarning,
        stacklevel=2,
    )
