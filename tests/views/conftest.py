"""Blocks small enough for the rows of a test."""

from __future__ import annotations

import pytest

from mklkit.views import engines, feature_blocks


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 7 and parts of 21 rows, and no features that are kept."""
    monkeypatch.setattr(engines, "BLOCK_ROWS", 7)
    monkeypatch.setattr(engines, "PART_ROWS", 21)
    monkeypatch.setattr(feature_blocks, "SMALL_BYTES", 0)
