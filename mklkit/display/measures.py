"""The names and formats of scores on parts of the rows, and of differences."""

from __future__ import annotations

PARTS = {"complete_score": ("All sources", "all"), "incomplete_score": ("One lacking", "lack")}
"""Heads of the scores on rows with and without all sources, on a page and a terminal."""
