"""The pages of the papers on mklkit's site: made, run and filled by what this package has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers.documents import ROOT, commands, listings
from helpers.following import run_in_turn
from mklkit_papers.entries import PAPERS, entries
from mklkit_papers.files import marked
from mklkit_papers.sources import KNOWN

from mklkit.datasets import load_table

PAGES = ROOT / "docs" / "papers"
NAMES = [entry.name for entry in entries()]


@pytest.mark.parametrize("page", [PAGES / f"{paper}.md" for paper in PAPERS], ids=list(PAPERS))
def test_the_page_of_a_paper_has_a_place_for_each_entry(page):
    names = [name for name in NAMES if name.startswith(f"{page.stem}-")]
    short = re.findall(r"^<!-- short (\S+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(short) == sorted(names)
    assert {name: marked(PAGES / "tables")[PAGES / "tables" / f"{name}.md"] for name in names} == {
        name: [name] for name in names
    }


@pytest.mark.parametrize("page", [PAGES / f"{paper}.md" for paper in PAPERS], ids=list(PAPERS))
def test_short_tables_have_the_numbers_of_the_long_ones(page, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from paper_tables import written

    text = page.read_text(encoding="utf-8")
    assert text == written(text)
    for name, shown in re.findall(r"<!-- short (\S+) -->\n\n(\|.*?)\n\n", text, re.DOTALL):
        long = (PAGES / "tables" / f"{name}.md").read_text(encoding="utf-8")
        rows = [line.split("|") for line in long.splitlines() if line.startswith("|")][2:]
        ours = [cells[3].split("±")[0].strip() for cells in rows]
        cells = [cell for line in shown.splitlines()[2:] for cell in line.split("|")[2:-1]]
        numbers = [number for cell in cells for number in re.findall(r"^ (-?[\d.]+)", cell)]
        assert sorted(filter(None, ours)) == sorted(numbers)
        assert shown.count("✗") == long.count(" | no |")


def test_the_page_has_the_known_sets():
    page = (ROOT / "docs" / "papers" / "reproducing.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)`.*?\| (\d+) \| (\d+) \| (\d+) \|(?: (\d+))? \|$", page, re.MULTILINE
    )
    shown = {name: tuple(map(int, filter(None, numbers))) for name, *numbers in rows}
    assert shown == {
        name: tuple(filter(None, (known.rows, known.features, known.classes, known.openml)))
        for name, known in KNOWN.items()
    }


@pytest.mark.process
def test_reproducing_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On rows of iris under the name of sonar; other sets are left out."""
    pytest.importorskip("mklkit_optimize")
    monkeypatch.delenv("MKLKIT_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "pages"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pages" / "page.md").write_text(*listings("docs/papers/reproducing.md", "text"))
    table = load_table("iris")
    frame = table.features.assign(target=table.target)[50:]
    frame.to_csv(tmp_path / "data" / "sonar.csv", index=False)
    # One repetition instead of ten.
    shown = commands("docs/papers/reproducing.md")
    page = [text.replace("--quick", "--quick --repeats 1") for text in shown]
    lines = [text.partition(" > ") for text in page]
    printed = run_in_turn([line for line, *_ in lines], tmp_path)
    assert "omitted: Ionosphere: there is no ionosphere.csv" in printed[1]
    assert "note: Sonar: CSV file sonar.csv has 100 rows" in printed[1]
    assert "omitted" not in printed[2]
    assert "price-2022-table8" not in printed[2] + printed[3]
    assert printed[5] in printed[4]
    (written,) = [json.loads(text) for text, line in zip(printed, lines, strict=True) if line[2]]
    assert written["complete"]
    assert "| Sonar | K1 |" in (tmp_path / "pages" / "page.md").read_text(encoding="utf-8")
