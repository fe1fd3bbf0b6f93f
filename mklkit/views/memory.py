"""The memory that Gram matrices need, reported before they are computed."""

from __future__ import annotations

import contextlib
import re
import warnings
from pathlib import Path

from mklkit.errors import DataError, MKLKitWarning, SpecError, quoted
from mklkit.protocols.component import is_whole
from mklkit.protocols.defaults import FOR_LARGE_DATA

__all__ = [
    "REMEDY",
    "available_memory",
    "check_gram_fits",
    "memory_given",
    "memory_limit",
    "refuse_large_gram",
]

REMEDY = (
    "Use fewer rows, or learn from features of a subset, which need no such matrix:"
    f" {FOR_LARGE_DATA} (--map and --learner on the command line)."
)
WORTH_SAYING = 2**30
MEMORY_INFO = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the available memory in bytes, as reported by Linux; None on other systems."""
    amounts = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = MEMORY_INFO.read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        amounts.append(1024 * int(line.split()[1]))
    # A container may have less memory than the computer; "max" is not a number.
    with contextlib.suppress(OSError, ValueError):
        limit, used = (
            int((CONTAINER / name).read_text()) for name in ("memory.max", "memory.current")
        )
        amounts.append(max(limit - used, 0))
    return min(amounts) if amounts else None


UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
LEAST = 2**20
AMOUNT = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT]?)(i?B)?", re.IGNORECASE)


def memory_limit(amount: int | str | None) -> int | None:
    """Return a limit on memory in bytes: as given, or half of what is free; None if unknown."""
    if amount is not None:
        return memory_given(amount)
    free = available_memory()
    return None if free is None else free // 2


def memory_given(amount: int | str | None) -> int | None:
    """Return an amount of memory in bytes; None where none is given.

    Raises
    ------
    SpecError
        If it is not an amount of memory of a megabyte or more.

    Examples
    --------
    >>> memory_given("4GB"), memory_given("500 MiB"), memory_given(2_000_000)
    (4294967296, 524288000, 2000000)
    """
    if amount is None:
        return None
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


def check_gram_fits(n_rows: int, itemsize: int, rows: str = "rows") -> None:
    """Warn about the size of a Gram matrix of so many rows, if it is a gigabyte or more.

    ``rows`` says which rows they are.

    Raises
    ------
    DataError
        If one matrix alone takes more memory than is available.
    """
    if n_rows * n_rows * itemsize < WORTH_SAYING:
        return
    refuse_large_gram(n_rows, itemsize, available_memory(), "are free", rows)
    warnings.warn(
        f"{_needed(n_rows, itemsize, rows)}, some methods need several, and learning takes minutes"
        f" or hours. {REMEDY}",
        MKLKitWarning,
        stacklevel=2,
    )


def refuse_large_gram(
    n_rows: int, itemsize: int, limit: int | None, there: str, rows: str = "rows"
) -> None:
    """Raise a DataError if a Gram matrix takes more than a limit; ``there`` says what that is."""
    if limit is not None and n_rows * n_rows * itemsize > limit:
        raise DataError(
            f"{_needed(n_rows, itemsize, rows)}, and {limit / 2**30:.1f} GiB {there}. {REMEDY}"
        )


def _needed(n_rows: int, itemsize: int, rows: str) -> str:
    size = n_rows * n_rows * itemsize
    return f"A Gram matrix of {n_rows} {rows} takes {size / 2**30:.1f} GiB of memory"
