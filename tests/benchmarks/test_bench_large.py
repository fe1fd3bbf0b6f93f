"""Many rows beside scikit-learn at a small size, and the command that makes the tables of a page.

``pytest tests/benchmarks/test_bench_large.py -m benchmark -n 0 -s`` prints each measurement;
``MKLKIT_BENCH_SCALE=1`` sets the sizes of docs/guides/performance.md, which
``python tests/benchmarks/table.py docs/guides/performance.md`` measures and writes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import bench_data
import pytest
from helpers.documents import ROOT

os.environ.setdefault("MKLKIT_BENCH_SCALE", "0.01")
import table

PAGE = "docs/guides/performance.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder with the rows that all tables need."""
    folder = str(tmp_path_factory.mktemp("rows"))
    table.run("make_rows", folder=folder, n_rows=20_000, seed=1)
    return folder


@pytest.mark.benchmark
@pytest.mark.parametrize("name", list(table.TABLES))
def test_each_table_is_measured(name: str, folder: str) -> None:
    lines = list(table.TABLES[name](folder))
    print(table.with_table(f"<!-- {name} -->\n<!-- end -->", name, lines))
    assert len({len(line) for line in lines}) == 1
    assert not any("nan" in cell for line in lines for cell in line)


@pytest.mark.benchmark
def test_accuracy_is_that_of_scikit_learn(folder: str) -> None:
    size = table.rows(400_000)
    ours, reference = (table.run(name, folder=folder, n_rows=size) for name in ("ours", "nystroem"))
    assert ours["accuracy"] > reference["accuracy"] - 0.01


def test_the_page_has_a_place_for_each_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for name in table.TABLES:
        changed = table.with_table(page, name, [["what", "time"], ["fit", "1 s"]])
        start = changed.index(f"<!-- {name} -->")
        place = changed[start : changed.index("<!-- end -->", start)]
        assert place.split("\n\n")[1] == "| what | time |\n| --- | --: |\n| fit | 1 s |"
        assert changed.count("<!-- end -->") == len(table.TABLES)


def test_each_row_of_a_table_names_its_data() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for name in table.TABLES:
        start = page.index(f"<!-- {name} -->")
        lines = page[start : page.index("<!-- end -->", start)].splitlines()
        cells = [line.strip("|").split("|")[-1].strip() for line in lines if line[:1] == "|"]
        assert cells[0] == "data, seed"
        for cell in cells[2:]:
            generated = re.match(r"`(\w+)`, \d$", cell)
            if generated is None:
                assert name == "machine"  # speeds of the machine need no samples
                assert cell in ("–", "ones")
            else:
                assert callable(getattr(bench_data, generated[1]))
                assert f"| `{generated[1]}` | " in page


def test_the_exponents_of_power_laws_are_theirs() -> None:
    sizes = [10, 100, 1000]
    turns = [[{"seconds": 3 * size**power} for size in sizes] for power in (2.0, 1.0, 1.5)]
    assert table.exponents(sizes, turns, "seconds") == "1.50 (1.00 to 2.00)"
    assert table.exponents(sizes, turns, "added") == "–"
    assert table.of_turns([turn[0] for turn in turns], "seconds", " s", 3) == "94.9 s (30 to 300)"


def test_the_command_stands_on_the_page() -> None:
    assert f"python {Path(table.__file__).relative_to(ROOT)} {PAGE}" in (ROOT / PAGE).read_text()
