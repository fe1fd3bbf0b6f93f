"""The names of reports; importing this costs nothing, so that they are checked at once."""

from __future__ import annotations

from pathlib import Path

from mklkit.errors import DataError

__all__ = ["ENDINGS", "check_report"]

ENDINGS = (".html", ".csv", ".json", ".tex")
"""The files that a comparison can be written to."""


def check_report(path: Path) -> str:
    """Return the ending of a report's name, which decides its format, in small letters.

    Raises
    ------
    DataError
        If it is none of ``ENDINGS``.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"A report's name must end in {', '.join(ENDINGS)}; got {path}.")
    return ending
