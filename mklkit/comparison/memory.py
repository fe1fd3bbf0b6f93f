"""The most memory that a computation took, where the operating system tells it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Peak", "peak_memory"]

PROCESS = Path("/proc/self")
RESET_PEAK = "5"
"""What Linux takes as the request to forget the highest use of memory so far (man 5 proc)."""


class Peak:
    """The most memory that was taken beyond that at the start, in bytes; NaN where unknown."""

    def __init__(self) -> None:
        self.bytes = float("nan")


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the highest use of memory inside the block.

    Examples
    --------
    >>> with peak_memory() as peak:
    ...     _ = bytearray(10_000_000)
    >>> peak.bytes >= 0 or peak.bytes != peak.bytes
    True
    """
    peak = Peak()
    before = _start()
    try:
        yield peak
    finally:
        if before is not None:
            peak.bytes = float(max(_status("VmHWM") - before, 0))


def _start() -> int | None:
    """Return the memory in use, with the highest use set back to it; None where this can't be."""
    try:
        (PROCESS / "clear_refs").write_text(RESET_PEAK)
        return _status("VmRSS")
    except (OSError, ValueError, StopIteration):
        return None


def _status(key: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(f"{key}:")).split()[1])
