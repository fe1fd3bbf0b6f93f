"""The entries of the papers, as they are: named once, quick to ask, with a place on their page."""

from __future__ import annotations

import re

import pytest
from mklkit_papers.entries import PAPERS, entries, find_entries, paper_of, with_sets
from mklkit_papers.files import NAME

from mklkit.errors import UnknownNameError

NAMES = [entry.name for entry in entries()]


def test_names_are_unique_and_of_a_paper():
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(NAME, name) for name in NAMES)
    assert {paper_of(name) for name in NAMES} == set(PAPERS)


@pytest.mark.parametrize("entry", entries(), ids=NAMES)
def test_labels_are_unique(entry):
    labels = entry.labels()
    assert len({label.casefold() for label in labels}) == len(labels)
    # What is named as missing is not run.
    assert not set(entry.missing) & set(labels)


@pytest.mark.parametrize("entry", entries(), ids=NAMES)
def test_a_quick_run_takes_a_minute_at_most(entry):
    quick, full = entry.minutes
    assert quick <= min(1, full)


def test_names_globs_papers_and_all():
    assert find_entries(["all"]) == entries()
    assert find_entries(
        ["price-2022-table6", "price-2022-table[67]", "price-2022-table6"]
    ) == find_entries(["price-2022-table6", "price-2022-table7"])
    assert [entry.name for entry in find_entries(["price-2022"])] == [
        name for name in NAMES if name.startswith("price-2022-")
    ]
    with pytest.raises(UnknownNameError, match="Did you mean 'price-2022-table6'"):
        find_entries(["price-2022-tabel6"])


def test_without_labels_all_entries_are_kept():
    assert with_sets(entries(), []) == entries()
