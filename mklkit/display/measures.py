"""The names and formats of scores on parts of the rows, and of differences."""

from __future__ import annotations

PARTS = {"complete_score": ("All sources", "all"), "lacking_score": ("One lacking", "lack")}
"""Heads of the scores on rows with and without all sources, on a page and a terminal."""


def scale_of(unit: str) -> tuple[int, int]:
    """Return a factor and the decimals of scores whose differences have a unit."""
    return (100, 1) if unit == "points" else (1, 3)
