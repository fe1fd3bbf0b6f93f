"""The page of a comparison: what is in it, and that nothing in it is run or cut."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.reported import EVIL, REASON, comparison
from reading_pages import Read

from mklkit.comparison.comparison import Comparison
from mklkit.comparison.report import html_report
from mklkit.errors import DataError
from mklkit.tasks.class_sections import confusion_table

COMMAND = f"mklkit compare '{EVIL}'"


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return comparison()


@pytest.fixture(scope="module")
def single(compared: Comparison) -> str:
    """Return its page."""
    return html_report(compared, COMMAND)


@pytest.fixture(scope="module")
def several() -> str:
    """Return the page of a comparison on several data sets."""
    return html_report(comparison(n_datasets=5, n_methods=5), COMMAND)


@pytest.mark.parametrize("n_datasets", [1, 5])
@pytest.mark.process
def test_names_from_the_data_are_text(n_datasets: int, single: str, several: str) -> None:
    read = Read(several if n_datasets > 1 else single)
    assert not {tag for tag, _ in read.tags} & {"img", "link", "iframe", "object"}
    assert [tag for tag, _ in read.tags].count("script") == 1
    assert not [key for _, marks in read.tags for key in marks if key.startswith("on")]
    assert not [marks for _, marks in read.tags if "style" in marks or "src" in marks]
    # The name arrives as it is, and what can't be shown is replaced.
    assert EVIL in read.text("span")
    assert "ill \ufffd" in read.text("th")
    assert COMMAND in read.text("code")


def test_the_page_needs_nothing_else(several: str) -> None:
    assert not re.search(r"https?:|[\"'(]//|@import|url\((?!#)", several)
    (policy,) = [marks["content"] for _, marks in Read(several).tags if "http-equiv" in marks]
    assert str(policy).startswith("default-src 'none'")
    assert "unsafe" not in str(policy)


def test_headings_and_tables_are_in_order(several: str) -> None:
    read = Read(several)
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in read.tags]
    assert tags.count("table") == tags.count("caption") == tags.count("thead")
    assert all("scope" in marks for tag, marks in read.tags if tag == "th")
    assert ("html", {"lang": "en"}) in read.tags
    ids = [marks["id"] for _, marks in read.tags if "id" in marks]
    links = [str(marks["href"])[1:] for tag, marks in read.tags if tag == "a"]
    assert len(set(ids)) == len(ids)
    assert set(links) <= set(ids)


def test_what_it_says(compared: Comparison, single: str) -> None:
    read = Read(single)
    for method in compared.methods:
        assert method.name in read.text("th") + read.text("span")
    assert compared.verdict in read.text("p")
    assert f"{100 * compared.questions['level'][0]:.1f} %" in read.text("small")
    assert REASON in read.text()
    assert COMMAND in read.text("code")
    assert f"{len(compared.methods)} methods were compared on the same splits" in read.text("p")
    assert "corrected resampled t-test [nadeau2003]" in read.text("p")
    assert "@article{nadeau2003," in read.text("code")
    best = compared.table().iloc[0]
    assert f"{100 * best['accuracy']:.1f}" in read.text("strong")
    # Two rows of four splits with sums of probabilities 0.1 and 2.9, hits 1 and 3: by hand,
    # (2·|0.05 − 0.5| + 3·|2.9/3 − 1|) / 5.
    assert f"{100 * (2 * 0.45 + 0.1) / 5:.1f}" in read.text("td")
    assert "0.75 ± 0.00" in read.text("td")


def test_pictures_are_text_in_the_colors_of_the_page(several: str) -> None:
    read = Read(several)
    pictures = [marks for tag, marks in read.tags if tag == "svg" and "role" in marks]
    assert len({marks["aria-label"] for marks in pictures}) == len(pictures) == 1 + 2 * 5
    drawn = read.text("text")
    # Four methods that did not fail on five data sets: 2.569 √(4·5 / (6·5)).
    assert {"method 3", "accuracy on test samples, %", "critical difference 2.10"} <= set(
        drawn.splitlines()
    )
    colors = {marks[key] for _, marks in read.tags for key in ("fill", "stroke") if key in marks}
    assert "currentColor" in colors
    assert not [color for color in colors if color and color.startswith("#")]


def test_without_matplotlib_there_are_tables(
    compared: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    read = Read(html_report(compared))
    assert "Charts need matplotlib" in read.text("p")
    assert [tag for tag, _ in read.tags].count("table") > 5


def test_interrupted_is_said(compared: Comparison) -> None:
    broken = Comparison(
        compared.cells[:20], compared.data, compared.methods, compared.plan, [], complete=False
    )
    page = html_report(broken)
    assert "Interrupted after 20 of 36 runs" in page
    # Two splits were finished by all nine methods.
    counted = {cell.fold for cell in broken.compared_cells(compared.data[0].name)}
    assert counted == {0, 1}


def test_reports_agree(compared: Comparison, tmp_path: Path) -> None:
    for ending in ("html", "csv", "json", "tex"):
        compared.report(tmp_path / f"a.{ending}")
    with pytest.raises(DataError, match=r"\.html"):
        compared.report(tmp_path / "a.pdf")
    means = pd.read_csv(tmp_path / "a.csv").groupby("method")["accuracy"].mean()
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["verdict"] == compared.verdict
    (question,) = content["questions"]
    assert question["difference"] == compared.questions["difference"][0]
    assert len(content["cells"]) == len(compared.results)
    (table,) = content["tables"].values()
    page, latex = Read((tmp_path / "a.html").read_text()).text(), (tmp_path / "a.tex").read_text()
    for row in table:
        if row["accuracy"] is not None:
            assert row["accuracy"] == pytest.approx(means[row["method"]])
            assert f"{100 * row['accuracy']:.1f}" in page
            assert f"{100 * row['accuracy']:.1f}" in latex


def test_many_classes_are_listed_by_what_is_confused() -> None:
    labels = [f"c{place}" for place in range(30)]
    counts = 9 * np.eye(30, dtype=int)
    counts[4, 7], counts[2, 1] = 3, 1
    cells = confusion_table(counts, labels).cells()
    assert cells == [["c4", "c7", "3", "25.0 %"], ["c2", "c1", "1", "10.0 %"]]
