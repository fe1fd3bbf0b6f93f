"""CITATION.cff is YAML of the right kind, and names the five papers as their own pages do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from documents import ROOT


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/**/papers/00?.md")), ids=lambda page: page.stem
)
def test_every_paper_is_a_reference(page: Path) -> None:
    """Titles, authors, journals and years are those at the head of the paper's page."""
    (reference,) = [
        one
        for one in read_citation()["references"]
        if one["notes"].startswith(f"Paper {page.stem}:")
    ]
    _, head, *_ = page.read_text(encoding="utf-8").split("\n\n")
    head = " ".join(head.split())
    for author in reference["authors"]:
        initials = " ".join(f"{name[0]}." for name in author["given-names"].split())
        assert f"{initials} {author['family-names']}" in head
    assert reference["title"] in head
    assert f"{reference['journal']} {reference['volume']} ({reference['year']})" in head


def read_citation() -> dict[str, Any]:
    citation: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return citation
