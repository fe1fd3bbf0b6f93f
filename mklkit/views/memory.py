"""The memory that Gram matrices need, reported before they are computed."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

from mklkit.errors import DataError, MKLKitWarning

__all__ = ["REMEDY", "available_memory", "check_gram_fits"]

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


def check_gram_fits(n_rows: int, itemsize: int, n_landmarks: int | None = None) -> None:
    """Warn about the size of a Gram matrix of so many rows, if it is a gigabyte or more.

    With ``n_landmarks``, of its columns for these landmarks, which give as many features.

    Raises
    ------
    DataError
        If one matrix alone takes more memory than is available.
    """
    size = n_rows * (n_rows if n_landmarks is None else n_landmarks) * itemsize
    if size < WORTH_SAYING:
        return
    free = available_memory()
    columns = "" if n_landmarks is None else f" by {n_landmarks} landmarks, or features of them,"
    needed = f"A Gram matrix of {n_rows} rows{columns} takes {size / 2**30:.1f} GiB of memory"
    if free is not None and size > free:
        raise DataError(f"{needed}, and {free / 2**30:.1f} GiB are free. {REMEDY}")
    warnings.warn(
        f"{needed}, some methods need several, and learning takes minutes or hours. {REMEDY}",
        MKLKitWarning,
        stacklevel=2,
    )
