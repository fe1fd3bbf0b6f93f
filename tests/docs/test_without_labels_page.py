"""The page on rows without labels: its listings run, and print what it says."""

from __future__ import annotations

import re

import pytest
from helpers.documents import listings


def test_the_listings_run_in_turn(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for listing in listings("docs/guides/without-labels.md", "python"):
        exec(listing, names)
    printed = capsys.readouterr().out
    indices = [float(text) for text in re.findall(r"index ([\d.]+)", printed)]
    assert len(indices) == 2
    assert min(indices) > 0.7
    strange, ordinary = (int(text) for text in re.findall(r"(\d+)%", printed))
    assert strange > 90
    assert ordinary <= 15
