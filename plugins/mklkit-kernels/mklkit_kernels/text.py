"""Shared parts of kernels on text."""

from __future__ import annotations

import numpy as np

from mklkit import DataError
from mklkit.plugin import Array


def expect_text(name: str, rows: Array) -> None:
    """Raise an error for samples that are not code points."""
    if not ((rows == np.floor(rows)) & (rows <= 0x10FFFF)).all():
        raise DataError(
            f"{name} expects the code points of one column of text, got other numbers:"
            " choose a column of text for it."
        )
