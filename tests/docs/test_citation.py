"""CITATION.cff is YAML of the right kind, and names the five papers as their own pages do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.documents import ROOT

from mklkit.registry.citations import citations_of
from mklkit.registry.entries import HOOKS
from mklkit.registry.registry import get_registry

TESTS = (
    *("corrected t-test", "Holm", "Friedman", "Bayesian signed-rank", "rule of three"),
    *("McNemar", "Tango", "bootstrap", "permutation test"),
)
"""Tests of a comparison, whose sources its Methods section cites."""


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/**/papers/*-20??.md")), ids=lambda page: page.stem
)
def test_every_paper_is_a_reference(page: Path) -> None:
    """Titles, authors, journals and years are those at the head of the paper's page."""
    title, head, *_ = page.read_text(encoding="utf-8").split("\n\n")
    cited = title.removeprefix("# ").partition(":")[0]
    (reference,) = [
        reference
        for reference in read_citation()["references"]
        if reference["notes"].startswith(f"{cited}:")
    ]
    head = " ".join(head.split())
    for author in reference["authors"]:
        initials = " ".join(f"{name[0]}." for name in author["given-names"].split())
        assert f"{initials} {author['family-names']}" in head
    assert reference["title"] in head
    assert f"{reference['journal']} {reference['volume']} ({reference['year']})" in head


def bibtex_files() -> list[Path]:
    return [*ROOT.glob("mklkit/sources.bib"), *ROOT.glob("plugins/*/*/sources.bib")]


@pytest.mark.parametrize("path", bibtex_files(), ids=lambda path: path.parent.name)
def test_bibtex_names_what_its_package_registers(path: Path) -> None:
    pytest.importorskip(path.parent.name)
    registry = get_registry()
    names = {
        entry.name
        for kind in HOOKS
        for entry in registry.entries(kind)
        if entry.kind == "preset" or entry.target.__module__.startswith(f"{path.parent.name}.")
    }
    if path.parent.name == "mklkit":
        names |= {"mklkit", "scikit-learn", *TESTS}
    for name in names:
        for key, entry in citations_of(name).items():
            assert entry.startswith("@")
            assert entry.count("{") == entry.count("}")
            assert f"{{{key}," in entry
    text = path.read_text(encoding="utf-8")
    keywords = [
        name for line in re.findall(r"keywords = \{(.*)\}", text) for name in line.split(", ")
    ]
    assert set(keywords) <= names
    assert len(re.findall("^@", text, re.MULTILINE)) == text.count("keywords = ")


def test_bibtex_and_the_citation_file_agree() -> None:
    citation = read_citation()
    text = (ROOT / "mklkit" / "sources.bib").read_text(encoding="utf-8")
    unbraced = re.sub(r"[{}]", "", text)  # braces around words keep their capitals
    for source in (citation, *citation["references"]):
        assert f"title = {source['title']}," in unbraced
    for source in citation["references"]:
        authors = (f"{name['family-names']}, {name['given-names']}" for name in source["authors"])
        assert f"author = {{{' and '.join(authors)}}}" in text
        assert "doi" not in source or f"doi = {{{source['doi']}}}" in text


def read_citation() -> dict[str, Any]:
    citation: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return citation
